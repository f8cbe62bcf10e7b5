//! The bandwidths from GPU to GPU that `gpu.peer_copy` measures, for the links of a map.

use seatrial_model::Value;
use seatrial_model::record::{CaseRecord, SeriesRow};

use super::super::shade::Shade;
use super::{MapResult, MapRun};
use crate::words::{Badge, quantity};

const BENCH: &str = "gpu.peer_copy";
const SERIES: &str = "pairs";

/// Copies of one pair at a time; copies of several at once share links.
const OPERATIONS: [&str; 2] = ["write", "read"];

/// The bandwidth of each operation from GPU `from` to GPU `to`: of several nodes the least.
pub fn between(run: &MapRun<'_>, from: u32, to: u32) -> Vec<MapResult> {
    let is_of = |case: &&CaseRecord| {
        case.bench == BENCH && case.nodes.iter().any(|node| run.nodes.contains(node.as_str()))
    };
    let cases: Vec<&CaseRecord> = run.document.results.iter().filter(is_of).collect();
    let slowest = |operation: &&str| {
        let rows = cases.iter().filter_map(|case| Some((*case, row(case, operation, from, to)?)));
        let (case, row) =
            rows.min_by(|(_, one), (_, other)| one.summary.median.total_cmp(&other.summary.median))?;
        Some(MapResult {
            test: format!("{BENCH} {operation}"),
            value: quantity(row.summary.median, case.series[SERIES].unit),
            limit: None,
            percent: None,
            share: None,
            shade: Shade::Measured,
            usual: Shade::Measured,
            badge: Badge::NOT_JUDGED,
            case: case.case.to_string(),
            node: (run.nodes.len() > 1).then(|| case.nodes.join("+")),
            over_nodes: None,
        })
    };
    OPERATIONS.iter().filter_map(slowest).collect()
}

fn row<'a>(case: &'a CaseRecord, operation: &str, from: u32, to: u32) -> Option<&'a SeriesRow> {
    let is_it = |row: &&SeriesRow| {
        let is = |name: &str, gpu: u32| row.at.get(name) == Some(&Value::Count(gpu.into()));
        row.at.text("operation") == Ok(operation) && is("from", from) && is("to", to)
    };
    case.series.get(SERIES)?.rows.iter().find(is_it)
}
