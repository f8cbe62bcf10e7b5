//! `culprit`: the node that one or several failed cases point to.
//!
//! A node that vanishes in its own case is a culprit by itself. Of two nodes that failed together, the culprit is the
//! node that failed with several partners, if each partner was measured with another node.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::record::CaseRecord;
use seatrial_model::{Cause, Finding, Outcome, Severity, Subject, Unit};

use super::Rule;
use crate::number::quantity;

pub(super) const RULE: Rule = Rule {
    kind: "culprit",
    doc: "A node vanished in its own case, or failed with several partners that were measured with others.",
    find,
};

/// Smallest number of partners that a node failed with: with one partner either node may be the cause.
const FEWEST_PARTNERS: usize = 2;

/// Cases named in one finding; more are counted.
const MOST_NAMED: usize = 3;

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    let mut found: Vec<Finding> = vanished(records);
    found.extend(with_several_partners(records));
    found
}

/// One finding per node, over all cases that it vanished in.
fn vanished(records: &[CaseRecord]) -> Vec<Finding> {
    let mut by_node: BTreeMap<&str, Vec<&CaseRecord>> = BTreeMap::new();
    for case in records.iter().filter(|case| case.cause == Some(Cause::Vanished)) {
        // Older records name the node in the reason only; it is certain if the case had one node.
        let lost = if case.lost.is_empty() && case.nodes.len() == 1 { &case.nodes } else { &case.lost };
        for node in lost {
            by_node.entry(node).or_default().push(case);
        }
    }
    let finding = |(node, cases): (&str, Vec<&CaseRecord>)| {
        let why = cases[0].reason.as_deref().unwrap_or("the record does not say how");
        of_node(node, &cases, format!("{node} vanished during a measurement: {why}"))
    };
    by_node.into_iter().map(finding).collect()
}

#[derive(Default)]
struct Known<'a> {
    failed: Vec<&'a CaseRecord>,
    failed_with: BTreeSet<&'a str>,
    is_measured: bool,
}

fn with_several_partners(records: &[CaseRecord]) -> Vec<Finding> {
    let mut questions: BTreeMap<(&str, &str), BTreeMap<&str, Known<'_>>> = BTreeMap::new();
    for case in records {
        let [one, other] = case.nodes.as_slice() else { continue };
        if one == other || !case.lost.is_empty() {
            continue;
        }
        let nodes = questions.entry((&case.group, &case.bench)).or_default();
        for (node, partner) in [(one, other), (other, one)] {
            let known = nodes.entry(node.as_str()).or_default();
            match case.outcome {
                Outcome::Measured => known.is_measured = true,
                Outcome::Failed => {
                    known.failed.push(case);
                    known.failed_with.insert(partner);
                }
                Outcome::Unmeasured | Outcome::Skipped => {}
            }
        }
    }
    let mut found = Vec::new();
    for nodes in questions.values() {
        for (node, known) in nodes.iter().filter(|(_, known)| !known.is_measured) {
            let is_good = |partner: &&&str| nodes.get(**partner).is_some_and(|partner| partner.is_measured);
            let good: Vec<&str> = known.failed_with.iter().filter(is_good).copied().collect();
            if good.len() < FEWEST_PARTNERS {
                continue;
            }
            let text = format!(
                "{node} failed with {} and has no result with any node, while {} have results with others: \
                 the fault is likely on {node}",
                some_of(&good),
                if good.len() == 2 { "both" } else { "these" }
            );
            found.push(of_node(node, &known.failed, text));
        }
    }
    found
}

fn some_of(nodes: &[&str]) -> String {
    match nodes {
        [few @ .., last] if nodes.len() <= MOST_NAMED => format!("{} and {last}", few.join(", ")),
        many => format!("{} and {} more", many[..MOST_NAMED].join(", "), many.len() - MOST_NAMED),
    }
}

fn of_node(node: &str, cases: &[&CaseRecord], text: String) -> Finding {
    let finding = Finding::new(RULE.kind, Severity::Problem, Subject::node(), text);
    Finding {
        node: Some(node.to_owned()),
        case: cases.first().map(|case| case.case.to_string()),
        value: quantity(cases.len() as f64, Unit::Count),
        evidence: cases.iter().take(MOST_NAMED).map(|case| case.case.to_string()).collect(),
        remedy: Cause::Vanished.remedy(node),
        ..finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::case;

    fn pair(one: &str, other: &str, outcome: Outcome) -> CaseRecord {
        let mut case = case(one, &format!("{one}->{other}"));
        case.nodes.push(other.to_owned());
        case.outcome = outcome;
        if outcome == Outcome::Failed {
            case.cause = Some(Cause::Crash);
        }
        case
    }

    fn lost(one: &str, other: &str, gone: &str) -> CaseRecord {
        let mut case = pair(one, other, Outcome::Failed);
        case.cause = Some(Cause::Vanished);
        case.reason = Some(format!("the agent of server 1 on {gone} was lost: the connection ended"));
        case.lost = vec![gone.to_owned()];
        case
    }

    fn nodes(records: &[CaseRecord]) -> Vec<String> {
        find(records).into_iter().filter_map(|finding| finding.node).collect()
    }

    #[test]
    fn a_node_that_vanished_is_named_once_over_all_its_cases() {
        use Outcome::Measured;
        let records = [lost("n1", "n2", "n2"), lost("n2", "n3", "n2"), pair("n1", "n3", Measured)];
        let found = find(&records);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((finding.node.as_deref(), finding.severity), (Some("n2"), Severity::Problem));
        assert!(finding.text.contains("n2 vanished during a measurement: the agent of server 1 on n2"));
        assert_eq!(finding.evidence.len(), 2);
    }

    #[test]
    fn a_node_lost_while_idle_is_no_culprit() {
        let mut idle = lost("n1", "n2", "n2");
        (idle.outcome, idle.cause) = (Outcome::Unmeasured, Some(Cause::NeverReached));
        assert!(find(&[idle]).is_empty());
    }

    #[test]
    fn what_failed_with_two_partners_that_are_good_with_others_is_the_bad_one() {
        use Outcome::{Failed, Measured};
        let records = [
            pair("n1", "n2", Failed),
            pair("n3", "n4", Measured),
            pair("n2", "n3", Failed),
            pair("n4", "n1", Measured),
        ];
        assert_eq!(nodes(&records), ["n2"]);
        let text = &find(&records)[0].text;
        assert!(
            text.starts_with("n2 failed with n1 and n3")
                && text.contains("while both have results with others"),
            "{text}"
        );
    }

    #[test]
    fn one_failed_pair_or_partners_that_were_never_measured_name_nobody() {
        use Outcome::{Failed, Measured, Unmeasured};
        assert!(nodes(&[pair("n1", "n2", Failed), pair("n3", "n4", Measured)]).is_empty());
        let one_partner = [pair("n1", "n2", Failed), pair("n1", "n3", Measured)];
        assert!(nodes(&one_partner).is_empty(), "n2 failed with n1 alone");
        let all_bad = [pair("n1", "n2", Failed), pair("n2", "n3", Failed), pair("n3", "n1", Failed)];
        assert!(nodes(&all_bad).is_empty());
        let once_good = [
            pair("n1", "n2", Failed),
            pair("n2", "n3", Failed),
            pair("n2", "n4", Measured),
            pair("n1", "n3", Measured),
        ];
        assert!(nodes(&once_good).is_empty(), "n2 was measured with n4");
        assert!(nodes(&[pair("n1", "n2", Unmeasured), pair("n2", "n3", Unmeasured)]).is_empty());
    }
}
