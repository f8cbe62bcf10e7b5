//! `slow-node` and `slow-link`: findings from a matrix of pairs.

use seatrial_model::record::CaseRecord;
use seatrial_model::{CaseId, Finding, Severity, Subject, Unit};

use super::Rule;
use super::address;
use super::confidence;
use super::group_faults;
use super::matrix::{Matrix, Slow, SlowSide};
use super::speeds::{FEWEST_PARTNERS, is_of, speeds};
use crate::beside_peers::beside_peers;
use crate::number::{in_unit, quantity, ratio, significant};

pub(super) const NODE: Rule = Rule {
    kind: "slow-node",
    doc: "A node is slow with most of its partners, at least two of which are not slow with others; or groups of nodes \
          are slow with it and not without it.",
    find: |records| [of_nodes(records), group_faults::nodes(records, NODE.kind)].concat(),
};

pub(super) const LINK: Rule = Rule {
    kind: "slow-link",
    doc: "Two nodes are slow with each other, and neither is with others.",
    find: |records| [of_links(records), group_faults::links(records, LINK.kind)].concat(),
};

/// A node to be measured again, and one of its cases to repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    pub node: String,
    pub case: CaseId,
}

/// The nodes that look slow in random pairs (the pattern `matchings`), in the order of their names. Some of them only
/// had slow partners.
pub fn suspects(records: &[CaseRecord]) -> Vec<Suspect> {
    let rounds = records
        .iter()
        .filter(|case| case.origin.pattern.as_deref() == Some("matchings") && case.origin.suspect.is_none());
    let rounds: Vec<CaseRecord> = rounds.cloned().collect();
    let mut found = Vec::new();
    for matrix in speeds(&rounds) {
        for (at, side) in matrix.suspects() {
            let node = &matrix.nodes[at];
            // The direction in which it was slow.
            let is_there = |case: &&CaseRecord| side.has_node(node, &case.nodes);
            let own = rounds.iter().filter(|case| is_of(case, &matrix)).filter(is_there);
            let case = own.map(|case| case.case.clone()).min();
            found.extend(case.map(|case| Suspect { node: node.clone(), case }));
        }
    }
    found
}

/// Without their causes, which `cause::explain` adds.
fn of_nodes(records: &[CaseRecord]) -> Vec<Finding> {
    let of_matrix = |matrix: &Matrix| -> Vec<Finding> {
        let all = matrix.slow_nodes(FEWEST_PARTNERS);
        let peers = matrix.sound(&all);
        let finding = |slow: &Slow| {
            // The pairs that are left are what healing brings the node to.
            let peers = peers.unwrap_or(slow.median);
            let node = &matrix.nodes[slow.nodes[0]];
            let (how, but) = match slow.side {
                SlowSide::Both => ("has", String::new()),
                SlowSide::Sends => ("sends at", format!("; {node} receives as fast as the others")),
                SlowSide::Receives => ("receives at", format!("; {node} sends as fast as the others")),
            };
            let text = format!(
                "{node} {how} {}: {} is the median over {} partners, {} that of the other pairs{but}",
                beside_peers(percent(slow.value, peers), &matrix.metric),
                in_unit(slow.value, matrix.unit),
                slow.partners,
                in_unit(peers, matrix.unit),
            );
            let finding = Finding::new(NODE.kind, Severity::Problem, Subject::node(), text);
            let finding = Finding {
                node: Some(node.clone()),
                ..with_number(finding, matrix, percent(slow.value, peers))
            };
            let cases: Vec<&CaseRecord> = records.iter().filter(|case| is_of(case, matrix)).collect();
            confidence::with(
                finding,
                confidence::of_trials(slow.margin, &cases),
                "the noise of all nodes is the cause",
                &cases,
            )
        };
        all.iter().map(finding).collect()
    };
    speeds(records).iter().flat_map(of_matrix).collect()
}

fn of_links(records: &[CaseRecord]) -> Vec<Finding> {
    speeds(records).iter().flat_map(|matrix| links(matrix, records)).collect()
}

fn links(matrix: &Matrix, records: &[CaseRecord]) -> Vec<Finding> {
    let finding = |slow: &Slow| {
        let [one, other] = [slow.nodes[0], slow.nodes[1]].map(|at| matrix.nodes[at].as_str());
        let (what, but) = if matrix.has_both_ways() {
            let turned = matrix.cells.get(&(slow.nodes[1], slow.nodes[0]));
            let back =
                turned.map(|value| format!(", and {} from {other} to {one}", in_unit(*value, matrix.unit)));
            let sound = format!("{one} sends to others and {other} receives from others as fast as the rest");
            (format!("{one} is slow to {other}"), format!("{sound}{}", back.unwrap_or_default()))
        } else {
            let sound = "both are as fast as others with the rest".to_owned();
            (format!("{one} and {other} are slow with each other"), sound)
        };
        let text = format!(
            "{what}: {} {}, {}; {but}",
            matrix.metric,
            in_unit(slow.value, matrix.unit),
            against(slow, "all pairs"),
        );
        let subject = format!("{one}->{other}").parse().unwrap_or_else(|_| Subject::node());
        let finding = Finding::new(LINK.kind, Severity::Problem, subject, text);
        let own = records.iter().filter(|case| is_of(case, matrix) && case.nodes == [one, other]);
        let finding = finding.with_remedy(address::check_path(&own.collect::<Vec<_>>()));
        with_number(finding, matrix, percent(slow.value, slow.median))
    };
    matrix.slow_links().iter().map(finding).collect()
}

fn against(slow: &Slow, whom: &str) -> String {
    let percent = percent(slow.value, slow.median);
    let side = if percent < 0.0 { "below" } else { "above" };
    format!("{} % {side} the median {} of {whom}", ratio(percent.abs()), significant(slow.median))
}

/// How far `value` is from `reference`, in percent of it.
pub(super) fn percent(value: f64, reference: f64) -> f64 {
    100.0 * (value - reference) / reference.abs()
}

fn with_number(finding: Finding, matrix: &Matrix, percent: f64) -> Finding {
    let value = quantity(percent, Unit::Percent);
    Finding { value, evidence: vec![matrix.group.clone(), matrix.metric.clone()], ..finding }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::{case, metric, no_limit};

    fn pair(one: usize, other: usize, value: f64) -> CaseRecord {
        let mut case = case(&format!("n{one}"), &format!("n{one}->n{other}"));
        case.nodes.push(format!("n{other}"));
        let Ok(id) = format!("n{one}+n{other}").parse();
        case.case = id;
        case.origin.pattern = Some("matchings".to_owned());
        case.metrics.insert("throughput".to_owned(), metric(value, (value, value), no_limit()));
        case
    }

    /// Three rounds of eight nodes in which `n3` is slow.
    fn rounds() -> Vec<CaseRecord> {
        let pairs = [
            [(1, 2), (3, 4), (5, 6), (7, 8)],
            [(1, 3), (2, 4), (5, 7), (6, 8)],
            [(1, 4), (2, 3), (5, 8), (6, 7)],
        ];
        let value = |one, other| if one == 3 || other == 3 { 85.0 } else { 100.0 };
        pairs.concat().into_iter().map(|(one, other)| pair(one, other, value(one, other))).collect()
    }

    #[test]
    fn a_suspect_is_named_with_the_first_of_its_cases_whatever_the_order_of_the_records() {
        let mut records = rounds();
        let expected = [Suspect { node: "n3".to_owned(), case: records[4].case.clone() }];
        assert_eq!(suspects(&records), expected);
        records.reverse();
        assert_eq!(suspects(&records), expected);
        // Repeated pairs do not change the suspects.
        let mut again = pair(3, 5, 100.0);
        again.origin.suspect = Some("n3".to_owned());
        records.push(again);
        assert_eq!(suspects(&records), expected);
    }

    #[test]
    fn other_patterns_have_no_suspects() {
        let mut records = rounds();
        records.iter_mut().for_each(|case| case.origin = Default::default());
        assert!(suspects(&records).is_empty());
        assert_eq!(of_nodes(&records).len(), 1, "but the slow node is found");
    }

    #[test]
    fn a_finding_says_how_slow_and_against_what() {
        let found = (NODE.find)(&rounds());
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.node.as_deref(), Some("n3"));
        assert!(
            finding.text.starts_with(
                "n3 has 85 % of its peers' throughput: 85 GB/s is the median over 3 partners, 100 GB/s that of the other pairs"
            ),
            "{}",
            finding.text
        );
        assert_eq!(finding.value, quantity(-15.0, Unit::Percent));
        assert!((LINK.find)(&rounds()).is_empty());
    }

    #[test]
    fn a_node_with_small_packets_is_not_slow() {
        let mut records = rounds();
        for case in &mut records {
            case.metrics.get_mut("throughput").unwrap().unit = Unit::Byte;
        }
        assert_eq!((of_nodes(&records), of_links(&records), suspects(&records)), (vec![], vec![], vec![]));
    }

    #[test]
    fn a_suspect_that_is_fast_with_good_partners_is_not_named() {
        let slow = |node: usize| node == 3 || node == 4;
        let value = |one: usize, other: usize| if slow(one) || slow(other) { 85.0 } else { 100.0 };
        // Two of n1's three partners are slow.
        let pairs = [
            [(1, 3), (2, 4), (5, 6), (7, 8), (9, 10), (11, 12)],
            [(1, 4), (2, 5), (3, 6), (7, 9), (8, 11), (10, 12)],
            [(1, 2), (3, 7), (4, 8), (5, 10), (6, 12), (9, 11)],
        ];
        let pairs = pairs.concat().into_iter();
        let mut records: Vec<CaseRecord> =
            pairs.map(|(one, other)| pair(one, other, value(one, other))).collect();
        let named: Vec<String> = suspects(&records).into_iter().map(|suspect| suspect.node).collect();
        assert_eq!(named, ["n1", "n3", "n4"]);
        for (node, others) in [(1, [5, 6]), (3, [8, 9]), (4, [10, 11])] {
            for other in others {
                let mut again = pair(node, other, value(node, other));
                again.origin.suspect = Some(format!("n{node}"));
                records.push(again);
            }
        }
        let mut found: Vec<String> = (NODE.find)(&records).into_iter().filter_map(|it| it.node).collect();
        found.sort();
        assert_eq!(found, ["n3", "n4"]);
    }
}
