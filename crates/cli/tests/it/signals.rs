//! SIGINT and SIGTERM during a run: an orderly end, no processes left, and the run can be resumed.

use std::fs;

use rustix::process::{Signal, kill_process};

use crate::rig::{
    ENDLESS, Ended, Home, Role, TIMES, assert_nothing_runs, of_home, profile, small, wait_until,
};

fn measures(event: &serde_json::Value) -> bool {
    event["event"] == "phase_entered" && event["phase"] == "measure"
}

/// Interrupts a run whose first case has ended and whose second is measuring.
fn interrupted(signal: Signal) -> (Home, Ended) {
    for time in TIMES {
        let home = Home::new();
        let line = format!("run mem.bandwidth -p kernel=read,copy,triad {}", small(time));
        let mut run = home.seatrial(&line).start();
        run.wait_for_event("the second case to start", |event| {
            event["event"] == "case_started" && event["case"].to_string().contains("kernel=copy")
        });
        run.signal_group(signal);
        let ended = run.ended();
        // Everything was measured before the signal.
        if ended.code != Some(0) && home.results().len() < 3 {
            return (home, ended);
        }
    }
    panic!("every run was over before the signal came");
}

#[test]
fn a_signal_ends_a_run_in_order_and_resuming_measures_only_what_is_missing() {
    for (signal, code, name) in [(Signal::INT, 130, "SIGINT"), (Signal::TERM, 143, "SIGTERM")] {
        let (home, ended) = interrupted(signal);
        ended
            .exits(code)
            .says(&format!("stopped by {name}"))
            .says(&format!("seatrial run --resume {}", home.id()));
        assert_nothing_runs(home.path());
        let kept = home.results();
        assert!((1..3).contains(&kept.len()), "{kept:#?}");
        home.seatrial("history").run().exits(0).shows("1/3");
        home.seatrial("report").run().exits(0).shows(&format!("stopped by {name}"));

        let document = home.seatrial("run -o json --resume").word(home.id()).run().exits(0).document();
        assert_eq!(document.results.len(), 3);
        assert_eq!(home.results()[..kept.len()], kept, "what was measured before stands as it was");
        assert_eq!(home.results().len(), 3, "no case was measured twice");
        assert_eq!(document.run.ended.map(|end| (end.exit, end.signal)), Some((0, None)));
    }
}

#[test]
fn a_signal_in_the_middle_of_an_hour_of_measuring_ends_it_at_once() {
    let home = Home::new();
    let mut run = home.seatrial(ENDLESS).start();
    run.wait_for_event("measuring", measures);
    run.signal(Signal::INT);
    run.ended().exits(130);
    assert_nothing_runs(home.path());
    assert_eq!(home.results().len(), 0, "an interrupted case is no result");
}

#[test]
fn a_second_signal_ends_at_once_what_does_not_end_in_order() {
    let home = Home::new();
    let mut run = home.seatrial(ENDLESS).start();
    run.wait_for_event("measuring", measures);
    // An agent that does not answer prevents the orderly end.
    let agent = of_home(home.path()).into_iter().find(|process| process.role == Role::Agent);
    let agent = agent.expect("an agent").pid;
    kill_process(agent, Signal::STOP).expect("sent");
    run.signal(Signal::INT);
    // Two pending signals of a kind are one: the first must have been handled.
    let status = format!("/proc/{}/status", run.pid().as_raw_nonzero());
    wait_until("the first signal to be taken", || {
        let text = fs::read_to_string(&status).expect("the run waits for its agent");
        let pending = |line: &str| line.starts_with("ShdPnd:") && !line.ends_with("0000000000000000");
        !text.lines().any(pending)
    });
    run.signal(Signal::INT);
    run.ended().exits(130);
    // As an orphan it was hung up by the kernel (setpgid(2)); else it waits.
    let _ = kill_process(agent, Signal::CONT);
    assert_nothing_runs(home.path());
    home.seatrial("history").run().exits(0).shows("killed");
}

#[test]
fn a_check_that_was_interrupted_is_judged_when_it_goes_on() {
    let text = profile(&[("copy", "at_least = \"1 kB/s\""), ("triad", "at_least = \"1 kB/s\"")]);
    // Script and machine plan different cases, so the whole check measures this machine.
    let interrupted = TIMES.into_iter().find_map(|time| {
        let home = Home::new();
        let params = format!(
            "params = {{ array = \"4 MiB\", threads = 1, time = \"{time}\", trials = 1, max_trials = 1, "
        );
        let file = home.file("profile.toml", text.replace("params = { ", &params));
        let mut run = home.seatrial("check").word(&file).start();
        run.wait_for_event("a case to end", |event| event["event"] == "case_ended");
        run.signal(Signal::TERM);
        let ended = run.ended();
        // Everything was measured before the signal.
        (ended.code != Some(0)).then_some((home, file, ended))
    });
    let (home, file, ended) = interrupted.expect("a run that the signal ends");
    ended.exits(143);
    // The run folder holds the profile; the file no longer matters.
    fs::remove_file(file).expect("removed");
    let document = home.seatrial("check -o json --resume").run().exits(0).document();
    let judged: Vec<&str> = document.verdicts.iter().map(|verdict| verdict.criterion.as_str()).collect();
    assert_eq!(judged, ["copy", "triad"]);
}
