//! What all benchmarks make of samples: rows by size, rows by rank with the slowest of them, and sizes that are missing.

use std::collections::BTreeMap;

use seatrial_bench::{Trials, median};
use seatrial_model::{Bytes, Case, Finding, Measures, Params, Row, Severity, Subject, Unit, Value, Values};
use seatrial_mpi_job::ranks::place_of;

pub const NS_PER_US: f64 = 1e3;

pub fn row_of_size(size: u64, unit: Unit, trials: Trials) -> Row {
    Row { at: Params::from([("size", Bytes(size).into())]), values: Values { unit, trials } }
}

/// How the slowest rank is told.
#[derive(Clone, Copy, Debug)]
pub struct RankMetric {
    pub metric: &'static str,
    pub series: &'static str,
    pub unit: Unit,
    pub lower_is_better: bool,
}

impl RankMetric {
    pub const LATENCY: Self = Self {
        metric: "slowest_latency",
        series: "latency_by_rank",
        unit: Unit::Microsecond,
        lower_is_better: true,
    };

    /// More is better.
    fn speed(self, trials: &Trials) -> f64 {
        let median = median(trials);
        if self.lower_is_better { 1.0 / median } else { median }
    }

    /// The slowest rank and its share of the speed of the median rank; `None` without ranks.
    fn slowest(self, ranks: &BTreeMap<u64, Trials>) -> Option<(u64, f64)> {
        let speeds: Vec<(u64, f64)> =
            ranks.iter().map(|(rank, trials)| (*rank, self.speed(trials))).collect();
        let (rank, least) = speeds.iter().min_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let typical = median(&[speeds.iter().map(|(_, speed)| *speed).collect()]);
        Some((*rank, least / typical))
    }
}

/// Adds the values of each rank and of the slowest; the slowest, with its share of the speed of the median rank.
pub fn add_ranks(
    measures: &mut Measures,
    case: &Case,
    ranks: &BTreeMap<u64, Trials>,
    of: RankMetric,
) -> Option<(u64, f64)> {
    let (rank, share) = of.slowest(ranks)?;
    measures.metric_of_all(of.metric, of.unit, ranks.get(&rank).cloned().unwrap_or_default());
    measures.evidence.insert("slowest_rank".to_owned(), rank.into());
    if let Some(place) = place_of(case, rank).filter(|_| case.nodes.len() > 1) {
        measures.evidence.insert("slowest_node".to_owned(), place.node.as_str().into());
    }
    let rows = ranks.iter().map(|(rank, trials)| Row {
        at: Params::from([("rank", Value::from(*rank))]),
        values: Values { unit: of.unit, trials: trials.clone() },
    });
    measures.series.insert(of.series.to_owned(), rows.collect());
    Some((rank, share))
}

/// The finding that sizes had no turn.
pub fn not_reached(missing: usize) -> Option<Finding> {
    (missing > 0).then(|| {
        let text = format!("{missing} sizes were not measured within the time: raise -p time=");
        Finding::new("not-reached", Severity::Warning, Subject::node(), text)
    })
}
