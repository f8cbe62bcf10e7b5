//! The trial's state machine, fed by hand.

use seatrial_bench::Offer;
use seatrial_cluster::{
    Command, EndKind, FromWorker, NodeIndex, Offers, Offset, ToWorker, WorkerEnd, WorkerId,
};
use seatrial_model::{
    About, Budget, Case, Cause, Evidence, Integrity, Nanos, Params, PartPlacement, Phase, Reason, Sample,
    Subject, Unit,
};

use super::{Action, Deadlines, Trial};

fn case(parts: u32) -> Case {
    let budget = Budget {
        trials: 1,
        max_trials: 1,
        warm_up: Nanos::millis(10),
        measure: Nanos::millis(100),
        prepare: Nanos::secs(5),
        precision_percent: 2.0,
        ..Budget::NOTHING
    };
    let place = |index| PartPlacement {
        part: "worker".to_owned(),
        index,
        node: format!("n{index}"),
        bindings: Vec::new(),
    };
    let about = About { id: "toy", ..About::WORKER };
    Case {
        nodes: (0..parts).map(|index| format!("n{index}")).collect(),
        places: (0..parts).map(place).collect(),
        ..Case::new(&about, "n0", Subject::node(), &Params::default(), budget)
    }
}

/// A trial with its actions so far.
struct Played {
    case: Case,
    trial: Trial,
    asked: Vec<Action>,
    now: Nanos,
}

impl Played {
    fn start(parts: u32) -> Self {
        let case = case(parts);
        let nodes: Vec<_> = (0..parts as usize).map(NodeIndex).collect();
        let (trial, asked) = Trial::start(&case, 0, WorkerId(0), &nodes, &[], Nanos(0), Deadlines::default());
        Self { case, trial, asked, now: Nanos(0) }
    }

    fn says(&mut self, worker: u64, message: FromWorker) {
        self.asked = self.trial.said(&self.case, WorkerId(worker), message, self.now);
    }

    fn ends(&mut self, worker: u64, how: EndKind) {
        let is_ours =
            matches!(&how, EndKind::Signalled { name, .. } if name == "SIGTERM" || name == "SIGKILL");
        let seen = is_ours.then(|| (WorkerEnd::WHEN_KILLED.to_owned(), "S (sleeping)".into()));
        let end = WorkerEnd { how, output: String::new(), evidence: seen.into_iter().collect() };
        self.asked = self.trial.ended(&self.case, WorkerId(worker), end, self.now);
    }

    fn waits(&mut self, span: Nanos) {
        self.now = self.now.plus(span);
        self.asked = self.trial.tick(&self.case, self.now);
    }

    fn offers(&mut self, worker: u64) {
        let offer = Offer {
            part: "worker".to_owned(),
            index: u32::try_from(worker).unwrap(),
            node: format!("n{worker}"),
            data: serde_json::json!({ "port": 1000 + worker }),
            peers: None,
        };
        self.says(worker, FromWorker::Prepared { offer });
    }

    /// The messages to workers, by worker.
    fn told(&self) -> Vec<(u64, &ToWorker)> {
        let tells = self.asked.iter().filter_map(|action| match action {
            Action::Send(_, Command::Tell { worker, message }) => Some((worker.0, message)),
            _ => None,
        });
        tells.collect()
    }

    fn kills(&self) -> Vec<u64> {
        let kills = self.asked.iter().filter_map(|action| match action {
            Action::Send(_, Command::Kill { worker }) => Some(worker.0),
            _ => None,
        });
        kills.collect()
    }

    fn reason(mut self) -> Reason {
        assert!(self.trial.is_over());
        self.trial.end().reason.expect("a reason")
    }
}

fn verified() -> FromWorker {
    FromWorker::Verified { integrity: Integrity::Verified { checked: 8 }, evidence: Evidence::new() }
}

fn indices(offers: &Offers) -> Vec<u32> {
    offers.clone().into_vec().iter().map(|offer| offer.index).collect()
}

#[test]
fn nobody_goes_on_before_everybody_answered() {
    let mut played = Played::start(2);
    played.offers(1);
    assert!(played.told().is_empty(), "the other part has not answered");
    played.offers(0);
    let told = played.told();
    assert_eq!(told.len(), 2);
    let ToWorker::Connect { offers } = told[0].1 else { panic!("{told:?}") };
    assert_eq!(indices(offers), [0, 1]);
}

#[test]
fn a_part_that_names_its_peers_gets_their_offers_only_and_nobody_gets_the_names() {
    let mut played = Played::start(4);
    for worker in 0..4_u32 {
        let offer = Offer {
            part: "worker".to_owned(),
            index: worker,
            node: format!("n{worker}"),
            data: serde_json::Value::Null,
            peers: (worker != 2).then(|| vec![(worker + 1) % 4]),
        };
        played.says(u64::from(worker), FromWorker::Prepared { offer });
    }
    let sent: Vec<Vec<u32>> = played
        .told()
        .into_iter()
        .map(|(_, message)| {
            let ToWorker::Connect { offers } = message else { panic!("{message:?}") };
            assert!(offers.clone().into_vec().iter().all(|offer| offer.peers.is_none()));
            indices(offers)
        })
        .collect();
    assert_eq!(sent, [vec![1], vec![2], vec![0, 1, 2, 3], vec![0]]);
}

#[test]
fn a_case_has_its_own_time_to_connect() {
    let mut played = Played::start(2);
    played.case.budget.connect = Nanos::secs(40);
    played.offers(0);
    played.offers(1);
    played.waits(Nanos::secs(39));
    assert!(played.asked.is_empty(), "the deadline is 40 s");
    played.waits(Nanos::secs(1));
    assert_eq!(played.kills(), [0, 1]);
}

#[test]
fn a_trial_goes_through_all_phases_and_keeps_what_was_measured() {
    let mut played = Played::start(1);
    played.offers(0);
    played.says(0, FromWorker::Connected);
    played.says(0, FromWorker::WarmedUp);
    let sample = Sample {
        channel: "work".to_owned(),
        at: Params::default(),
        start: Nanos(1),
        end: Nanos(2),
        amount: seatrial_model::Quantity::new(3.0, Unit::Byte).unwrap(),
    };
    played.says(0, FromWorker::Samples { batch: vec![sample.clone()] });
    assert!(played.asked.is_empty(), "more samples may come");
    played.says(0, FromWorker::Measured);
    assert_eq!(played.told(), [(0, &ToWorker::Verify)]);
    played.says(0, verified());
    assert_eq!(played.told(), [(0, &ToWorker::Finish)]);
    assert!(!played.trial.is_over());
    played.ends(0, EndKind::Exited { code: 0 });
    assert!(played.trial.is_over());
    let end = played.trial.end();
    assert_eq!(end.reason, None);
    assert_eq!(end.parts[0].samples, [sample]);
}

#[test]
fn an_exit_before_the_end_is_a_crash_even_with_code_0() {
    let mut played = Played::start(1);
    played.offers(0);
    played.ends(0, EndKind::Exited { code: 0 });
    let reason = played.reason();
    assert_eq!(reason.cause, Cause::Crash);
    assert_eq!(reason.text, "worker 0 on n0 exited with code 0 during connect, before it was done");
}

#[test]
fn a_phase_past_its_deadline_is_a_hang_and_the_worker_is_killed() {
    let mut played = Played::start(2);
    played.offers(0);
    played.waits(Nanos::secs(4));
    assert!(played.asked.is_empty(), "the deadline is 5 s");
    played.waits(Nanos::secs(1));
    assert_eq!(played.kills(), [0, 1]);
    played.ends(0, EndKind::Signalled { signal: 15, name: "SIGTERM".to_owned() });
    played.ends(1, EndKind::Signalled { signal: 9, name: "SIGKILL".to_owned() });
    let reason = played.reason();
    assert_eq!(reason.cause, Cause::Hang);
    assert_eq!(reason.text, "worker 1 on n1 did not finish to prepare within 5 s");
}

#[test]
fn all_that_hang_in_one_phase_are_named_and_one_that_answered_is_not() {
    let hangs = |parts: u32| {
        let mut played = Played::start(parts);
        played.offers(1);
        played.waits(Nanos::secs(5));
        for worker in 0..u64::from(parts) {
            played.ends(worker, EndKind::Signalled { signal: 15, name: "SIGTERM".to_owned() });
        }
        played.reason().text
    };
    let text = "did not finish to prepare within 5 s; they may wait for one of them";
    assert_eq!(hangs(3), format!("worker 0 on n0, worker 2 on n2 {text}"));
    let many = hangs(12);
    assert!(many.ends_with(&format!("worker 8 on n8 and 3 more {text}")), "{many}");
}

#[test]
fn the_one_that_crashed_is_named_even_when_its_partner_complained_first() {
    let mut played = Played::start(2);
    let complaint = Reason::new(Cause::PartnerLost, "connection reset");
    played.says(0, FromWorker::Failed { reason: complaint });
    assert_eq!(played.kills(), [0, 1]);
    played.ends(1, EndKind::Signalled { signal: 11, name: "SIGSEGV".to_owned() });
    played.ends(0, EndKind::Signalled { signal: 15, name: "SIGTERM".to_owned() });
    let reason = played.reason();
    assert_eq!(reason.cause, Cause::Crash);
    assert!(reason.text.contains("worker 1 on n1 was ended by SIGSEGV"), "{reason}");
}

#[test]
fn one_that_the_kernel_killed_before_our_order_came_is_named() {
    let mut played = Played::start(2);
    played.says(0, FromWorker::Failed { reason: Reason::new(Cause::PartnerLost, "connection reset") });
    assert_eq!(played.kills(), [0, 1]);
    let how = EndKind::Signalled { signal: 9, name: "SIGKILL".to_owned() };
    let end = WorkerEnd { how, output: String::new(), evidence: Evidence::new() };
    played.asked = played.trial.ended(&played.case, WorkerId(1), end, played.now);
    played.ends(0, EndKind::Signalled { signal: 15, name: "SIGTERM".to_owned() });
    let reason = played.reason();
    assert!(reason.text.contains("worker 1 on n1 was ended by SIGKILL"), "{reason}");
}

#[test]
fn a_node_lost_inside_its_own_case_speaks_against_it() {
    let mut played = Played::start(2);
    played.asked = played.trial.lost(&played.case, NodeIndex(1), "the pipe closed", played.now);
    assert_eq!(played.kills(), [0]);
    played.ends(0, EndKind::Signalled { signal: 15, name: "SIGTERM".to_owned() });
    assert_eq!(played.reason().cause, Cause::Vanished);
}

#[test]
fn a_worker_that_cannot_even_be_killed_does_not_hold_the_run_up() {
    let mut played = Played::start(1);
    played.waits(Nanos::secs(5));
    played.ends(0, EndKind::Abandoned);
    assert_eq!(played.reason().cause, Cause::Hang);
}

#[test]
fn an_agent_that_does_not_even_answer_the_order_to_kill_is_lost() {
    let mut played = Played::start(1);
    played.waits(Nanos::secs(5));
    assert_eq!(played.kills(), [0]);
    played.waits(Nanos::secs(10));
    let reason = played.reason();
    assert_eq!(reason.cause, Cause::Vanished);
    assert!(reason.text.contains("does not answer any more; before that: worker 0"), "{reason}");
    // Of two that are silent, nobody knows on which side the loss is.
    let mut played = Played::start(2);
    played.waits(Nanos::secs(5));
    played.waits(Nanos::secs(10));
    assert_eq!(played.reason().cause, Cause::Hang);
}

#[test]
fn corrupt_data_fails_the_trial() {
    let mut played = Played::start(1);
    played.offers(0);
    played.says(0, FromWorker::Connected);
    played.says(0, FromWorker::WarmedUp);
    played.says(0, FromWorker::Measured);
    let integrity = Integrity::Corrupt { wrong: 1, of: 8, first: "word 3".to_owned() };
    played.says(0, FromWorker::Verified { integrity, evidence: Evidence::new() });
    played.ends(0, EndKind::Signalled { signal: 15, name: "SIGTERM".to_owned() });
    let reason = played.reason();
    assert_eq!(reason.cause, Cause::CorruptData);
    assert!(reason.text.contains("1 of 8 words wrong"), "{reason}");
}

#[test]
fn an_answer_to_another_question_is_no_answer() {
    let mut played = Played::start(1);
    played.says(0, FromWorker::Measured);
    played.ends(0, EndKind::Signalled { signal: 15, name: "SIGTERM".to_owned() });
    assert_eq!(played.reason().cause, Cause::Protocol);
}

#[test]
fn phases_are_announced_in_order() {
    let mut played = Played::start(1);
    assert!(played.asked.contains(&Action::Entered(Phase::Prepare)));
    played.offers(0);
    assert!(played.asked.contains(&Action::Entered(Phase::Connect)));
}

#[test]
fn a_trial_that_holds_waits_for_others_and_begins_at_their_moment() {
    let mut case = case(2);
    case.origin.step = Some(1);
    let nodes = [NodeIndex(0), NodeIndex(1)];
    let clocks = [0_i64, -500].map(|nanos| Some(Offset { nanos, error: Nanos(10), at: Nanos(0) }));
    let (trial, asked) = Trial::start(&case, 0, WorkerId(0), &nodes, &clocks, Nanos(0), Deadlines::default());
    let mut played = Played { case, trial, asked, now: Nanos(0) };
    played.offers(0);
    played.offers(1);
    played.says(0, FromWorker::Connected);
    assert_eq!(played.trial.held(), None, "its own parts are not there yet");
    played.says(1, FromWorker::Connected);
    assert!(played.asked.is_empty());
    assert_eq!(played.trial.held(), Some(Phase::WarmUp));
    // However long the others take, it is no hang.
    played.waits(Nanos::secs(3600));
    assert!(played.asked.is_empty());
    played.asked = played.trial.go(&played.case, played.now, played.now);
    assert_eq!(played.told().len(), 2);
    played.says(0, FromWorker::WarmedUp);
    played.says(1, FromWorker::WarmedUp);
    assert_eq!((played.trial.held(), played.trial.lead()), (Some(Phase::Measure), Some(Nanos(20_000_080))));
    let at = played.now.plus(Nanos::millis(70));
    played.asked = played.trial.go(&played.case, played.now, at);
    let moments: Vec<_> = played
        .told()
        .into_iter()
        .map(|(_, message)| match message {
            ToWorker::Measure { at, .. } => *at,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(moments, [Some(at), Some(Nanos(at.get() - 500))]);
    assert_eq!(played.trial.deadline(), at.plus(Nanos::millis(100)).plus(Deadlines::default().grace));
    // A part that dies while it waits ends the trial.
    played.ends(1, EndKind::Signalled { signal: 9, name: "SIGKILL".to_owned() });
    assert_eq!((played.kills(), played.trial.held()), (vec![0], None));
}
