//! `slow-node` and `slow-link`: what a matrix of pairs speaks against.

use seatrial_model::record::CaseRecord;
use seatrial_model::{CaseId, Finding, Severity, Subject, Unit};

use super::Rule;
use super::matrix::{Matrix, Slow, matrices};
use crate::number::{in_unit, quantity, significant};

pub(super) const NODE: Rule = Rule {
    kind: "slow-node",
    doc: "A node is slow with most of its partners, and at least two of these are not slow with others.",
    find: |records| findings(records, of_nodes),
};

pub(super) const LINK: Rule = Rule {
    kind: "slow-link",
    doc: "Two nodes are slow with each other, and neither is with others.",
    find: |records| findings(records, of_links),
};

/// Partners that a node must have been slow with: with one alone either may be the slow one.
const FEWEST_PARTNERS: usize = 2;

/// A node that should be measured again, and a case of it to ask again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// The node.
    pub node: String,
    /// One of its cases.
    pub case: CaseId,
}

/// The nodes that look slow in random pairs (the pattern `matchings`), in the order of their names. Some are only there
/// because their partners were slow.
pub fn suspects(records: &[CaseRecord]) -> Vec<Suspect> {
    let rounds = records.iter().filter(|case| {
        case.chosen.text("pattern") == Ok("matchings") && case.chosen.get("suspect").is_none()
    });
    let rounds: Vec<CaseRecord> = rounds.cloned().collect();
    let mut found = Vec::new();
    for matrix in matrices(&rounds) {
        for at in matrix.suspects() {
            let node = &matrix.nodes[at];
            let own = rounds.iter().filter(|case| is_of(case, &matrix) && case.nodes.contains(node));
            let case = own.map(|case| case.case.clone()).min();
            found.extend(case.map(|case| Suspect { node: node.clone(), case }));
        }
    }
    found
}

fn is_of(case: &CaseRecord, matrix: &Matrix) -> bool {
    case.group == matrix.group && case.bench == matrix.bench && case.params == matrix.params
}

fn findings(records: &[CaseRecord], of: fn(&Matrix) -> Vec<Finding>) -> Vec<Finding> {
    matrices(records).iter().flat_map(of).collect()
}

fn of_nodes(matrix: &Matrix) -> Vec<Finding> {
    let finding = |slow: &Slow| {
        let node = &matrix.nodes[slow.nodes[0]];
        let text = format!(
            "{node} is slow with its partners: {} {}, median over {} of them, {}; look at its network card, cable and \
             switch port, and at its settings",
            matrix.metric,
            in_unit(slow.value, matrix.unit),
            slow.partners,
            against(slow, "all nodes"),
        );
        let finding = Finding::new(NODE.kind, Severity::Problem, Subject::node(), text);
        Finding { node: Some(node.clone()), ..with_number(finding, matrix, slow) }
    };
    matrix.slow_nodes(FEWEST_PARTNERS).iter().map(finding).collect()
}

fn of_links(matrix: &Matrix) -> Vec<Finding> {
    let finding = |slow: &Slow| {
        let [one, other] = [slow.nodes[0], slow.nodes[1]].map(|at| matrix.nodes[at].as_str());
        let text = format!(
            "{one} and {other} are slow with each other: {} {}, {}; both are as fast as others with the rest, so look at \
             the way between them: cables, switch ports and routes that only they use",
            matrix.metric,
            in_unit(slow.value, matrix.unit),
            against(slow, "all pairs"),
        );
        let subject = format!("{one}->{other}").parse().unwrap_or_else(|_| Subject::node());
        with_number(Finding::new(LINK.kind, Severity::Problem, subject, text), matrix, slow)
    };
    matrix.slow_links().iter().map(finding).collect()
}

/// How far off it is.
fn against(slow: &Slow, whom: &str) -> String {
    let percent = percent(slow);
    let side = if percent < 0.0 { "below" } else { "above" };
    format!("{} % {side} the median {} of {whom}", significant(percent.abs()), significant(slow.median))
}

fn percent(slow: &Slow) -> f64 {
    100.0 * (slow.value - slow.median) / slow.median.abs()
}

fn with_number(finding: Finding, matrix: &Matrix, slow: &Slow) -> Finding {
    let value = quantity(percent(slow), Unit::Percent);
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
        case.chosen.set("pattern", "matchings");
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
        // What was measured again changes nothing about who was suspect.
        let mut again = pair(3, 5, 100.0);
        again.chosen.set("suspect", "n3");
        records.push(again);
        assert_eq!(suspects(&records), expected);
    }

    #[test]
    fn other_patterns_have_no_suspects() {
        let mut records = rounds();
        records.iter_mut().for_each(|case| case.chosen = Default::default());
        assert!(suspects(&records).is_empty());
        assert_eq!(findings(&records, of_nodes).len(), 1, "but the slow node is found");
    }

    #[test]
    fn a_finding_says_how_slow_and_against_what() {
        let found = (NODE.find)(&rounds());
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.node.as_deref(), Some("n3"));
        assert!(
            finding.text.starts_with(
                "n3 is slow with its partners: throughput 85 GB/s, median over 3 of them, 15 % below the median 100 of \
                 all nodes;"
            ),
            "{}",
            finding.text
        );
        assert_eq!(finding.value, quantity(-15.0, Unit::Percent));
        assert!((LINK.find)(&rounds()).is_empty());
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
                again.chosen.set("suspect", format!("n{node}").as_str());
                records.push(again);
            }
        }
        let mut found: Vec<String> = (NODE.find)(&records).into_iter().filter_map(|it| it.node).collect();
        found.sort();
        assert_eq!(found, ["n3", "n4"]);
    }
}
