//! Workers and agents that crash, hang, exit early or send garbage: the case is lost, the run goes on.

use rustix::process::{Signal, kill_process};
use seatrial_model::{Cause, Outcome};
use serde_json::{Value, json};

use crate::rig::{Home, Role, Script, assert_nothing_runs, of_home, small};

/// Runs two cases, the first with `fault`, and returns outcome, cause and reason of the first.
fn struck_by(fault: Value) -> (Outcome, Option<Cause>, String) {
    let script = Script::measuring(60.0).fault("*kernel=copy*", fault.clone());
    let run = Home::new().seatrial("run mem.bandwidth -p kernel=copy,triad -o json").script(&script).run();
    let results = run.document().results;
    let [struck, other] = results.as_slice() else { panic!("{fault}: {results:#?}") };
    assert_eq!(other.outcome, Outcome::Measured, "{fault}: the run goes on");
    assert!(struck.metrics.is_empty() && struck.series.is_empty(), "{fault}: no numbers");
    let code = if struck.outcome == Outcome::Failed { 1 } else { 3 };
    let (outcome, cause) = (struck.outcome, struck.cause);
    let reason = struck.reason.clone().expect("a reason");
    run.exits(code);
    (outcome, cause, reason)
}

#[test]
fn what_strikes_a_worker_becomes_the_outcome_of_its_case_and_the_run_goes_on() {
    use Outcome::{Failed, Unmeasured};
    let reason = |cause: &str| json!({ "cause": cause, "text": "because" });
    for (fault, outcome, cause, word) in [
        (json!({ "crashes": { "phase": "measure", "signal": 11 } }), Failed, Cause::Crash, "SIGSEGV"),
        (json!({ "exits": { "phase": "prepare", "code": 7 } }), Failed, Cause::Crash, "7"),
        (json!({ "hangs": { "phase": "measure" } }), Failed, Cause::Hang, "measur"),
        (json!({ "sticks": { "phase": "verify" } }), Failed, Cause::Hang, "verif"),
        (json!({ "garbles": { "phase": "connect" } }), Unmeasured, Cause::Protocol, "not a message"),
        (
            json!({ "not_started": { "why": "no more processes" } }),
            Unmeasured,
            Cause::Launcher,
            "no more processes",
        ),
        (
            json!({ "fails": { "phase": "measure", "reason": reason("io_error") } }),
            Failed,
            Cause::IoError,
            "because",
        ),
        (
            json!({ "fails": { "phase": "prepare", "reason": reason("denied") } }),
            Unmeasured,
            Cause::Denied,
            "because",
        ),
        (
            json!({ "fails": { "phase": "prepare", "reason": reason("no_space") } }),
            Unmeasured,
            Cause::NoSpace,
            "because",
        ),
    ] {
        let (found, why, text) = struck_by(fault.clone());
        assert_eq!((found, why), (outcome, Some(cause)), "{fault}: {text}");
        assert!(text.contains(word), "{fault}: {text}");
    }
}

#[test]
fn corrupt_data_is_a_failure_with_its_place() {
    let script = Script::measuring(60.0).corrupt("*");
    let case = Home::new().seatrial("run mem.bandwidth -o json").script(&script).run().exits(1).case();
    assert_eq!((case.outcome, case.cause), (Outcome::Failed, Some(Cause::CorruptData)));
    assert!(case.reason.expect("a reason").contains("bit 17 of element 3"));
}

#[test]
fn a_node_that_vanishes_fails_its_case_and_leaves_the_others_unreached() {
    let lost = json!({ "agent_lost": { "phase": "measure", "why": "the link broke" } });
    let script = Script::measuring(60.0).nodes(2).fault("*@n1/*kernel=copy*", lost);
    let run = Home::new().seatrial("run mem.bandwidth -p kernel=copy,triad -o json").script(&script).run();
    let document = run.exits(1).document();
    let found: Vec<_> =
        document.results.iter().map(|case| (case.nodes[0].as_str(), case.outcome, case.cause)).collect();
    assert_eq!(found.len(), 4);
    assert!(found.contains(&("n1", Outcome::Failed, Some(Cause::Vanished))), "{found:?}");
    assert!(found.contains(&("n1", Outcome::Unmeasured, Some(Cause::NeverReached))), "{found:?}");
    let well = found.iter().filter(|(node, outcome, _)| *node == "n2" && *outcome == Outcome::Measured);
    assert_eq!(well.count(), 2, "{found:?}");
}

/// Sends `signal` to the process of `role` while the first of two cases measures this machine.
fn struck_while_measuring(role: Role, signal: Signal) -> (Home, Vec<Value>) {
    // On a busy machine we may get no CPU for the shorter times.
    for time in ["3s", "10s", "40s"] {
        let home = Home::new();
        let mut run =
            home.seatrial(&format!("run mem.bandwidth -p kernel=copy,triad {}", small(time))).start();
        run.wait_for_event("measuring", |event| event["phase"] == "measure");
        let found = of_home(home.path()).into_iter().find(|process| process.role == role);
        let struck = found.is_some_and(|found| kill_process(found.pid, signal).is_ok());
        let ended = run.ended();
        assert_nothing_runs(home.path());
        let results = home.results();
        if struck && results.first().is_some_and(|first| first["outcome"] != "measured") {
            ended.exits(1);
            return (home, results);
        }
    }
    panic!("every first case was over before its {role:?} was struck");
}

#[test]
fn a_worker_that_is_killed_fails_its_case_and_the_next_one_is_measured() {
    let (_home, results) = struck_while_measuring(Role::Worker, Signal::KILL);
    let outcomes: Vec<_> = results.iter().map(|record| record["outcome"].as_str()).collect();
    assert_eq!(outcomes, [Some("failed"), Some("measured")]);
    assert_eq!(results[0]["cause"], "crash");
    assert!(results[0]["reason"].to_string().contains("SIGKILL"), "{}", results[0]["reason"]);
}

#[test]
fn a_worker_that_no_longer_answers_is_killed_and_the_next_case_is_measured() {
    let (_home, results) = struck_while_measuring(Role::Worker, Signal::STOP);
    let outcomes: Vec<_> = results.iter().map(|record| record["outcome"].as_str()).collect();
    assert_eq!(outcomes, [Some("failed"), Some("measured")]);
    assert_eq!(results[0]["cause"], "hang");
    let evidence = results[0]["evidence"].to_string();
    assert!(evidence.contains("T (stopped)"), "what it did when it was killed: {evidence}");
}

#[test]
fn an_agent_that_is_killed_takes_its_workers_along_and_the_run_ends_with_a_reason() {
    let (home, results) = struck_while_measuring(Role::Agent, Signal::KILL);
    let causes: Vec<_> = results.iter().map(|record| record["cause"].as_str()).collect();
    assert!(causes.len() == 2 && causes.contains(&Some("vanished")), "{causes:?}");
    assert!(causes.contains(&Some("never_reached")), "{causes:?}");
    home.seatrial("report").run().exits(0).shows("1 of 2 cases failed, 1 could not be measured");
}
