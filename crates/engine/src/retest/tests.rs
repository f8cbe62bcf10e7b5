//! Partners are lost on scripted nodes, whose clock moves only when somebody waits.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use seatrial_cluster::{Fault, Script, ScriptedFleet};
use seatrial_model::machine::Known;
use seatrial_model::{Event, Outcome, Phase};

use super::*;
use crate::{Finished, Plan, PlanInputs, Runner, Study, fixture};

/// Nodes `n1` and on, `shared` of which run on one kernel each time.
fn site(count: usize, shared: usize) -> Site {
    let mut site = fixture::site(count);
    for (at, node) in site.nodes.iter_mut().enumerate() {
        node.machine.boot_id = Known::Known(format!("boot {}", at / shared));
    }
    site
}

fn plan(site: &Site, pattern: &str) -> Vec<Case> {
    fixture::plan(site, pattern, "1", "1")
}

/// The lost node, and the nodes of the case in which it is lost, `n1+n2`.
type Losses = Vec<(String, String)>;

fn losses(pairs: &[(&str, &str)]) -> Losses {
    pairs.iter().map(|(node, case)| ((*node).to_owned(), (*case).to_owned())).collect()
}

/// A run with its events.
struct Ran {
    finished: Finished,
    notes: Vec<String>,
    rounds: Vec<Vec<Case>>,
}

impl Ran {
    /// Outcome, lost nodes and the case that was retried, by the nodes of the case.
    fn by_nodes(&self) -> BTreeMap<String, (Outcome, String, bool)> {
        let row = |record: &CaseRecord| {
            (record.nodes.join("+"), (record.outcome, record.lost.join("+"), record.retry_of.is_some()))
        };
        self.finished.records.iter().map(row).collect()
    }
}

fn run_from(site: &Site, cases: Vec<Case>, done: Vec<CaseRecord>, sides: Sides, losses: Losses) -> Ran {
    let mut fleet = ScriptedFleet::new(site.nodes.clone(), move |case, place, _| {
        let is_lost =
            |(node, nodes): &(String, String)| *node == place.node && *nodes == case.nodes.join("+");
        let fault = losses
            .iter()
            .any(is_lost)
            .then(|| Fault::AgentLost { phase: Phase::Measure, why: "the connection ended".to_owned() });
        Script { fault, ..fixture::steady() }
    });
    let (mut notes, mut rounds) = (Vec::new(), Vec::new());
    let hosts: BTreeMap<String, String> = site
        .nodes
        .iter()
        .map(|node| (node.name.clone(), node.machine.boot_id.known().cloned().unwrap_or_default()))
        .collect();
    let mut running: Vec<(CaseId, BTreeSet<String>)> = Vec::new();
    let mut watch = |event: Event| {
        match event {
            Event::Note { text, .. } => notes.push(text),
            Event::RoundPlanned { cases, .. } => rounds.push(cases),
            Event::CaseStarted { case } => {
                let all: Vec<&Case> = rounds.iter().flatten().collect();
                let nodes = all.iter().find(|known| known.id == case).map(|case| &case.nodes);
                let own: BTreeSet<String> =
                    nodes.into_iter().flatten().map(|node| hosts[node].clone()).collect();
                let clash = running.iter().find(|(_, busy)| !busy.is_disjoint(&own));
                assert!(clash.is_none(), "{case} overlaps {clash:?}");
                running.push((case, own));
            }
            Event::CaseEnded { record } => running.retain(|(case, _)| *case != record.case),
            Event::PhaseEntered { .. } | Event::TrialEnded { .. } => {}
        }
        Ok(())
    };
    let registry = seatrial_registry::REGISTRY;
    let sides = move |_: &str| sides;
    let study = Study::new(cases.clone()).then(Retest::new(&cases, registry, site, &sides));
    let mut runner = Runner::new(registry, site, &mut fleet, &mut watch);
    let finished = runner.run(study, done).expect("runs");
    Ran { finished, notes, rounds }
}

fn run(count: usize, pattern: &str, sides: Sides, lost: &[(&str, &str)]) -> Ran {
    let site = site(count, 1);
    let cases = plan(&site, pattern);
    run_from(&site, cases, Vec::new(), sides, losses(lost))
}

fn is(outcome: Outcome, lost: &str, retry: bool) -> (Outcome, String, bool) {
    (outcome, lost.to_owned(), retry)
}

#[test]
fn a_node_that_vanishes_fails_and_its_partner_is_measured_with_one_that_is_good() {
    let ran = run(6, "pair", Sides::Both, &[("n2", "n1+n2")]);
    let found = ran.by_nodes();
    assert_eq!(found["n1+n2"], is(Outcome::Failed, "n2", false));
    assert_eq!(found["n3+n4"], is(Outcome::Measured, "", false));
    assert_eq!(found["n1+n3"], is(Outcome::Measured, "", true));
    assert_eq!(found.len(), 4);
    let again = ran.finished.records.last().expect("records");
    assert_eq!(again.retry_of.as_ref().map(CaseId::as_str), Some(ran.rounds[0][0].id.as_str()));
    assert_eq!(
        ran.notes,
        [format!("the partner failed in {}: measured again as {}", ran.rounds[0][0].id, again.case)]
    );
}

#[test]
fn the_second_of_a_pair_stays_the_second() {
    let found = run(4, "pair", Sides::Both, &[("n1", "n1+n2")]).by_nodes();
    assert_eq!(found["n3+n2"], is(Outcome::Measured, "", true), "{found:?}");
}

#[test]
fn a_node_lost_while_idle_is_unmeasured_and_its_partner_is_measured_again() {
    // In the ring of four n2 vanishes with n1 before its turn with n3.
    let found = run(4, "ring", Sides::Both, &[("n2", "n1+n2")]).by_nodes();
    assert_eq!(found["n1+n2"], is(Outcome::Failed, "n2", false));
    assert_eq!(found["n2+n3"], is(Outcome::Unmeasured, "n2", false));
    assert_eq!(found["n1+n3"], is(Outcome::Measured, "", true));
    // That is n3's case as well, and n1 and n3 have one each with n4.
    assert_eq!(found.values().filter(|(.., retry)| *retry).count(), 1, "{found:?}");
}

#[test]
fn without_another_partner_the_one_that_is_left_is_unmeasured() {
    let ran = run(2, "pair", Sides::Both, &[("n2", "n1+n2")]);
    let found = ran.by_nodes();
    assert_eq!(found["n1+n2"], is(Outcome::Failed, "n2", false));
    assert_eq!(found["n1"], is(Outcome::Unmeasured, "", true));
    let left = ran.finished.records.last().expect("records");
    assert_eq!(left.cause, Some(Cause::PartnerLost));
    let reason = left.reason.as_deref().unwrap_or_default();
    assert!(
        reason.starts_with("n2 failed in ")
            && reason.contains(", the partner of n1, and ")
            && reason.ends_with("no other partner is left")
    );
}

#[test]
fn where_both_are_gone_nobody_is_left_to_be_measured() {
    let found = run(4, "pair", Sides::Both, &[("n1", "n1+n2"), ("n2", "n1+n2")]).by_nodes();
    assert_eq!(found["n1+n2"].0, Outcome::Failed);
    assert!(found.keys().all(|nodes| nodes != "n1" && nodes != "n2"), "{found:?}");
}

#[test]
fn all_pairs_need_no_retry() {
    let found = run(4, "all-pairs", Sides::Both, &[("n2", "n2+n3")]).by_nodes();
    assert_eq!(found.len(), 6, "{found:?}");
    assert!(found.values().all(|(.., retry)| !retry));
    assert_eq!(found["n2+n3"], is(Outcome::Failed, "n2", false));
}

#[test]
fn a_second_partner_that_is_lost_is_the_last() {
    let ran = run(6, "pair", Sides::Both, &[("n2", "n1+n2"), ("n3", "n1+n3")]);
    let found = ran.by_nodes();
    assert_eq!(found["n1+n3"], is(Outcome::Failed, "n3", true));
    assert_eq!(found["n1"], is(Outcome::Unmeasured, "", true));
    let reason = ran.finished.records.last().and_then(|record| record.reason.clone()).unwrap_or_default();
    assert!(reason.contains("second partner"), "{reason}");
}

#[test]
fn a_mere_partner_is_not_measured_again() {
    let found = run(4, "pair", Sides::First, &[("n1", "n1+n2")]).by_nodes();
    assert_eq!(found.len(), 2, "{found:?}");
    let found = run(4, "pair", Sides::First, &[("n2", "n1+n2")]).by_nodes();
    assert_eq!(found["n1+n3"], is(Outcome::Measured, "", true));
}

#[test]
fn survivors_share_the_work_of_standing_in() {
    let lost = [("n2", "n1+n2"), ("n4", "n3+n4"), ("n6", "n5+n6")];
    let found = run(10, "pair", Sides::Both, &lost).by_nodes();
    let partners: BTreeSet<&str> = found
        .iter()
        .filter(|(_, (.., retry))| *retry)
        .filter_map(|(nodes, _)| nodes.split('+').nth(1))
        .collect();
    assert_eq!(partners, BTreeSet::from(["n7", "n8", "n9"]), "{found:?}");
}

#[test]
fn a_resumed_run_makes_the_same_retry_once() {
    let site = site(6, 1);
    let cases = plan(&site, "pair");
    let whole = run_from(&site, cases.clone(), Vec::new(), Sides::Both, losses(&[("n2", "n1+n2")]));
    let last = whole.finished.records.last().cloned().expect("the retry");
    // Killed before the retry was planned.
    let first: Vec<_> = whole.finished.records.iter().filter(|it| it.retry_of.is_none()).cloned().collect();
    let resumed = run_from(&site, cases.clone(), first.clone(), Sides::Both, Losses::new());
    assert_eq!(resumed.finished.records.last().map(|record| &record.case), Some(&last.case));
    assert_eq!(resumed.rounds.len(), 1);
    // Killed after it was planned.
    let planned: Vec<_> = whole.rounds.iter().flatten().cloned().collect();
    let resumed = run_from(&site, planned.clone(), first, Sides::Both, Losses::new());
    assert_eq!(resumed.finished.records.len(), whole.finished.records.len());
    assert_eq!(resumed.rounds.iter().flatten().count(), 1);
    // Killed at the end.
    let resumed = run_from(&site, planned, whole.finished.records.clone(), Sides::Both, Losses::new());
    assert_eq!((resumed.finished.records, resumed.rounds.len()), (whole.finished.records, 0));
}

#[test]
fn who_was_to_be_measured_with_a_node_that_was_never_reached_is_measured_with_another() {
    let site = site(3, 1);
    let absent = [("n4".to_owned(), "no route".to_owned())];
    let test = fixture::test("pair", "1", "1");
    let inputs = PlanInputs { absent: &absent, ..PlanInputs::of(&site) };
    let plan = Plan::new(std::slice::from_ref(&test), &seatrial_registry::REGISTRY, inputs).expect("a plan");
    let ran = run_from(&site, plan.cases.clone(), plan.records(&absent), Sides::Both, Losses::new());
    let found = ran.by_nodes();
    assert_eq!(found["n3+n4"], is(Outcome::Unmeasured, "n4", false), "{found:?}");
    assert_eq!(found["n3+n1"], is(Outcome::Measured, "", true), "{found:?}");
    assert_eq!(found.len(), 3);
    // n1 has no partner left: a test with a partner has to tell why, a test of both nodes has told it.
    let alone = Site { nodes: site.nodes[..1].to_vec() };
    let absent = [("n2".to_owned(), "no route".to_owned())];
    let inputs = PlanInputs { absent: &absent, ..PlanInputs::of(&alone) };
    let plan = Plan::new(&[test], &seatrial_registry::REGISTRY, inputs).expect("a plan");
    for (sides, count) in [(Sides::Both, 1), (Sides::First, 2)] {
        let ran = run_from(&alone, plan.cases.clone(), plan.records(&absent), sides, Losses::new());
        assert_eq!(ran.finished.records.len(), count, "{sides:?}: {:?}", ran.by_nodes());
    }
}

#[test]
fn nodes_of_one_kernel_are_told_once() {
    let site = site(4, 2);
    let ran = run_from(&site, plan(&site, "ring"), Vec::new(), Sides::Both, Losses::new());
    assert_eq!(ran.notes.len(), 1, "{:?}", ran.notes);
    assert!(ran.notes[0].starts_with("n[1-2] and n[3-4] run on one kernel each"), "{:?}", ran.notes);
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 64,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    /// That cases which share a host do not overlap is asserted while they run.
    #[test]
    fn every_pair_ends_once_and_every_survivor_is_told_of(
        count in 2_usize..9,
        shared in 1_usize..4,
        pattern in prop::sample::select(vec!["pair", "ring", "all-pairs"]),
        picks in prop::collection::vec((0_usize..64, 0_usize..2), 0..4),
    ) {
        let site = site(count, shared);
        let cases = plan(&site, pattern);
        let lost = picks.iter().map(|(case, end)| {
            let case = &cases[case % cases.len()];
            (case.nodes[*end].clone(), case.nodes.join("+"))
        });
        let lost: Losses = lost.collect();
        let ran = run_from(&site, cases.clone(), Vec::new(), Sides::Both, lost);
        let records = &ran.finished.records;
        let ids: BTreeSet<&CaseId> = records.iter().map(|record| &record.case).collect();
        prop_assert_eq!(ids.len(), records.len(), "every case once");
        let retried: Vec<&CaseId> = records.iter().filter_map(|record| record.retry_of.as_ref()).collect();
        prop_assert_eq!(retried.iter().collect::<BTreeSet<_>>().len(), retried.len(), "once a lost case");
        for node in &site.nodes {
            let spoken = records.iter().any(|record| {
                record.nodes.contains(&node.name) && (record.lost.is_empty() || record.lost.contains(&node.name))
            });
            prop_assert!(spoken, "{} is in no record that speaks about it", node.name);
        }
    }
}
