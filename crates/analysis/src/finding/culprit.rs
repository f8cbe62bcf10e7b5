//! `culprit`: the node that one or several failed cases point to.
//!
//! A node that vanishes in its own case is a culprit by itself. Of two nodes that failed together, the culprit is the
//! node that failed with several partners, if each partner was measured with another node. A case that moved next to nothing
//! is no result here: what stopped the others almost stopped it. Where pairs were measured in both
//! directions, a node that fails on one side is told by that side.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::record::CaseRecord;
use seatrial_model::{Better, CaseId, Cause, Confidence, Finding, Outcome, Severity, Subject, Unit};
use seatrial_stats::median;

use super::Rule;
use super::confidence;
use super::crossed_rails::is_crossed;
use super::matrix::{SlowSide, sides};
use crate::number::quantity;

pub(super) const RULE: Rule = Rule {
    kind: "culprit",
    doc: "A node vanished in its own case, or failed with several partners that were measured with others.",
    find,
};

/// Smallest number of partners that a node failed with: with one partner either node may be the cause.
const FEWEST_PARTNERS: usize = 2;

/// Share of the median of a question below which the rate of a case is next to nothing.
const NEXT_TO_NOTHING: f64 = 0.05;

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
        let finding = of_node(node, &cases, format!("{node} vanished during a measurement: {why}"));
        Finding { remedy: Cause::Vanished.remedy(node), confidence: Some(Confidence::High), ..finding }
    };
    by_node.into_iter().map(finding).collect()
}

fn with_several_partners(records: &[CaseRecord]) -> Vec<Finding> {
    let mut questions: BTreeMap<(&str, &str), Vec<&CaseRecord>> = BTreeMap::new();
    for case in records.iter().filter(|case| case.lost.is_empty() && !is_crossed(case)) {
        if matches!(case.nodes.as_slice(), [one, other] if one != other) {
            questions.entry((&case.group, &case.bench)).or_default().push(case);
        }
    }
    questions.values().flat_map(|cases| of_question(cases)).collect()
}

/// Failed, or lost its partner: where a path stops, both nodes have lost their partner and neither has failed.
fn has_no_result(case: &CaseRecord) -> bool {
    case.outcome == Outcome::Failed || case.cause == Some(Cause::PartnerLost)
}

fn of_question(cases: &[&CaseRecord]) -> Vec<Finding> {
    let nodes: BTreeSet<&str> = cases.iter().flat_map(|case| &case.nodes).map(String::as_str).collect();
    let crawling = crawling(cases);
    let measured = |node: &str, side: SlowSide| -> Vec<&CaseRecord> {
        let own = |case: &&CaseRecord| case.outcome == Outcome::Measured && side.has_node(node, &case.nodes);
        cases.iter().copied().filter(own).collect()
    };
    let has_crawled = |case: &&CaseRecord| crawling.contains(&case.case);
    let is_measured = |node: &str, side: SlowSide| !measured(node, side).iter().all(has_crawled);
    let of = |node: &str, side: SlowSide| {
        let own = || cases.iter().copied().filter(|case| side.has_node(node, &case.nodes));
        let bad: Vec<&CaseRecord> = own().filter(|case| has_no_result(case)).collect();
        let partners: BTreeSet<&str> =
            bad.iter().flat_map(|case| &case.nodes).map(String::as_str).filter(|one| *one != node).collect();
        let good: Vec<&str> =
            partners.into_iter().filter(|partner| is_measured(partner, side.opposite())).collect();
        let partners = good.len();
        let is_it = !is_measured(node, side) && good.len() >= FEWEST_PARTNERS;
        is_it.then(|| {
            let (good, others) = (some_of(&good), if good.len() == 2 { "both" } else { "these" });
            let result = match measured(node, side).len() {
                0 => "no result",
                _ => "less than a twentieth of the usual rate elsewhere and no other result",
            };
            let text = match side {
                SlowSide::Both => format!(
                    "{node} failed with {good} and has {result} with any node, while {others} have results with others: \
                     the fault is likely on {node}"
                ),
                SlowSide::Sends => format!(
                    "{node} failed to send to {good} and has {result} of sending, while {others} receive from others: the \
                     fault is likely on {node}"
                ),
                SlowSide::Receives => format!(
                    "{node} failed to receive from {good} and has {result} of receiving, while {others} send to others: \
                     the fault is likely on {node}"
                ),
            };
            let remedy = bad.iter().find_map(|case| case.cause).and_then(|cause| cause.remedy(node));
            let finding = Finding { remedy, ..of_node(node, &bad, text) };
            confidence::with_partners(finding, partners, "both links to it are", cases)
        })
    };
    let sides = sides(cases);
    nodes.into_iter().filter_map(|node| sides.iter().find_map(|side| of(node, *side))).collect()
}

/// The cases whose rate is next to nothing beside the others.
fn crawling<'a>(cases: &[&'a CaseRecord]) -> BTreeSet<&'a CaseId> {
    let rate = |case: &&'a CaseRecord| {
        let (_, metric) = case.headline().filter(|_| case.outcome == Outcome::Measured)?;
        (metric.better == Better::Higher).then_some((&case.case, metric.median))
    };
    let rates: Vec<(&CaseId, f64)> = cases.iter().filter_map(rate).collect();
    let values: Vec<f64> = rates.iter().map(|(_, rate)| *rate).collect();
    let least = NEXT_TO_NOTHING * median(&values).unwrap_or(0.0);
    rates.into_iter().filter(|(_, rate)| *rate < least).map(|(case, _)| case).collect()
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
        ..finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::{case, metric, no_limit};

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
    fn a_node_that_nobody_can_send_to_is_named_for_receiving_alone() {
        use Outcome::{Failed, Measured};
        let ways = (1..=4)
            .flat_map(|one| (1..=4).map(move |other| (one, other)))
            .filter(|(one, other)| one != other);
        let outcome = |to: u32| if to == 3 { Failed } else { Measured };
        let mut records: Vec<CaseRecord> =
            ways.map(|(one, to)| pair(&format!("n{one}"), &format!("n{to}"), outcome(to))).collect();
        assert_eq!(nodes(&records), ["n3"]);
        let text = &find(&records)[0].text;
        assert!(
            text.starts_with("n3 failed to receive from n1, n2 and n4 and has no result of receiving"),
            "{text}"
        );
        // Where a path stops between two nodes, each of them has lost its partner and none has failed.
        for case in records.iter_mut().filter(|case| case.outcome == Failed) {
            (case.outcome, case.cause) = (Outcome::Unmeasured, Some(Cause::PartnerLost));
        }
        assert_eq!(nodes(&records), ["n3"]);
    }

    #[test]
    fn a_node_whose_only_other_pair_moved_next_to_nothing_is_named_too() {
        use Outcome::{Failed, Measured};
        let found = |of_n3_to_n2: f64| {
            let ways = (1..=4).flat_map(|one| (1..=4).map(move |other| (one, other)));
            let records = ways.filter(|(one, other)| one != other).map(|(one, other)| {
                let outcome = if one == 3 && other != 2 { Failed } else { Measured };
                let mut record = pair(&format!("n{one}"), &format!("n{other}"), outcome);
                let rate = if one == 3 { of_n3_to_n2 } else { 100.0 };
                record.metrics.insert("bandwidth".to_owned(), metric(rate, (rate, rate), no_limit()));
                record
            });
            find(&records.collect::<Vec<_>>())
        };
        assert!(found(60.0).is_empty(), "n3 sends to n2");
        let found = found(0.1);
        assert_eq!(found.iter().map(|finding| finding.node.as_deref()).collect::<Vec<_>>(), [Some("n3")]);
        let text = &found[0].text;
        assert!(text.starts_with("n3 failed to send to n1 and n4 and has less than a twentieth"), "{text}");
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
