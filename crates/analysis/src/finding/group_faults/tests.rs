//! Bisections of records whose values follow from the fault alone.

use seatrial_model::{Addresses, Fact};

use super::*;
use crate::judge::fixture::{case, metric, no_limit};

/// The case of `nodes` in `step`; the whole is in none. Groups that `is_slow` holds for take or give a tenth less.
fn group(
    nodes: &[String],
    step: Option<u64>,
    is_slow: &dyn Fn(&[String]) -> bool,
    better: Better,
) -> CaseRecord {
    let mut case = case(&nodes[0], "node");
    case.nodes = nodes.to_vec();
    case.origin.step = step;
    case.origin.isolates_by = Some("slowest_node".to_owned());
    let Ok(id) = format!("all@{}#isolate.{}", nodes.join("+"), step.unwrap_or(0)).parse();
    case.case = id;
    let worse = if better == Better::Lower { 10.0 / 0.9 } else { 9.0 };
    let value = if is_slow(nodes) { worse } else { 10.0 };
    let mut of_slowest = metric(value, (0.999 * value, 1.001 * value), no_limit());
    of_slowest.better = better;
    case.metrics.insert("sum".to_owned(), metric(8.0 * value, (8.0 * value, 8.0 * value), no_limit()));
    case.metrics.insert("slowest_node".to_owned(), of_slowest);
    case
}

/// The records of a whole bisection of eight nodes.
fn searched(is_slow: &dyn Fn(&[String]) -> bool, better: Better) -> Vec<CaseRecord> {
    let nodes: Vec<String> = (1..=8).map(|at| format!("n{at}")).collect();
    let mut records = vec![group(&nodes, None, is_slow, better)];
    for step in 1.. {
        let steps = bisections(&records)[0].steps();
        let Some(groups) = steps.first() else { break };
        assert!(step < 30, "{records:?}");
        records.extend(groups.iter().map(|nodes| group(nodes, Some(step), is_slow, better)));
    }
    records
}

fn found(records: &[CaseRecord]) -> Vec<Finding> {
    let all = crate::findings(records);
    all.into_iter()
        .filter(|finding| finding.case.as_deref() == Some("all@n1+n2+n3+n4+n5+n6+n7+n8#isolate.0"))
        .collect()
}

fn has(nodes: &[String], wanted: &str) -> bool {
    nodes.iter().any(|node| node == wanted)
}

#[test]
fn a_slow_node_is_named_with_the_groups_that_show_it() {
    let records = searched(&|nodes| has(nodes, "n6"), Better::Higher);
    let found = found(&records);
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((finding.kind.as_str(), finding.node.as_deref()), ("slow-node", Some("n6")));
    let start = "n6 holds its groups back: slowest_node 9 GB/s in 2 groups of 4 nodes with the fault, 10 % below 10 GB/s \
                 in 4 sound groups of 4";
    assert!(finding.text.starts_with(start), "{}", finding.text);
    assert!(finding.value.is_some_and(|value| (value.value() + 10.0).abs() < 1e-9), "{:?}", finding.value);
    assert_eq!(finding.evidence[..2], ["memory", "slowest_node"]);
    let named = |id: &String| records.iter().any(|case| case.case.as_str() == id && has(&case.nodes, "n6"));
    assert!(finding.evidence.len() == 4 && finding.evidence[2..].iter().all(named), "{:?}", finding.evidence);
    assert_eq!(records.len(), 9, "2 log2(8) + 3 cases");
}

#[test]
fn of_a_time_the_larger_is_the_slow_one() {
    let found = found(&searched(&|nodes| has(nodes, "n1"), Better::Lower));
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(finding.node.as_deref(), Some("n1"));
    assert!(finding.text.contains(" 11.11 % above 10 GB/s in "), "{}", finding.text);
}

#[test]
fn a_boundary_and_a_link_are_named_by_their_two_sides() {
    let first = |node: &String| ["n1", "n2", "n3", "n4"].contains(&node.as_str());
    let crosses = move |nodes: &[String]| nodes.iter().any(first) && !nodes.iter().all(first);
    let found_boundary = found(&searched(&crosses, Better::Higher));
    let [finding] = found_boundary.as_slice() else { panic!("{found_boundary:?}") };
    assert_eq!((finding.kind.as_str(), finding.subject.as_str()), ("slow-boundary", "n[1-4]->n[5-8]"));
    assert!(
        finding
            .text
            .starts_with("between n[1-4] and n[5-8] is a slow boundary, each side alone is not slow: ")
    );

    let found_around = found(&searched(
        &|nodes| has(nodes, "n1") != has(nodes, "n2") || has(nodes, "n1") && nodes.len() > 2,
        Better::Higher,
    ));
    let [finding] = found_around.as_slice() else { panic!("{found_around:?}") };
    assert_eq!((finding.kind.as_str(), finding.subject.as_str()), ("slow-boundary", "n[1-2]->others"));

    let found_link = found(&searched(&|nodes| has(nodes, "n2") && has(nodes, "n7"), Better::Higher));
    let [finding] = found_link.as_slice() else { panic!("{found_link:?}") };
    assert_eq!((finding.kind.as_str(), finding.subject.as_str()), ("slow-link", "n2->n7"));
}

#[test]
fn what_to_do_has_the_address_of_a_node_of_the_other_side_or_its_name() {
    let first = |node: &String| ["n1", "n2", "n3", "n4"].contains(&node.as_str());
    let crosses = move |nodes: &[String]| nodes.iter().any(first) && !nodes.iter().all(first);
    let action = |is_slow: &dyn Fn(&[String]) -> bool, is_recorded: bool| {
        let mut records = searched(is_slow, Better::Higher);
        for case in records.iter_mut().filter(|_| is_recorded) {
            let address = |node: &String| {
                let number: u8 = node[1..].parse().expect("a number");
                (node.clone(), std::net::IpAddr::from([10, 77, 0, number]))
            };
            Addresses(case.nodes.iter().map(address).collect()).put(&mut case.evidence);
        }
        found(&records)[0].remedy.clone().expect("something to do").action.into_owned()
    };
    let link = |nodes: &[String]| has(nodes, "n2") && has(nodes, "n7");
    assert!(action(&link, true).contains(": `ip route get 10.77.0.7` on n2, `"), "{}", action(&link, true));
    let by_name = "`ip route get $(getent ahosts n7 | awk '{print $1; exit}')` on n2";
    assert!(action(&link, false).contains(by_name), "{}", action(&link, false));
    assert!(action(&crosses, true).ends_with("`tracepath 10.77.0.5` on n1"), "{}", action(&crosses, true));
    assert!(action(&crosses, false).ends_with("`tracepath n5` on n1"));
    let around =
        |nodes: &[String]| has(nodes, "n1") != has(nodes, "n2") || has(nodes, "n1") && nodes.len() > 2;
    assert!(action(&around, true).ends_with("`tracepath 10.77.0.3` on n1"), "{}", action(&around, true));
}

#[test]
fn without_a_fault_the_finding_says_what_would_have_been_seen() {
    let records = searched(&|_| false, Better::Higher);
    let found_nothing = found(&records);
    let [finding] = found_nothing.as_slice() else { panic!("{found_nothing:?}") };
    assert_eq!((finding.kind.as_str(), finding.severity, records.len()), ("no-slow-part", Severity::Info, 7));
    let text = "6 groups of up to 4 nodes differ in slowest_node by no more than noise explains; 3 % more would have been seen";
    assert_eq!(finding.text, text);

    let together = found(&searched(&|nodes| nodes.len() == 8, Better::Higher));
    let [finding] = together.as_slice() else { panic!("{together:?}") };
    assert_eq!(finding.severity, Severity::Warning);
    assert!(
        finding.text.starts_with("all 8 nodes together are 10 % slower than groups of 4"),
        "{}",
        finding.text
    );
}

#[test]
fn a_search_that_is_not_over_names_nobody_and_the_order_of_records_does_not_matter() {
    let mut records = searched(&|nodes| has(nodes, "n6"), Better::Higher);
    let whole = found(&records);
    records.reverse();
    assert_eq!(found(&records), whole);
    records.retain(|case| case.origin.step != Some(4));
    assert_eq!(found(&records), []);
    records.retain(|case| case.origin.step < Some(4));
    assert_eq!(bisections(&records)[0].steps().len(), 1);
}

#[test]
fn the_nodes_that_the_whole_names_are_confirmed_first() {
    let slow = |nodes: &[String]| has(nodes, "n6");
    let mut records = searched(&slow, Better::Higher);
    records.truncate(1);
    let rows = (1..=8).map(|at| {
        let value = if at == 6 { 9.0 } else { 10.0 };
        let at = [("node".to_owned(), format!("n{at}").as_str().into())].into_iter().collect();
        seatrial_model::record::SeriesRow { at, summary: crate::judge::fixture::summary(value, None) }
    });
    let axis = seatrial_model::record::Axis { name: "node".to_owned(), unit: Unit::Count };
    let series = seatrial_model::record::SeriesRecord {
        unit: Unit::GigabytesPerSecond,
        better: Better::Higher,
        axes: vec![axis],
        rows: rows.collect(),
        column: None,
    };
    records[0].series.insert("by_node".to_owned(), series);
    let halves = bisections(&records)[0].steps();
    assert_eq!(halves[0][0], ["n1", "n2", "n3", "n6"], "the suspect and the first others");
    records.extend(halves[0].iter().map(|nodes| group(nodes, Some(1), &slow, Better::Higher)));
    let next = bisections(&records)[0].steps();
    assert_eq!(next[0][0].iter().filter(|node| ["n1", "n2", "n3"].contains(&node.as_str())).count(), 0);
}

#[test]
fn a_group_that_lost_a_node_is_measured_without_it() {
    let mut records = searched(&|nodes| has(nodes, "n6"), Better::Higher);
    records.truncate(3);
    let mut lost = group(&["n1", "n2", "n5", "n6"].map(str::to_owned), Some(2), &|_| true, Better::Higher);
    lost.lost = vec!["n5".to_owned()];
    lost.metrics.clear();
    lost.outcome = seatrial_model::Outcome::Failed;
    records.push(lost);
    let steps = bisections(&records)[0].steps();
    assert!(!steps.is_empty() && steps.concat().concat().iter().all(|node| node != "n5"), "{steps:?}");
}
