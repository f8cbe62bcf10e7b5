//! Cases that run at the same time, on scripted nodes whose clock moves only when somebody waits.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::atomic::Ordering;

use seatrial_cluster::{Command, Fault, FleetEvent, Hello, NodeIndex, Report, Script, ScriptedFleet};
use seatrial_model::profile::Test;
use seatrial_model::setting::SettingBlock;
use seatrial_model::{CaseId, Cause, FactorCase, Nanos, Outcome, Phase, Quantity, Sample};
use serde_json::{Value, json};

use super::*;

mod defects;
mod groups;
mod time;

use crate::fixture::{plan, round_trips, site, steady, test};
use crate::{Plan, PlanInputs};

/// The events in order: the case's first node with its step, and the trial and phase or the outcome.
type Story = Vec<(String, String)>;

struct Ran {
    records: Vec<CaseRecord>,
    story: Story,
}

impl Ran {
    fn by_nodes(&self) -> BTreeMap<String, &CaseRecord> {
        self.records.iter().map(|record| (record.nodes.join("+"), record)).collect()
    }

    fn together(&self, nodes: &str) -> Value {
        self.by_nodes()[nodes].evidence.get("together").cloned().unwrap_or_default()
    }

    /// The positions in the story where this happened to all cases of `of`: first and last.
    fn span(&self, of: &[&str], what: &str) -> (usize, usize) {
        let at: Vec<usize> = self
            .story
            .iter()
            .enumerate()
            .filter(|(_, (case, said))| of.contains(&case.as_str()) && said == what)
            .map(|(at, _)| at)
            .collect();
        assert_eq!(at.len(), of.len(), "{what}: {:?}", self.story);
        (at[0], at[at.len() - 1])
    }
}

fn run(
    site: &Site,
    cases: Vec<Case>,
    author: impl Fn(&Case, &seatrial_model::PartPlacement, u32) -> Script + 'static,
) -> Ran {
    let mut fleet = ScriptedFleet::new(site.nodes.clone(), author);
    let story: Rc<RefCell<Story>> = Rc::default();
    let names: BTreeMap<CaseId, String> = cases
        .iter()
        .map(|case| {
            let step = case.origin.step.map_or(String::new(), |step| format!("#{step}"));
            (case.id.clone(), format!("{}{step}", case.nodes.join("+")))
        })
        .collect();
    let told = Rc::clone(&story);
    let mut watch = move |event: Event| {
        let (case, what) = match &event {
            Event::CaseStarted { case } => (case, "starts".to_owned()),
            Event::PhaseEntered { case, trial, phase } => (case, format!("{trial} {}", phase.word())),
            Event::CaseEnded { record } => (&record.case, "ends".to_owned()),
            Event::RoundPlanned { .. } | Event::TrialEnded { .. } | Event::Note { .. } => return Ok(()),
        };
        told.borrow_mut().push((names[case].clone(), what));
        Ok(())
    };
    let finished = Runner::new(seatrial_registry::REGISTRY, site, &mut fleet, &mut watch)
        .run(Study::new(cases), Vec::new())
        .expect("runs");
    let story = story.borrow().clone();
    Ran { records: finished.records, story }
}

#[test]
fn what_an_earlier_part_left_set_is_taken_back_though_no_case_is_open() {
    let site = site(1);
    let resumed = |block: Option<SettingBlock>| {
        let mut cases = plan(&site, "alone", "1", "1");
        let factor = FactorCase::BASELINE.to_owned();
        let study = FactorCase {
            factor,
            crossed: Vec::new(),
            repeat: 1,
            seed: 1,
            metric: "round_trip".to_owned(),
            block,
        };
        cases[0].origin.study = Some(study);
        let done = cases.iter().map(CaseRecord::measured).collect();
        let mut fleet = ScriptedFleet::new(site.nodes.clone(), |_, _, _| steady());
        let mut watch = |_: Event| Ok(());
        let mut runner = Runner::new(seatrial_registry::REGISTRY, &site, &mut fleet, &mut watch);
        runner.run(Study::new(cases), done).expect("runs").not_restored
    };
    assert_eq!(resumed(None), Vec::<String>::new());
    // Simulated nodes do not answer the order.
    let block = SettingBlock { setting: "nic.mtu=9000".to_owned(), changes: Vec::new(), place: 4 };
    let told = resumed(Some(block));
    assert!(told.len() == 1 && told[0].contains("settings of n1 may not be as before"), "{told:?}");
}

#[test]
fn the_steps_of_a_trunk_follow_each_other_and_the_cases_of_one_measure_at_one_moment() {
    let site = site(6);
    let ran = run(&site, plan(&site, "trunk", "2", "2"), |_, _, _| steady());
    assert!(ran.records.iter().all(|record| record.outcome == Outcome::Measured));
    let steps: [&[&str]; 3] = [&["n1+n4#1"], &["n1+n4#2", "n2+n5#2"], &["n1+n4#3", "n2+n5#3", "n3+n6#3"]];
    let mut before = 0;
    for step in steps {
        let (starts, _) = ran.span(step, "starts");
        assert!(starts >= before);
        for trial in 0..2 {
            // No case warms up before all are connected, and none measures before all are warm.
            let (_, connected) = ran.span(step, &format!("{trial} connect"));
            let (warm, all_warm) = ran.span(step, &format!("{trial} warm-up"));
            let (measure, all_measure) = ran.span(step, &format!("{trial} measure"));
            assert!(connected < warm && all_warm < measure);
            assert_eq!(all_measure - measure + 1, step.len(), "nothing comes between them");
        }
        before = ran.span(step, "ends").1;
    }
    let cases: Vec<Value> =
        ran.records.iter().map(|record| record.evidence["together"]["cases"].clone()).collect();
    let expected: Vec<Value> = [1, 2, 2, 3, 3, 3].into_iter().map(|count| json!([count, count])).collect();
    assert_eq!(cases, expected);
}

#[test]
fn all_make_as_many_trials_as_the_one_that_needs_most() {
    let site = site(4);
    let ran = run(&site, plan(&site, "bisection", "2", "4"), |case, _, trial| match case.nodes[0].as_str() {
        "n1" => round_trips([5000 + 4000 * u64::from(trial); 6]),
        _ => steady(),
    });
    for nodes in ["n1+n3", "n2+n4"] {
        let metric = &ran.by_nodes()[nodes].metrics["round_trip"];
        assert_eq!(metric.trials, 4, "{nodes}");
        assert_eq!(ran.together(nodes)["cases"], json!([2, 2, 2, 2]));
    }
}

#[test]
fn what_disturbs_one_is_repeated_by_all() {
    let site = site(4);
    let ran = run(&site, plan(&site, "bisection", "2", "2"), |case, place, trial| {
        let mut script = steady();
        if case.nodes[0] == "n2" && place.index == 0 && trial == 1 {
            let stolen = json!({ "steal": { "counts": { "steal_ns": 900 } }, "load": { "counts": { "busy_ns": 100, "own_ns": 100 } } });
            script.evidence.insert("probes".to_owned(), stolen);
        }
        script
    });
    for nodes in ["n1+n3", "n2+n4"] {
        let record = ran.by_nodes()[nodes];
        assert_eq!(record.evidence["repeated_trials"], json!(1), "{nodes}");
        assert_eq!(record.metrics["round_trip"].trials, 2, "{nodes}");
        ran.span(&[&format!("{nodes}#1")], "2 measure");
    }
}

#[test]
fn one_that_fails_leaves_and_the_record_says_that_the_others_were_fewer() {
    let site = site(6);
    for phase in [Phase::Prepare, Phase::WarmUp, Phase::Measure] {
        let ran = run(&site, plan(&site, "bisection", "2", "2"), move |case, place, trial| {
            let fails = case.nodes[0] == "n2" && place.index == 1 && trial == 1;
            let fault = fails.then_some(Fault::Crashes { phase, signal: 11 });
            Script { fault, ..steady() }
        });
        assert_eq!(ran.by_nodes()["n2+n5"].outcome, Outcome::Failed);
        // A part that began to measure was there.
        let second = if phase == Phase::Measure { 3 } else { 2 };
        for nodes in ["n1+n4", "n3+n6"] {
            assert_eq!(ran.by_nodes()[nodes].outcome, Outcome::Measured);
            assert_eq!(ran.together(nodes)["cases"], json!([3, second]), "{phase:?}");
        }
    }
}

#[test]
fn a_node_that_is_lost_takes_its_own_case_along_and_the_next_step_does_without() {
    let site = site(4);
    let ran = run(&site, plan(&site, "trunk", "1", "1"), |case, place, _| {
        let is_first = case.origin.step == Some(1);
        let why = "the connection ended".to_owned();
        let fault =
            (is_first && place.node == "n1").then_some(Fault::AgentLost { phase: Phase::Measure, why });
        Script { fault, ..steady() }
    });
    let outcomes: BTreeMap<String, Outcome> =
        ran.records.iter().map(|record| (record.case.to_string(), record.outcome)).collect();
    let ids: Vec<&str> = outcomes.keys().map(String::as_str).collect();
    assert_eq!(
        outcomes.values().copied().collect::<Vec<_>>(),
        [Outcome::Failed, Outcome::Unmeasured, Outcome::Measured],
        "{ids:?}"
    );
    assert_eq!(ran.together("n2+n4")["cases"], json!([1]));
}

#[test]
fn what_waits_behind_a_case_of_a_lost_node_is_measured() {
    let site = site(2);
    let mut cases = plan(&site, "alone", "1", "1");
    cases.push(plan(&site, "pair", "1", "1").remove(0));
    cases.extend(plan(&site, "alone", "2", "2"));
    let ran = run(&site, cases, |_, place, _| {
        let why = "the connection ended".to_owned();
        let fault = (place.node == "n1").then_some(Fault::AgentLost { phase: Phase::Measure, why });
        Script { fault, ..steady() }
    });
    let own: Vec<_> = ran.records.iter().filter(|record| record.nodes == ["n2"]).collect();
    assert_eq!(own.len(), 2);
    assert!(own.iter().all(|record| record.outcome == Outcome::Measured), "{own:?}");
}

#[test]
fn a_case_that_waits_between_two_trials_for_another_is_lost_with_its_node_and_starts_no_trial() {
    let site = site(3);
    let mut cases = plan(&site, "incast", "2", "2");
    let nodes: Vec<String> = cases.iter().map(|case| case.nodes.join("+")).collect();
    cases[1].budget.measure = cases[0].budget.measure.plus(Nanos::secs(10));
    let slow = cases[1].id.clone();
    let ran = run(&site, cases, move |case, place, _| {
        let is_last = case.id == slow && place.node == "n1";
        let why = "the connection ended".to_owned();
        Script { fault: is_last.then_some(Fault::AgentLost { phase: Phase::Verify, why }), ..steady() }
    });
    let records = ran.by_nodes();
    let reasons: Vec<&str> =
        nodes.iter().map(|nodes| records[nodes].reason.as_deref().unwrap_or_default()).collect();
    assert_eq!(reasons[0], "the agent of n1 was lost between two trials: the connection ended");
    assert!(reasons[1].ends_with("on n1 was lost: the connection ended"), "{reasons:?}");
    assert!(ran.records.iter().all(|record| record.cause == Some(Cause::Vanished) && record.lost == ["n1"]));
    assert!(ran.story.iter().all(|(_, what)| !what.starts_with('1')), "{:?}", ran.story);
}

#[test]
fn other_patterns_say_nothing_of_concurrent_cases() {
    let site = site(4);
    let ran = run(&site, plan(&site, "pair", "1", "1"), |_, _, _| steady());
    assert!(ran.records.iter().all(|record| !record.evidence.contains_key("together")));
    let ended: BTreeSet<_> = ran.records.iter().map(|record| record.nodes.join("+")).collect();
    assert_eq!(ended, BTreeSet::from(["n1+n2".to_owned(), "n3+n4".to_owned()]));
}

/// Agents that never report how a worker ended, and a user who stops the run after an hour.
struct Mute<'a>(ScriptedFleet, &'a AtomicBool);

const HOUR: Nanos = Nanos::secs(3600);

impl Fleet for Mute<'_> {
    fn agents(&self) -> &[Hello] {
        self.0.agents()
    }

    fn send(&mut self, node: NodeIndex, command: Command) {
        self.0.send(node, command);
    }

    fn next(&mut self, deadline: Nanos) -> FleetEvent {
        let is_stopped = self.1.load(Ordering::Relaxed);
        loop {
            let notice = self.0.next(if is_stopped { deadline } else { deadline.min(HOUR) });
            self.1.store(self.now() >= HOUR, Ordering::Relaxed);
            if !matches!(notice, FleetEvent::From(_, Report::Ended { .. })) {
                return notice;
            }
        }
    }

    fn now(&self) -> Nanos {
        self.0.now()
    }
}

#[test]
fn a_run_that_is_stopped_waits_for_agents_that_say_nothing_no_longer_than_for_a_kill() {
    let site = site(2);
    let mut cases = plan(&site, "bisection", "2", "2");
    cases.iter_mut().for_each(|case| case.budget.measure = Nanos::secs(36_000));
    let hangs = || Script { fault: Some(Fault::Hangs { phase: Phase::Measure }), ..steady() };
    let cancel = AtomicBool::new(false);
    let mut fleet = Mute(ScriptedFleet::new(site.nodes.clone(), move |_, _, _| hangs()), &cancel);
    let mut watch = |_: Event| Ok(());
    let mut runner =
        Runner { cancel: &cancel, ..Runner::new(seatrial_registry::REGISTRY, &site, &mut fleet, &mut watch) };
    let finished = runner.run(Study::new(cases), Vec::new()).expect("runs");
    assert!(finished.cancelled && finished.records.is_empty(), "{finished:?}");
    let waited = fleet.now().since(HOUR);
    assert!(waited < Nanos::secs(60), "{waited:?}");
}
