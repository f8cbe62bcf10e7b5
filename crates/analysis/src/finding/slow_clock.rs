//! `slow-clock`: reading the clock took a considerable share of the times measured with it.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Dimension, Finding, Severity, Unit};

use super::probes::{Seen, seen};
use super::{Rule, about};
use crate::number::{in_unit, quantity};

pub(super) const RULE: Rule = Rule {
    kind: "slow-clock",
    doc: "Reading the clock took at least 5 % of a time that was measured with it; each time includes about one read.",
    find,
};

/// Smallest share of a metric. A metric that is half of a round trip was timed over twice its length.
const PART: f64 = 0.1;

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    // The first node of a case reads the clock: the others answer it.
    let looks = |case: &CaseRecord, seen: &Seen| case.nodes.first().is_some_and(|first| first == seen.node);
    let of_case = |case| seen(case, "clock").filter(move |seen| looks(case, seen));
    records.iter().flat_map(|case| of_case(case).filter_map(move |node| of_node(case, &node))).collect()
}

/// One finding for the shortest time of the case.
fn of_node(case: &CaseRecord, seen: &Seen) -> Option<Finding> {
    let look_ns = *seen.reading.levels.get("look_ns")? as f64;
    let times = case.metrics.iter().filter(|(_, metric)| metric.unit.dimension() == Dimension::Time);
    let ns = times.map(|(name, metric)| (name, metric.median * metric.unit.factor()));
    let (name, shortest_ns) =
        ns.filter(|(_, ns)| *ns > 0.0).min_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let part = look_ns / shortest_ns;
    if part < PART {
        return None;
    }
    let node = seen.node;
    let text = format!(
        "reading the clock on {node} takes {}, {} of {name}, and each measured time includes about one such read: the \
         kernel uses a slow clock source (see kernel.clocksource), or the machine is emulated",
        in_unit(look_ns, Unit::Nanosecond),
        in_unit(100.0 * part, Unit::Percent),
    );
    let finding = Finding::new(RULE.kind, Severity::Warning, case.subject.clone(), text);
    let value = quantity(look_ns, Unit::Nanosecond);
    let finding = about(case, Finding { value, evidence: seen.evidence(), ..finding });
    Some(Finding { node: Some(node.to_owned()), ..finding })
}

#[cfg(test)]
mod tests {
    use seatrial_model::record::MetricRecord;
    use serde_json::json;

    use super::super::probes::fixture::case;
    use super::*;
    use crate::judge::fixture::{limit, metric};

    fn timed(look_ns: u64) -> CaseRecord {
        let mut case = case("clock", &json!({ "levels": { "look_ns": look_ns } }));
        let time =
            |median| MetricRecord { unit: Unit::Microsecond, ..metric(median, (median, median), limit(1e3)) };
        case.metrics.insert("latency".to_owned(), time(20.0));
        case.metrics.insert("p99".to_owned(), time(180.0));
        case
    }

    fn looked(look_ns: u64) -> Vec<Finding> {
        find(&[timed(look_ns)])
    }

    #[test]
    fn a_slow_clock_is_named_with_its_part_of_the_shortest_time() {
        let found = looked(3800);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert!(
            finding.text.starts_with("reading the clock on n1 takes 3800 ns, 19 % of latency, and each"),
            "{}",
            finding.text
        );
        assert_eq!(finding.value.map(seatrial_model::Quantity::value), Some(3800.0));
    }

    #[test]
    fn a_clock_that_costs_little_or_was_not_timed_is_no_finding() {
        assert!(looked(1999).is_empty());
        assert_eq!(looked(2000).len(), 1);
        assert!(find(&[case("clock", &json!({ "unreadable": ["no clock source"] }))]).is_empty());
        // Rates only: no operation was timed by itself.
        assert!(find(&[case("clock", &json!({ "levels": { "look_ns": 5000 } }))]).is_empty());
    }

    #[test]
    fn the_clock_of_a_node_that_answers_is_in_no_time() {
        let mut case = timed(5000);
        case.nodes = vec!["n0".to_owned(), "n1".to_owned()];
        assert!(find(std::slice::from_ref(&case)).is_empty());
        case.nodes.swap(0, 1);
        assert_eq!(find(&[case]).len(), 1);
    }
}
