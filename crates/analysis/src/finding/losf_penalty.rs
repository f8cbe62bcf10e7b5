//! `losf-penalty`: a tool copies lots of small files at less than half of its rate with large ones.

use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Bytes, Finding, Severity, Unit};

use super::{Rule, about};
use crate::number::{in_unit, quantity, significant};

pub(super) const RULE: Rule = Rule {
    kind: "losf-penalty",
    doc: "A tool copied files of 1 MiB or less at less than half of its rate with files of 64 MiB or more, between the same \
          directories.",
    find: |records| records.iter().filter_map(|small| of_case(small, records)).collect(),
};

const BENCH: &str = "transfer.move";

/// Mean sizes of small and of large files.
const SMALL: u64 = 1 << 20;
const LARGE: u64 = 64 << 20;

const PENALTY: f64 = 0.5;

/// Parameters that say which files there are; those besides must be alike.
pub(super) const OF_SET: [&str; 6] = ["set", "files", "size", "depth", "breadth", "names"];

/// The mean size of the files, and the rate.
fn copied(case: &CaseRecord) -> Option<(u64, &MetricRecord, f64)> {
    if case.bench != BENCH || case.origin.is_concurrent() {
        return None;
    }
    let bytes = case.layout.bytes("set_bytes").ok()?.map(Bytes::get)?;
    let files = case.layout.count("set_files").ok().filter(|files| *files > 0)?;
    let metric = case.metrics.get("goodput")?;
    Some((bytes / files, metric, metric.median))
}

fn has_same_tool(one: &CaseRecord, other: &CaseRecord) -> bool {
    let alike = |name: &str| OF_SET.contains(&name) || one.params.get(name) == other.params.get(name);
    one.nodes == other.nodes && one.params.iter().all(|(name, _)| alike(name))
}

fn of_case(small: &CaseRecord, records: &[CaseRecord]) -> Option<Finding> {
    let (_, metric, rate) = copied(small).filter(|(size, ..)| *size <= SMALL)?;
    let others = records.iter().filter(|other| has_same_tool(small, other));
    let large = others.filter_map(copied).filter(|(size, ..)| *size >= LARGE).map(|(.., rate)| rate);
    let large = large.max_by(f64::total_cmp)?;
    let share = rate / large;
    let tool = small.params.text("tool").ok()?;
    let text = format!(
        "tool={tool} copies small files at {}, {} % of its {} with large ones: the work for each file bounds the rate; pack small \
         files into archives, or copy with tool=native, which sends many at once",
        in_unit(rate, metric.unit),
        significant((100.0 * share).round()),
        in_unit(large, metric.unit),
    );
    let finding = Finding::new(RULE.kind, Severity::Warning, small.subject.clone(), text);
    let (value, evidence) = (quantity(100.0 * share, Unit::Percent), vec!["goodput".to_owned()]);
    (share < PENALTY).then(|| about(small, Finding { value, evidence, ..finding }))
}

#[cfg(test)]
mod tests {
    use seatrial_model::{LimitRecord, Value};

    use super::*;
    use crate::judge::fixture::{case, metric};

    fn moved(tool: &str, files: u64, size: u64, rate: f64) -> CaseRecord {
        let mut case = case("n1", "n1->n2");
        case.bench = BENCH.to_owned();
        case.params.set("tool", tool);
        case.params.set("files", files);
        case.layout.set("set_files", files);
        case.layout.set("set_bytes", Value::from(Bytes(files * size)));
        let mut goodput = metric(rate, (rate, rate), LimitRecord::unknown("none"));
        goodput.unit = Unit::MegabytesPerSecond;
        case.metrics.insert("goodput".to_owned(), goodput);
        case
    }

    #[test]
    fn a_tool_that_is_slow_with_small_files_is_found_and_another_tool_is_not_compared() {
        let small = |rate: f64| moved("scp", 1024, 1 << 20, rate);
        let found = (RULE.find)(&[small(90.0), moved("scp", 4, 256 << 20, 300.0)]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        let begin = "tool=scp copies small files at 90 MB/s, 30 % of its 300 MB/s with large ones";
        assert!(finding.text.starts_with(begin), "{}", finding.text);
        for other in [
            vec![small(160.0), moved("scp", 4, 256 << 20, 300.0)],
            vec![small(90.0), moved("rsync", 4, 256 << 20, 300.0)],
            vec![small(90.0), moved("scp", 64, 16 << 20, 300.0)],
            vec![small(90.0)],
        ] {
            assert_eq!((RULE.find)(&other), [], "{other:?}");
        }
    }
}
