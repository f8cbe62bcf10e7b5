//! Slow nodes are looked at again, on scripted nodes whose clock moves only when somebody waits.

use seatrial_cluster::ScriptedFleet;

use super::*;
use crate::Study;
use crate::fixture::{self, Ran, round_trips, site};

fn plan(site: &Site) -> Vec<Case> {
    fixture::plan(site, "matchings", "1", "1")
}

/// A node is suspect when every pair of it took longer than 10 us.
fn slow(records: &[CaseRecord]) -> Vec<Suspect> {
    assert!(records.iter().all(|record| record.origin.suspect.is_none()));
    let nodes: BTreeSet<&String> = records.iter().flat_map(|record| &record.nodes).collect();
    let mut found = Vec::new();
    for node in nodes {
        let own = || records.iter().filter(|record| record.nodes.contains(node));
        if own().all(|record| record.metrics["round_trip"].median > 10.0) {
            let case = own().map(|record| record.case.clone()).min().expect("a case");
            found.push(Suspect { node: node.clone(), case });
        }
    }
    found
}

/// The suspects that were measured again, each with its partner.
fn again(ran: &Ran) -> Vec<(String, String)> {
    let pair = |case: &Case| {
        let suspect = case.origin.suspect.clone().expect("a suspect");
        let other = case.nodes.iter().find(|node| **node != suspect).expect("a partner");
        (suspect, other.clone())
    };
    ran.rounds.get(1).into_iter().flatten().map(pair).collect()
}

fn run(site: &Site, cases: Vec<Case>, done: Vec<CaseRecord>, bad: &'static [&'static str]) -> Ran {
    let fleet = ScriptedFleet::new(site.nodes.clone(), move |case, _, _| {
        let is_slow = case.nodes.iter().any(|node| bad.contains(&node.as_str()));
        round_trips([if is_slow { 12_000 } else { 9_000 }; 6])
    });
    let registry = seatrial_registry::REGISTRY;
    let study = Study::new(cases.clone()).then(Suspects::new(&cases, registry, site, &slow));
    fixture::run(registry, site, fleet, study, done)
}

#[test]
fn a_slow_node_is_measured_again_with_two_good_partners_that_are_new_to_it() {
    let site = site(10);
    let cases = plan(&site);
    let before: Vec<&String> = cases
        .iter()
        .filter(|case| case.nodes.contains(&"n4".to_owned()))
        .flat_map(|case| case.nodes.iter().filter(|node| *node != "n4"))
        .collect();
    assert_eq!(before.len(), 3);
    let ran = run(&site, cases.clone(), Vec::new(), &["n4"]);
    let again = again(&ran);
    assert_eq!(again.len(), 2, "{again:?}");
    assert!(again.iter().all(|(suspect, other)| suspect == "n4" && !before.contains(&other)), "{again:?}");
    assert_ne!(again[0].1, again[1].1);
    assert_eq!(ran.notes, ["n4 was slow and is measured again with partners that were good"]);
    assert_eq!(ran.records.len(), 15 + 2);
}

#[test]
fn suspects_are_not_measured_with_each_other() {
    let site = site(10);
    let ran = run(&site, plan(&site), Vec::new(), &["n4", "n7"]);
    let again = again(&ran);
    assert_eq!(again.len(), 4, "{again:?}");
    assert!(again.iter().all(|(_, other)| other != "n4" && other != "n7"), "{again:?}");
    assert_eq!(ran.notes, ["n[4,7] were slow and are measured again with partners that were good"]);
}

#[test]
fn without_suspects_it_ends_after_the_rounds() {
    let site = site(10);
    let ran = run(&site, plan(&site), Vec::new(), &[]);
    assert_eq!((ran.rounds.len(), ran.records.len(), ran.notes.len()), (1, 15, 0));
}

#[test]
fn where_everybody_was_a_partner_already_nothing_is_measured_twice() {
    let site = site(4);
    let ran = run(&site, plan(&site), Vec::new(), &["n4"]);
    assert_eq!((ran.rounds.len(), ran.records.len()), (1, 6));
}

#[test]
fn a_resumed_run_looks_again_once() {
    let site = site(10);
    let cases = plan(&site);
    let whole = run(&site, cases.clone(), Vec::new(), &["n4"]);
    let ids =
        |records: &[CaseRecord]| records.iter().map(|record| record.case.clone()).collect::<BTreeSet<_>>();
    // Killed before the suspects were known, and after one of the two was measured again.
    for left in [15, 16] {
        let mut planned = cases.clone();
        planned.extend(whole.rounds[1].iter().filter(|_| left == 16).cloned());
        let resumed = run(&site, planned, whole.records[..left].to_vec(), &["n4"]);
        assert_eq!(ids(&resumed.records), ids(&whole.records));
        assert_eq!(resumed.rounds.iter().flatten().count(), 17 - left);
    }
}
