//! Exact events at exact times, and thousands of nodes.

use seatrial_bench::Offer;
use seatrial_model::machine::Machine;
use seatrial_model::{About, Budget, Integrity, Params, Parts, Quantity, Sample, Subject, Unit};

use super::*;
use crate::message::ToWorker;
use crate::scripted::ScriptFile;

const ONE: WorkerId = WorkerId(1);
const NODE: NodeIndex = NodeIndex(0);
const SPAN: Nanos = Nanos::millis(100);

const ABOUT: About = About { id: "toy.part", title: "a toy", parts: Parts::One("toy"), ..About::WORKER };

/// `toy.part@n1/node[size=1]` with a part on each node.
fn case(nodes: &[String]) -> Case {
    let budget = Budget {
        trials: 1,
        max_trials: 1,
        warm_up: SPAN,
        measure: SPAN,
        prepare: SPAN,
        precision_percent: 2.0,
        ..Budget::NOTHING
    };
    let mut params = Params::default();
    params.set("size", 1);
    let place = |(node, index): (&String, u32)| PartPlacement {
        part: "toy".into(),
        index,
        node: node.clone(),
        bindings: vec![],
    };
    let places = nodes.iter().zip(0..).map(place).collect();
    Case { places, ..Case::new(&ABOUT, "n1", Subject::node(), &params, budget) }
}

fn sample(start: u64, end: u64) -> Sample {
    let amount = Quantity::new(3.0, Unit::Gigabyte).expect("finite");
    let (start, end) = (Nanos::millis(start), Nanos::millis(end));
    Sample { channel: "pass".into(), at: Params::default(), start, end, amount }
}

fn fleet(script: Script) -> ScriptedFleet {
    let nodes = ["n1", "n2"].map(|name| SiteNode::new(name, Machine::default()));
    let mut fleet = ScriptedFleet::new(nodes.into(), move |_, _, _| script.clone());
    spawn(&mut fleet, ONE, 0);
    fleet
}

fn spawn(fleet: &mut ScriptedFleet, worker: WorkerId, place: u32) {
    let case = Box::new(case(&["n1".into(), "n2".into()]));
    fleet.send(NodeIndex(place as usize), Command::Spawn { worker, case, place, trial: 0 });
}

fn tell(fleet: &mut ScriptedFleet, message: ToWorker) {
    fleet.send(NODE, Command::Tell { worker: ONE, message });
}

fn said(message: FromWorker) -> FleetEvent {
    FleetEvent::From(NODE, Report::Said { worker: ONE, message })
}

fn until(fleet: &mut ScriptedFleet, deadline: Nanos) -> Vec<(Nanos, FleetEvent)> {
    let notices = std::iter::from_fn(|| match fleet.next(deadline) {
        FleetEvent::Quiet => None,
        notice => Some((fleet.now(), notice)),
    });
    notices.collect()
}

fn how_it_ends(script: Script, first: ToWorker) -> (Nanos, EndKind) {
    let mut fleet = fleet(script);
    tell(&mut fleet, first);
    let last = until(&mut fleet, Nanos::secs(1)).pop();
    let Some((at, FleetEvent::From(NODE, Report::Ended { worker: ONE, end }))) = last else {
        panic!("{last:?}")
    };
    (at, end.how)
}

#[test]
fn a_trial_takes_exactly_its_spans() {
    let mut fleet = fleet(Script { offer: 7.into(), ..Script::of(vec![sample(0, 40), sample(40, 80)]) });
    tell(&mut fleet, ToWorker::Prepare);
    let offer = Offer { part: "toy".into(), index: 0, node: "n1".into(), data: 7.into(), peers: None };
    assert_eq!(until(&mut fleet, Nanos(0)), [(Nanos(0), said(FromWorker::Prepared { offer }))]);
    tell(&mut fleet, ToWorker::Connect { offers: Vec::new().into() });
    tell(&mut fleet, ToWorker::WarmUp { span: SPAN });
    let notices = until(&mut fleet, Nanos::secs(1));
    assert_eq!(notices, [(Nanos(0), said(FromWorker::Connected)), (SPAN, said(FromWorker::WarmedUp))]);
    assert_eq!(fleet.now(), Nanos::secs(1), "a wait for nothing takes until its deadline");
    tell(&mut fleet, ToWorker::Measure { span: SPAN, at: None });
    let end = Nanos::millis(1100);
    let batch = vec![sample(1000, 1040), sample(1040, 1080)];
    let notices = until(&mut fleet, end);
    assert_eq!(notices, [(end, said(FromWorker::Samples { batch })), (end, said(FromWorker::Measured))]);
    tell(&mut fleet, ToWorker::Verify);
    let verified =
        FromWorker::Verified { integrity: Integrity::Verified { checked: 0 }, evidence: Evidence::new() };
    assert_eq!(until(&mut fleet, end), [(end, said(verified))]);
    tell(&mut fleet, ToWorker::Finish);
    let notices = until(&mut fleet, end);
    assert!(
        matches!(&notices[..], [(_, FleetEvent::From(NODE, Report::Ended { worker: ONE, end }))] if end.how == EndKind::Exited { code: 0 })
    );
    tell(&mut fleet, ToWorker::Verify);
    assert_eq!(until(&mut fleet, end), [], "who has ended says nothing");
}

#[test]
fn stop_ends_the_phase_with_what_is_measured_by_then() {
    let mut fleet = fleet(Script::of(vec![sample(0, 40), sample(40, 80)]));
    tell(&mut fleet, ToWorker::Measure { span: SPAN, at: None });
    assert_eq!(fleet.next(Nanos::millis(50)), FleetEvent::Quiet);
    tell(&mut fleet, ToWorker::Stop);
    let now = Nanos::millis(50);
    let batch = vec![sample(0, 40)];
    let notices = until(&mut fleet, Nanos::secs(1));
    assert_eq!(notices, [(now, said(FromWorker::Samples { batch })), (now, said(FromWorker::Measured))]);
    tell(&mut fleet, ToWorker::Stop);
    assert_eq!(until(&mut fleet, Nanos::secs(2)), [], "there is no phase to stop");
}

#[test]
fn the_end_of_a_stopped_phase_does_not_end_the_next_one() {
    let mut fleet = fleet(Script::default());
    tell(&mut fleet, ToWorker::WarmUp { span: SPAN });
    assert_eq!(fleet.next(Nanos::millis(50)), FleetEvent::Quiet);
    tell(&mut fleet, ToWorker::Stop);
    assert_eq!(fleet.next(SPAN), said(FromWorker::WarmedUp));
    tell(&mut fleet, ToWorker::Measure { span: SPAN, at: None });
    assert_eq!(until(&mut fleet, Nanos::secs(1)), [(Nanos::millis(150), said(FromWorker::Measured))]);
}

#[test]
fn faults_end_a_worker_in_their_phase() {
    let phase = Phase::Prepare;
    for (fault, how) in [
        (Fault::Crashes { phase, signal: 11 }, EndKind::Signalled { signal: 11, name: "SIGSEGV".into() }),
        (Fault::Exits { phase, code: 3 }, EndKind::Exited { code: 3 }),
        (
            Fault::Garbles { phase },
            EndKind::Garbled { why: "the frame is not a message: scripted garbage".into() },
        ),
        (Fault::NotStarted { why: "no".into() }, EndKind::NotStarted { why: "no".into() }),
        (Fault::Fails { phase, reason: Reason::new(Cause::Denied, "no") }, EndKind::Exited { code: 1 }),
    ] {
        assert_eq!(how_it_ends(Script::faulty(fault), ToWorker::Prepare), (Nanos(0), how));
    }
    let later = Script::faulty(Fault::Crashes { phase: Phase::Verify, signal: 11 });
    let mut fleet = fleet(later);
    tell(&mut fleet, ToWorker::Prepare);
    assert!(matches!(fleet.next(SPAN), FleetEvent::From(NODE, Report::Said { .. })), "its time has not come");
}

#[test]
fn who_hangs_answers_nothing_until_killed() {
    let (phase, sigterm) = (Phase::Measure, EndKind::Signalled { signal: 15, name: "SIGTERM".into() });
    for (fault, delay, how) in [
        (Fault::Hangs { phase }, Nanos(0), sigterm),
        (Fault::Sticks { phase }, Nanos::millis(2500), EndKind::Abandoned),
    ] {
        let mut fleet = fleet(Script::faulty(fault));
        tell(&mut fleet, ToWorker::Measure { span: SPAN, at: None });
        tell(&mut fleet, ToWorker::Stop);
        assert_eq!(until(&mut fleet, Nanos::secs(60)), []);
        fleet.send(NODE, Command::Kill { worker: ONE });
        fleet.send(NODE, Command::Kill { worker: ONE });
        let notices = until(&mut fleet, Nanos::secs(90));
        let [(at, FleetEvent::From(NODE, Report::Ended { end, .. }))] = &notices[..] else {
            panic!("{notices:?}")
        };
        assert_eq!((*at, &end.how), (Nanos::secs(60).plus(delay), &how));
        assert!(end.evidence.contains_key("when_killed"));
    }
}

#[test]
fn a_lost_node_takes_its_workers_along_and_no_other() {
    let lost = Fault::AgentLost { phase: Phase::Measure, why: "power".into() };
    let mut fleet = fleet(Script::faulty(lost));
    spawn(&mut fleet, WorkerId(2), 1);
    tell(&mut fleet, ToWorker::Measure { span: SPAN, at: None });
    fleet.send(NODE, Command::Kill { worker: ONE });
    assert_eq!(until(&mut fleet, SPAN), [(Nanos(0), FleetEvent::Lost(NODE, "power".into()))]);
    tell(&mut fleet, ToWorker::Prepare);
    assert_eq!(until(&mut fleet, SPAN), []);
    fleet.send(NodeIndex(1), Command::Tell { worker: WorkerId(2), message: ToWorker::Prepare });
    assert!(matches!(
        fleet.next(SPAN),
        FleetEvent::From(NodeIndex(1), Report::Said { worker: WorkerId(2), .. })
    ));
}

#[test]
fn a_part_on_the_wrong_node_fails() {
    let mut fleet = fleet(Script::default());
    let case = Box::new(case(&["n1".into(), "n2".into()]));
    fleet.send(NODE, Command::Spawn { worker: WorkerId(2), case, place: 1, trial: 0 });
    fleet.send(NODE, Command::Tell { worker: WorkerId(2), message: ToWorker::Prepare });
    let notice = fleet.next(SPAN);
    let FleetEvent::From(_, Report::Said { message: FromWorker::Failed { reason }, .. }) = &notice else {
        panic!("{notice:?}")
    };
    assert_eq!(reason.text, "the part for n2 was started on n1");
}

#[test]
fn rules_of_a_file_decide_by_node_and_trial_the_first_one_first() {
    let text = r#"{"schema": 1, "nodes": [{"name": "n", "count": 2}, {"name": "login"}], "rules": [
        {"when": {"node": "n2", "trial": 0}, "fault": {"exits": {"phase": "prepare", "code": 5}}},
        {"when": {"case": "*size=1*", "part": "toy", "bench": "toy.*", "index": 0},
         "samples": [{"channel": "pass", "unit": "GB", "span": "40 ms", "amounts": [3, 3]}]}]}"#;
    let mut fleet = ScriptFile::parse(text).expect("a script").into_fleet();
    let names: Vec<&str> = fleet.agents().iter().map(|agent| agent.node.as_str()).collect();
    assert_eq!(names, ["n1", "n2", "login"]);
    spawn(&mut fleet, ONE, 0);
    tell(&mut fleet, ToWorker::Measure { span: SPAN, at: None });
    let notices = until(&mut fleet, SPAN);
    assert_eq!(notices[0].1, said(FromWorker::Samples { batch: vec![sample(0, 40), sample(40, 80)] }));
    spawn(&mut fleet, WorkerId(2), 1);
    fleet.send(NodeIndex(1), Command::Tell { worker: WorkerId(2), message: ToWorker::Prepare });
    assert!(
        matches!(fleet.next(SPAN), FleetEvent::From(_, Report::Ended { end, .. }) if end.how == EndKind::Exited { code: 5 })
    );
    let mut other = case(&["n1".into()]);
    other.bench = "disk.toy".into();
    let spawn = Command::Spawn { worker: WorkerId(3), case: Box::new(other), place: 0, trial: 0 };
    fleet.send(NODE, spawn);
    fleet.send(NODE, Command::Tell { worker: WorkerId(3), message: ToWorker::Prepare });
    let notice = fleet.next(SPAN);
    let FleetEvent::From(_, Report::Said { message: FromWorker::Failed { reason }, .. }) = &notice else {
        panic!("{notice:?}")
    };
    assert!(reason.text.starts_with("no rule of the script fits toy.part@n1"), "{}", reason.text);
}

#[test]
fn four_thousand_nodes_finish_a_trial_together() {
    let text = r#"{"schema": 1, "nodes": [{"name": "n", "count": 4000}], "rules": [
        {"samples": [{"channel": "pass", "unit": "GB", "span": "1 ms", "amounts": [2], "repeat": 20, "noise_percent": 1}]}]}"#;
    let mut fleet = ScriptFile::parse(text).expect("a script").into_fleet();
    let names: Vec<String> = fleet.agents().iter().map(|agent| agent.node.clone()).collect();
    let mut seen = BTreeMap::new();
    for (index, name) in names.iter().enumerate() {
        let (node, worker) = (NodeIndex(index), WorkerId(index as u64));
        let case = Box::new(case(std::slice::from_ref(name)));
        fleet.send(node, Command::Spawn { worker, case, place: 0, trial: 0 });
        fleet.send(node, Command::Tell { worker, message: ToWorker::Measure { span: SPAN, at: None } });
    }
    for (at, notice) in until(&mut fleet, SPAN) {
        assert_eq!(at, SPAN);
        let FleetEvent::From(node, Report::Said { message, .. }) = notice else { panic!("{notice:?}") };
        if let FromWorker::Samples { batch } = message {
            seen.insert(node, batch[0].amount.value());
        }
    }
    assert_eq!(seen.len(), 4000);
    let mut values: Vec<f64> = seen.into_values().collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    assert!(values.len() > 3990 && values[0] >= 1.98 && values[values.len() - 1] <= 2.02, "{}", values.len());
}
