//! One case over many nodes, on scripted nodes.

use seatrial_cluster::ToWorker;
use seatrial_model::PartPlacement;
use seatrial_model::profile::Groups;

use super::*;
use crate::{Regroup, Retest, Sides};

fn exchange(params: &[(&str, &[&str])], groups: Option<&str>) -> Test {
    let fixed: [(&str, &[&str]); 2] = [("trials", &["1"]), ("max_trials", &["1"])];
    let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    Test {
        id: "net.all_to_all".to_owned(),
        bench: "net.all_to_all".to_owned(),
        params: params.iter().chain(&fixed).map(|(name, all)| ((*name).to_owned(), values(all))).collect(),
        groups: groups.map(|text| text.parse::<Groups>().expect("groups")),
        ..Test::default()
    }
}

fn planned(site: &Site, test: &Test) -> Vec<Case> {
    let test = std::slice::from_ref(test);
    Plan::new(test, &seatrial_registry::REGISTRY, PlanInputs::of(site)).expect("a plan").cases
}

/// 1 GB received in a second, in one flow.
fn received(_: &Case, _: &PartPlacement) -> Script {
    let sample = Sample {
        channel: "received".to_owned(),
        at: [("thread", 0_u64.into())].into(),
        start: Nanos(0),
        end: Nanos::secs(1),
        amount: Quantity::bytes(1_000_000_000),
    };
    let flows = json!([{ "window_ns": 1_000_000_000_u64, "bytes": "1000000000" }]);
    Script { evidence: [("received".to_owned(), flows)].into(), ..Script::of(vec![sample]) }
}

fn with_regroup(site: &Site, cases: Vec<Case>, fleet: &mut dyn Fleet) -> Vec<CaseRecord> {
    let sides = |_: &str| Sides::Both;
    let registry = seatrial_registry::REGISTRY;
    let retest = Retest::new(&cases, registry, site, &sides);
    let study = Study::new(cases.clone()).then(retest).then(Regroup::new(registry, site));
    let mut watch = |_: Event| Ok(());
    Runner::new(registry, site, fleet, &mut watch).run(study, Vec::new()).expect("runs").records
}

#[test]
fn all_nodes_are_one_case_unless_groups_are_asked_for() {
    let site = site(6);
    let nodes = |test: &Test| -> Vec<String> {
        planned(&site, test).iter().map(|case| format!("{} {}", case.nodes.join("+"), case.id)).collect()
    };
    let all = "n1+n2+n3+n4+n5+n6 net.all_to_all@n[1-6]/nodes:6[max_trials=1,trials=1]";
    assert_eq!(nodes(&exchange(&[], None)), [all]);
    let halves = [
        "n1+n2+n3 net.all_to_all@n[1-3]/nodes:3#groups.1[max_trials=1,trials=1]",
        "n4+n5+n6 net.all_to_all@n[4-6]/nodes:3#groups.1[max_trials=1,trials=1]",
    ];
    assert_eq!(nodes(&exchange(&[], Some("2"))), halves);
    let sets = exchange(&[], Some("n[1,4]+n[2,5]"));
    assert_eq!(
        planned(&site, &sets).iter().map(|case| case.nodes.join("+")).collect::<Vec<_>>(),
        ["n1+n4", "n2+n5"]
    );
    let plan = Plan::new(&[sets], &seatrial_registry::REGISTRY, PlanInputs::of(&site)).expect("a plan");
    let left: Vec<String> =
        plan.settled.iter().map(|(case, why)| format!("{}: {}", case.nodes.join("+"), why.text)).collect();
    assert_eq!(left, ["n3: the node is in none of the groups", "n6: the node is in none of the groups"]);
}

#[test]
fn racks_are_in_the_names_of_nodes() {
    let mut site = site(5);
    for (node, name) in site.nodes.iter_mut().zip(["r1n1", "r1n2", "r2n1", "r2n2", "gpu5"]) {
        node.name = name.to_owned();
    }
    let by_rack = exchange(&[], Some("rack"));
    let nodes: Vec<String> = planned(&site, &by_rack).iter().map(|case| case.nodes.join("+")).collect();
    assert_eq!(nodes, ["r1n1+r1n2", "r2n1+r2n2"]);
    let plan = Plan::new(&[by_rack], &seatrial_registry::REGISTRY, PlanInputs::of(&site)).expect("a plan");
    let [(case, why)] = plan.settled.as_slice() else { panic!("{:?}", plan.settled) };
    assert_eq!(case.nodes, ["gpu5"]);
    assert!(
        why.text.starts_with("the name of the node has no rack in it, as r12n03 has r12"),
        "{}",
        why.text
    );
}

#[test]
fn a_pattern_that_does_not_fit_the_parts_is_refused() {
    let site = site(4);
    let refused = |test: &Test| {
        let test = std::slice::from_ref(test);
        Plan::new(test, &seatrial_registry::REGISTRY, PlanInputs::of(&site)).expect_err("refused").to_string()
    };
    let of = |bench: &str, pattern: &str| Test {
        id: bench.to_owned(),
        bench: bench.to_owned(),
        pattern: Some(pattern.to_owned()),
        ..Test::default()
    };
    let two = "pattern all makes cases of many nodes, and a case of net.rr has two parts; leave it out, or use another pattern";
    assert_eq!(refused(&of("net.rr", "all")), two);
    assert_eq!(
        refused(&of("net.all_to_all", "groups")),
        "pattern groups needs the groups: --groups (profile: groups)"
    );
    let with_groups = Test { groups: Some(Groups::Count(2)), ..of("net.all_to_all", "all") };
    assert_eq!(refused(&with_groups), "groups 2 are for the pattern groups, not for all");
}

#[test]
fn a_node_that_could_not_be_reached_is_told_and_the_others_are_the_group() {
    let site = site(3);
    let absent = [("n4".to_owned(), "no route".to_owned())];
    let inputs = PlanInputs { site: &site, absent: &absent, plays: &|_, _| true };
    let plan = Plan::new(&[exchange(&[], None)], &seatrial_registry::REGISTRY, inputs).expect("a plan");
    assert_eq!(plan.cases[0].nodes, ["n1", "n2", "n3"]);
    let [(case, why)] = plan.settled.as_slice() else { panic!("{:?}", plan.settled) };
    assert_eq!((case.nodes.join("+"), why.cause), ("n4".to_owned(), Cause::NeverReached));
}

#[test]
fn a_node_that_dies_fails_its_case_by_name_and_the_living_go_on() {
    let site = site(4);
    let cases = planned(&site, &exchange(&[("shift", &["1", "2", "3"])], None));
    assert_eq!(cases.len(), 3);
    let first = cases[0].id.clone();
    let mut fleet = ScriptedFleet::new(site.nodes.clone(), move |case, place, _| match place.node.as_str() {
        "n3" if case.id == first => {
            Script::faulty(Fault::AgentLost { phase: Phase::Measure, why: "power cut".to_owned() })
        }
        _ => received(case, place),
    });
    let records = with_regroup(&site, cases.clone(), &mut fleet);
    let by_id = |id: &CaseId| records.iter().find(|record| record.case == *id).expect("a record");
    let died = by_id(&cases[0].id);
    assert_eq!(
        (died.outcome, died.cause, died.lost.join("+")),
        (Outcome::Failed, Some(Cause::Vanished), "n3".to_owned())
    );
    assert!(
        died.reason
            .as_deref()
            .is_some_and(|why| why.starts_with("the agent of node 2 on n3 was lost: power cut"))
    );
    for case in &cases[1..] {
        assert_eq!(by_id(&case.id).cause, Some(Cause::NeverReached), "{}", case.id);
    }
    let living: Vec<_> = records.iter().filter(|record| record.retry_of.is_some()).collect();
    // shift=3 of three nodes would be every node to itself.
    assert_eq!(living.len(), 2, "{living:?}");
    for record in living {
        assert_eq!((record.outcome, record.nodes.join("+")), (Outcome::Measured, "n1+n2+n4".to_owned()));
    }
}

#[test]
fn a_part_that_dies_is_named_and_not_those_that_lost_it() {
    let site = site(5);
    let cases = planned(&site, &exchange(&[], None));
    let mut fleet = ScriptedFleet::new(site.nodes.clone(), |case, place, _| match place.index {
        3 => Script::faulty(Fault::Crashes { phase: Phase::Measure, signal: 9 }),
        0 => {
            let reason = Reason::new(Cause::PartnerLost, "the peer closed the connection");
            Script::faulty(Fault::Fails { phase: Phase::Measure, reason })
        }
        _ => received(case, place),
    });
    let records = with_regroup(&site, cases, &mut fleet);
    let [record] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((record.outcome, record.cause), (Outcome::Failed, Some(Cause::Crash)));
    assert!(record.reason.as_deref().is_some_and(|why| why.contains("node 3 on n4")), "{:?}", record.reason);
}

#[test]
fn in_every_phase_a_part_that_is_killed_frozen_stuck_or_cut_off_is_named_and_the_next_case_is_measured() {
    type InPhase = fn(Phase) -> Fault;
    let phases = [Phase::Prepare, Phase::Connect, Phase::WarmUp, Phase::Measure, Phase::Verify];
    let faults: [(InPhase, Cause); 5] = [
        (|phase| Fault::Crashes { phase, signal: 9 }, Cause::Crash),
        (|phase| Fault::Exits { phase, code: 0 }, Cause::Crash),
        (|phase| Fault::Hangs { phase }, Cause::Hang),
        (|phase| Fault::Sticks { phase }, Cause::Hang),
        (|phase| Fault::AgentLost { phase, why: "power cut".to_owned() }, Cause::Vanished),
    ];
    let site = site(5);
    let cases = planned(&site, &exchange(&[("shift", &["1", "2"])], None));
    let first = cases[0].id.clone();
    for (fault, cause) in faults {
        for phase in phases {
            let first = first.clone();
            let mut fleet = ScriptedFleet::new(site.nodes.clone(), move |case, place, _| {
                let is_hit = case.id == first && place.node == "n3";
                if is_hit { Script::faulty(fault(phase)) } else { received(case, place) }
            });
            let records = with_regroup(&site, cases.clone(), &mut fleet);
            let what = format!("{:?}", fault(phase));
            let hit = records.iter().find(|record| record.case == cases[0].id).expect("a record");
            assert_eq!((hit.outcome, hit.cause), (Outcome::Failed, Some(cause)), "{what}: {hit:?}");
            let told = hit.reason.as_deref().unwrap_or_default();
            assert!(told.contains("n3"), "{what}: {told}");
            let measured = records.iter().filter(|record| record.outcome == Outcome::Measured);
            let nodes: Vec<usize> = measured.map(|record| record.nodes.len()).collect();
            // Nodes that are lost are left out of what is repeated and of what comes.
            let wanted: &[usize] = if cause == Cause::Vanished { &[4, 4] } else { &[5] };
            assert_eq!(nodes, wanted, "{what}: {records:?}");
        }
    }
}

/// What a fleet was sent.
#[derive(Default)]
struct Sent {
    offers: usize,
    largest: usize,
}

struct Counting {
    fleet: ScriptedFleet,
    sent: Rc<RefCell<Sent>>,
}

impl Fleet for Counting {
    fn agents(&self) -> &[Hello] {
        self.fleet.agents()
    }

    fn send(&mut self, node: NodeIndex, command: Command) {
        let mut sent = self.sent.borrow_mut();
        sent.largest = sent.largest.max(serde_json::to_vec(&command).expect("JSON").len());
        if let Command::Tell { message: ToWorker::Connect { offers }, .. } = &command {
            sent.offers += offers.clone().into_vec().len();
        }
        self.fleet.send(node, command);
    }

    fn next(&mut self, deadline: Nanos) -> FleetEvent {
        self.fleet.next(deadline)
    }

    fn now(&self) -> Nanos {
        self.fleet.now()
    }
}

#[test]
fn what_a_part_is_sent_does_not_grow_with_the_number_of_parts() {
    const NODES: usize = 1000;
    let site = site(NODES);
    let cases = planned(&site, &exchange(&[("shift", &["1"])], None));
    let sent = Rc::new(RefCell::new(Sent::default()));
    let fleet = ScriptedFleet::new(site.nodes.clone(), |case, place, _| {
        // The parts before and behind it.
        let neighbours = [1, NODES as u32 - 1].map(|distance| (place.index + distance) % NODES as u32);
        Script { peers: Some(neighbours.into()), ..received(case, place) }
    });
    let mut fleet = Counting { fleet, sent: Rc::clone(&sent) };
    let records = with_regroup(&site, cases, &mut fleet);
    assert_eq!((records.len(), records[0].outcome, records[0].nodes.len()), (1, Outcome::Measured, NODES));
    let total = records[0].metrics["throughput"].median;
    assert!((total - 8.0 * NODES as f64).abs() < 1e-6, "{total}");
    let sent = sent.borrow();
    assert_eq!(sent.offers, 2 * NODES);
    assert!(sent.largest < 4096, "{} B", sent.largest);
}
