//! A defect of a plan, a benchmark or an agent costs its own case, and neither the run nor later cases.

use std::sync::LazyLock;

use seatrial_bench::{Benchmark, Registry};

use super::*;
use crate::{NothingJudged, TimeBudget};

fn real() -> &'static Benchmark {
    seatrial_registry::REGISTRY.find("net.rr").expect("shipped")
}

/// `net.rr`, whose numbers or limits panic where the case belongs to a group of that name.
static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let benchmark = Benchmark {
        plan: |_, params, site| {
            assert_ne!(params.get("trials"), Some(&seatrial_model::Value::Count(7)), "seven trials");
            real().plan(params, site)
        },
        limits: |_, case, site| {
            assert_ne!(case.group, "limits", "no limit");
            real().limits(case, site)
        },
        reduce: |case, parts| {
            assert_ne!(case.group, "reduce", "{} parts are too many", parts.len());
            real().reduce(case, parts)
        },
        ..*real()
    };
    let family: &[Benchmark] = vec![benchmark].leak();
    Registry { families: vec![family].leak(), planned: &[], aliases: &[] }
});

fn run_on(registry: Registry, site: &Site, fleet: &mut dyn Fleet, cases: Vec<Case>) -> Finished {
    let mut watch = |_: Event| Ok(());
    Runner {
        budget: TimeBudget::new(&cases, None, &NothingJudged),
        ..Runner::new(registry, site, fleet, &mut watch)
    }
    .run(Study::new(cases), Vec::new())
    .expect("runs")
}

fn measured(site: &Site, cases: Vec<Case>) -> BTreeMap<String, (Outcome, Option<Cause>, String)> {
    let mut fleet = ScriptedFleet::new(site.nodes.clone(), |_, _, _| steady());
    let finished = run_on(*REGISTRY, site, &mut fleet, cases);
    let line = |record: CaseRecord| {
        (record.group, (record.outcome, record.cause, record.reason.unwrap_or_default()))
    };
    finished.records.into_iter().map(line).collect()
}

fn groups(site: &Site, names: &[&str]) -> Vec<Case> {
    let case = plan(site, "alone", "2", "2").remove(0);
    names.iter().map(|name| case.clone().in_group(real().about, name)).collect()
}

#[test]
fn a_benchmark_that_this_build_lacks_is_recorded_and_what_comes_after_it_is_measured() {
    let site = site(1);
    let mut cases = groups(&site, &["first", "gone", "last"]);
    cases[1].bench = "net.gone".to_owned();
    let records = measured(&site, cases);
    assert_eq!(records.len(), 3, "{records:?}");
    assert_eq!((records["first"].0, records["last"].0), (Outcome::Measured, Outcome::Measured));
    let gone = (Outcome::Unmeasured, Some(Cause::Missing), "this build has no benchmark net.gone".to_owned());
    assert_eq!(records["gone"], gone);
}

#[test]
fn a_panic_over_the_samples_of_a_case_ends_that_case_with_its_text() {
    let site = site(1);
    let records = measured(&site, groups(&site, &["first", "reduce", "limits", "last"]));
    assert_eq!((records["first"].0, records["last"].0), (Outcome::Measured, Outcome::Measured));
    for (group, text) in [("reduce", "parts are too many"), ("limits", "no limit")] {
        let (outcome, cause, reason) = &records[group];
        assert_eq!((*outcome, *cause), (Outcome::Unmeasured, Some(Cause::Protocol)), "{group}");
        assert!(reason.contains("panicked") && reason.contains(text), "{reason}");
    }
}

#[test]
fn a_panic_of_a_plan_leaves_that_test_out() {
    let site = site(1);
    let mut test = test("alone", "7", "7");
    let plan = Plan::new(&[test.clone()], &REGISTRY, PlanInputs::of(&site)).expect("a plan");
    assert!(plan.cases.is_empty());
    let [(_, reason)] = plan.settled.as_slice() else { panic!("{:?}", plan.settled) };
    assert!(reason.text.contains("planning its cases panicked") && reason.text.contains("seven trials"));
    test.params.insert("trials".to_owned(), vec!["2".to_owned()]);
    assert_eq!(Plan::new(&[test], &REGISTRY, PlanInputs::of(&site)).expect("a plan").cases.len(), 1);
}

/// Agents of which one answers without pause: every wait ends after a millisecond.
struct Chatty(ScriptedFleet, u32);

impl Fleet for Chatty {
    fn agents(&self) -> &[Hello] {
        self.0.agents()
    }

    fn send(&mut self, node: NodeIndex, command: Command) {
        self.0.send(node, command);
    }

    fn next(&mut self, deadline: Nanos) -> FleetEvent {
        self.1 += 1;
        assert!(self.1 < 1_000_000, "nobody looks at the deadlines");
        match self.0.next(deadline.min(self.now().plus(Nanos::millis(1)))) {
            FleetEvent::Quiet => {
                let pong = Report::Pong { round: 0, clock: Nanos(0), time_of_day: Nanos(0) };
                FleetEvent::From(NodeIndex(0), pong)
            }
            notice => notice,
        }
    }

    fn now(&self) -> Nanos {
        self.0.now()
    }
}

#[test]
fn a_case_that_hangs_ends_at_its_deadline_though_another_agent_never_ceases_to_talk() {
    let site = site(2);
    let cases = plan(&site, "pair", "1", "1");
    let hangs = || Script { fault: Some(Fault::Hangs { phase: Phase::Measure }), ..steady() };
    let mut fleet = Chatty(ScriptedFleet::new(site.nodes.clone(), move |_, _, _| hangs()), 0);
    let finished = run_on(seatrial_registry::REGISTRY, &site, &mut fleet, cases);
    assert_eq!(finished.records[0].cause, Some(Cause::Hang));
}

/// Agents, and the number of their running workers.
struct Counting(ScriptedFleet, usize);

impl Fleet for Counting {
    fn agents(&self) -> &[Hello] {
        self.0.agents()
    }

    fn send(&mut self, node: NodeIndex, command: Command) {
        self.1 += usize::from(matches!(command, Command::Spawn { .. }));
        self.0.send(node, command);
    }

    fn next(&mut self, deadline: Nanos) -> FleetEvent {
        let event = self.0.next(deadline);
        self.1 -= usize::from(matches!(event, FleetEvent::From(_, Report::Ended { .. })));
        event
    }

    fn now(&self) -> Nanos {
        self.0.now()
    }
}

#[test]
fn an_event_that_cannot_be_kept_while_cases_start_ends_the_run_after_the_workers_that_run_were_killed() {
    let site = site(4);
    let cases = plan(&site, "pair", "1", "1");
    let mut fleet = Counting(ScriptedFleet::new(site.nodes.clone(), |_, _, _| steady()), 0);
    let mut started = 0;
    let mut watch = |event: Event| {
        started += usize::from(matches!(event, Event::CaseStarted { .. }));
        if started == 2 { Err("no space left on device".into()) } else { Ok(()) }
    };
    let mut runner = Runner::new(seatrial_registry::REGISTRY, &site, &mut fleet, &mut watch);
    assert!(runner.run(Study::new(cases), Vec::new()).is_err());
    assert_eq!(fleet.1, 0, "workers still run");
    assert_eq!(started, 2);
}
