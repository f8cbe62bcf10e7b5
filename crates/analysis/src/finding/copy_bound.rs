//! `source-disk-bound`, `target-disk-bound`, `tool-bound`: what of its way holds a copy back, where the run measured the way too.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Quantity, Severity, Unit};

use super::losf_penalty::OF_SET;
use super::{Rule, about};
use crate::number::{in_unit, quantity, significant};

pub(super) const SOURCE: Rule = Rule {
    kind: "source-disk-bound",
    doc: "A tool copied about as fast as `transfer.dataset` reads the same set in the source's directory, and nothing else that \
          the run measured of the way is slower.",
    find: |records| bound(records, Step::Read),
};

pub(super) const TARGET: Rule = Rule {
    kind: "target-disk-bound",
    doc: "A tool copied about as fast as `transfer.dataset` writes the same set in the target's directory, and nothing else that \
          the run measured of the way is slower.",
    find: |records| bound(records, Step::Write),
};

pub(super) const TOOL: Rule = Rule {
    kind: "tool-bound",
    doc: "A tool copied at less than half of the slowest of the three: reading the set at the source and writing it at the target \
          (`transfer.dataset`), and the network between them (`net.tcp_stream`).",
    find: |records| copies(records).filter_map(|copy| of_tool(copy, records)).collect(),
};

const COPY: &str = "transfer.move";
const DATASET: &str = "transfer.dataset";
const STREAM: &str = "net.tcp_stream";

/// A copy at this share of a step's rate or more is bounded by it, and at less than the other by none of them.
const BOUND: f64 = 0.8;
const OF_ITSELF: f64 = 0.5;

/// A part of the way of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Read,
    Network,
    Write,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Read => "reading at the source",
            Self::Network => "network",
            Self::Write => "writing at the target",
        }
    }
}

/// Copies, each alone on its way.
fn copies(records: &[CaseRecord]) -> impl Iterator<Item = &CaseRecord> {
    records.iter().filter(|case| case.bench == COPY && !case.origin.is_concurrent())
}

/// The median of a rate, in MB/s.
fn rate(case: &CaseRecord, metric: &str) -> Option<f64> {
    let metric = case.metrics.get(metric)?;
    Some(Quantity::new(metric.median, metric.unit).ok()?.to(Unit::MegabytesPerSecond).ok()?.value())
}

/// What the run measured of the way of `copy`, the slowest first. Data that may stay in a page cache is not read from or written
/// to a disk.
fn way(copy: &CaseRecord, records: &[CaseRecord]) -> Vec<(Step, f64)> {
    let word = |name: &str| copy.params.text(name).unwrap_or_default();
    let dataset = |end: usize, directory: &str, metric: &str| {
        let node = copy.nodes.get(end).or(copy.nodes.first())?;
        let alike = |case: &&CaseRecord| {
            let is_there =
                case.nodes == [node.clone()] && case.params.text("directory") == Ok(word(directory));
            let is_set = OF_SET.iter().all(|name| case.params.get(name) == copy.params.get(name));
            case.bench == DATASET && is_there && is_set && !case.origin.is_concurrent()
        };
        records.iter().filter(alike).filter_map(|case| rate(case, metric)).max_by(f64::total_cmp)
    };
    let read = if word("cache") == "cold" { dataset(0, "source", "read") } else { None };
    let written = dataset(1, "target", if word("sync") == "end" { "written" } else { "unsynced" });
    let is_stream =
        |case: &&CaseRecord| case.bench == STREAM && case.nodes == copy.nodes && !case.origin.is_concurrent();
    let streams = records.iter().filter(is_stream);
    let network = streams.filter_map(|case| rate(case, "throughput")).max_by(f64::total_cmp);
    let network = network.filter(|_| copy.nodes.len() > 1);
    let steps = [(Step::Read, read), (Step::Network, network), (Step::Write, written)];
    let mut way: Vec<(Step, f64)> =
        steps.into_iter().filter_map(|(step, rate)| Some((step, rate?))).collect();
    way.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    way
}

fn told(way: &[(Step, f64)]) -> String {
    let step =
        |(step, rate): &(Step, f64)| format!("{} {}", step.name(), in_unit(*rate, Unit::MegabytesPerSecond));
    way.iter().map(step).collect::<Vec<_>>().join(", ")
}

fn bound(records: &[CaseRecord], wanted: Step) -> Vec<Finding> {
    let of_copy = |copy: &CaseRecord| {
        let (goodput, way) = (rate(copy, "goodput")?, way(copy, records));
        let (step, slowest) = *way.first().filter(|(step, _)| *step == wanted)?;
        let share = goodput / slowest;
        let (kind, end, command) = match step {
            Step::Read => (SOURCE.kind, "source", "-p cache=warm"),
            Step::Write => (TARGET.kind, "target", "-p target=/dev/shm"),
            Step::Network => return None,
        };
        let text = format!(
            "tool={} copies at {}, {} % of the slowest part of its way: {}. The disk or file system of the {end} bounds the rate; \
             `{command}` measures without it",
            copy.params.text("tool").unwrap_or_default(),
            in_unit(goodput, Unit::MegabytesPerSecond),
            significant((100.0 * share).round()),
            told(&way),
        );
        (share >= BOUND).then(|| finding(copy, kind, share, text))
    };
    copies(records).filter_map(of_copy).collect()
}

fn of_tool(copy: &CaseRecord, records: &[CaseRecord]) -> Option<Finding> {
    let (goodput, way) = (rate(copy, "goodput")?, way(copy, records));
    let (_, slowest) = *way.first().filter(|_| way.len() == 3)?;
    let share = goodput / slowest;
    let tool = copy.params.text("tool").unwrap_or_default();
    let what_to_do = if tool == "native" {
        "look at what held it back: `seatrial report --details`"
    } else {
        "compare with `-p tool=native`"
    };
    let text = format!(
        "tool={tool} copies at {}, {} % of the slowest part of its way: {}. The tool itself bounds the rate; {what_to_do}",
        in_unit(goodput, Unit::MegabytesPerSecond),
        significant((100.0 * share).round()),
        told(&way),
    );
    (share < OF_ITSELF).then(|| finding(copy, TOOL.kind, share, text))
}

fn finding(copy: &CaseRecord, kind: &str, share: f64, text: String) -> Finding {
    let finding = Finding::new(kind, Severity::Warning, copy.subject.clone(), text);
    let (value, evidence) = (quantity(100.0 * share, Unit::Percent), vec!["goodput".to_owned()]);
    about(copy, Finding { value, evidence, ..finding })
}

#[cfg(test)]
mod tests {
    use seatrial_model::LimitRecord;

    use super::*;
    use crate::judge::fixture::{case, metric};

    fn measured(bench: &str, nodes: &[&str], metrics: &[(&str, f64, Unit)]) -> CaseRecord {
        let mut case = case(nodes[0], "n1->n2");
        case.bench = bench.to_owned();
        case.nodes = nodes.iter().map(|node| (*node).to_owned()).collect();
        for (name, value, unit) in metrics {
            let mut found = metric(*value, (*value, *value), LimitRecord::unknown("none"));
            found.unit = *unit;
            case.metrics.insert((*name).to_owned(), found);
        }
        case.params.set("set", "large");
        case
    }

    /// A copy at this rate over a way with reads of 800, a network of 1250 and writes of `written` MB/s.
    fn run(goodput: f64, written: f64, sync: &str) -> Vec<CaseRecord> {
        let rate = Unit::MegabytesPerSecond;
        let mut copy = measured(COPY, &["n1", "n2"], &[("goodput", goodput, rate)]);
        for (name, word) in
            [("source", "/data"), ("target", "/data"), ("cache", "cold"), ("sync", sync), ("tool", "scp")]
        {
            copy.params.set(name, word);
        }
        let mut sets = ["n1", "n2"].map(|node| {
            let metrics = [("read", 800.0, rate), ("written", written, rate), ("unsynced", 4000.0, rate)];
            measured(DATASET, &[node], &metrics)
        });
        sets.iter_mut().for_each(|set| set.params.set("directory", "/data"));
        let stream = measured(STREAM, &["n1", "n2"], &[("throughput", 10.0, Unit::GigabitsPerSecond)]);
        let [one, other] = sets;
        vec![copy, one, other, stream]
    }

    fn kinds(records: &[CaseRecord]) -> Vec<String> {
        let rules = [SOURCE, TARGET, TOOL];
        rules.iter().flat_map(|rule| (rule.find)(records)).map(|found| found.kind.clone()).collect()
    }

    #[test]
    fn copies_that_share_a_way_on_purpose_are_bound_by_no_tool() {
        let mut records = run(250.0, 600.0, "end");
        assert_eq!(kinds(&records), ["tool-bound"]);
        records[0].origin.step = Some(1);
        assert_eq!(kinds(&records), [""; 0]);
    }

    #[test]
    fn the_slowest_part_of_the_way_is_named_where_the_copy_is_as_fast_as_it() {
        let records = run(700.0, 600.0, "none");
        let found = (SOURCE.find)(&records);
        let text = "tool=scp copies at 700 MB/s, 88 % of the slowest part of its way: reading at the source 800 MB/s, network \
                    1250 MB/s, writing at the target 4000 MB/s.";
        assert!(found[0].text.starts_with(text), "{}", found[0].text);
        assert_eq!(kinds(&records), ["source-disk-bound"]);
        assert_eq!(kinds(&run(590.0, 600.0, "end")), ["target-disk-bound"]);
        assert_eq!(kinds(&run(450.0, 600.0, "end")), [""; 0], "neither near it nor far below");
        assert_eq!(kinds(&run(250.0, 600.0, "end")), ["tool-bound"]);
    }

    #[test]
    fn another_set_directory_node_or_a_part_that_was_not_measured_says_nothing() {
        for change in [
            |records: &mut Vec<CaseRecord>| records[1].params.set("set", "losf"),
            |records: &mut Vec<CaseRecord>| records[1].params.set("directory", "/other"),
            |records: &mut Vec<CaseRecord>| records[1].nodes = vec!["n3".to_owned()],
            |records: &mut Vec<CaseRecord>| records[0].params.set("cache", "warm"),
        ] {
            for goodput in [700.0, 200.0] {
                let mut records = run(goodput, 600.0, "none");
                change(&mut records);
                assert_eq!(kinds(&records), [""; 0], "{goodput}");
            }
        }
    }
}
