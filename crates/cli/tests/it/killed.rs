//! kill -9 of the main process at any point: no process stays, the folder is readable, resuming measures the rest.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Signal, kill_process};
use serde_json::Value;

use crate::rig::{
    ENDLESS, Home, Process, Role, Script, Started, TIMES, assert_nothing_runs, of_home, small, wait_until,
};

const KERNELS: [&str; 3] = ["copy", "read", "triad"];

/// A run of three cases, killed when its journal holds an event for which `at` is true.
fn killed(what: &str, at: impl Fn(&Value) -> bool) -> Home {
    for time in TIMES {
        let home = Home::new();
        let line = format!("run mem.bandwidth -p kernel=copy,read,triad {}", small(time));
        let mut run = home.seatrial(&line).start();
        run.wait_for_event(what, &at);
        run.signal(Signal::KILL);
        // A run that ended before is of no use.
        if run.ended().signal == Some(9) {
            return home;
        }
    }
    panic!("every run was over before it was killed at {what}");
}

/// Kills a run of three cases when its journal holds an event for which `at` is true, then checks and resumes it.
fn kill_at(what: &str, at: impl Fn(&Value) -> bool) {
    let home = killed(what, at);
    assert_nothing_runs(home.path());

    let kept = home.results();
    home.seatrial("report").run().exits(0).shows("did not end");
    let shown = home.seatrial("report -o json").run().exits(0).document();
    assert_eq!(shown.results.len(), kept.len(), "{what}");
    home.seatrial("history").run().exits(0).shows(&format!("{}/3 killed", kept.len()));

    let before = home.events().len();
    let document = home.seatrial("run -o json --resume").word(home.id()).run().exits(0).document();
    assert_eq!(home.results()[..kept.len()], kept, "{what}: what was measured before stands as it was");
    let started: Vec<String> = home.events()[before..].iter().filter_map(started).collect();
    let missing = KERNELS.len() - kept.len();
    assert_eq!(started.len(), missing, "{what}: exactly the missing cases were measured: {started:?}");
    let cases: BTreeSet<&str> = document.results.iter().map(|record| record.case.as_str()).collect();
    assert_eq!((cases.len(), home.results().len()), (3, 3), "{what}: every case once");
    home.seatrial("history").run().exits(0).shows("3/3 measured");
}

fn started(event: &Value) -> Option<String> {
    (event["event"] == "case_started").then(|| event["case"].to_string())
}

fn enters<'a>(phase: &'a str, kernel: &'a str) -> impl Fn(&Value) -> bool + 'a {
    move |event| {
        event["event"] == "phase_entered"
            && event["phase"] == phase
            && event["case"].to_string().contains(kernel)
    }
}

#[test]
fn as_soon_as_there_is_a_plan() {
    kill_at("the plan", |event| event["event"] == "round_planned");
}

#[test]
fn while_the_first_worker_prepares() {
    kill_at("the first preparation", enters("prepare", "kernel=copy"));
}

#[test]
fn while_the_first_worker_measures() {
    kill_at("the first measuring", enters("measure", "kernel=copy"));
}

#[test]
fn when_the_first_case_has_ended() {
    kill_at("the first result", |event| event["event"] == "case_ended");
}

#[test]
fn while_the_second_worker_measures() {
    kill_at("the second measuring", enters("measure", "kernel=read"));
}

#[test]
fn twice_the_second_time_after_it_was_resumed() {
    let is_second = |event: &Value| started(event).is_some_and(|case| case.contains("kernel=read"));
    let twice = (0..10).find_map(|_| {
        let home = killed("the second case", is_second);
        let before = home.events().len();
        let mut run = home.seatrial("run --resume").start();
        run.wait_for_event("the last case", |event| {
            event["event"] == "case_started" && !event["case"].to_string().contains("kernel=")
        });
        run.signal(Signal::KILL);
        // A run that ended before is of no use.
        (run.ended().signal == Some(9)).then_some((home, before))
    });
    let (home, before) = twice.expect("a run that is killed again before it ends");
    assert_eq!(home.events()[before]["event"], "resumed");
    let kept = home.results();
    home.seatrial("run --resume").run().exits(0).shows("3 cases measured");
    assert_eq!((&home.results()[..kept.len()], home.results().len()), (kept.as_slice(), 3));
}

/// Kills the main process during a measurement, after `first` was applied to the processes.
fn nothing_is_left(first: impl Fn(&[Process])) {
    let home = Home::new();
    let mut run = home.seatrial(ENDLESS).start();
    run.wait_for_event("measuring", |event| event["phase"] == "measure");
    let processes = of_home(home.path());
    assert_eq!(processes.len(), 3, "main, agent and worker: {processes:?}");
    first(&processes);
    run.signal(Signal::KILL);
    run.ended();
    assert_nothing_runs(home.path());
    home.seatrial("history").run().exits(0).shows("0/1 killed");
}

#[test]
fn together_with_its_agent() {
    nothing_is_left(|processes| signal(processes, Role::Agent, Signal::KILL));
}

#[test]
fn while_a_worker_does_not_answer() {
    nothing_is_left(|processes| signal(processes, Role::Worker, Signal::STOP));
}

fn signal(processes: &[Process], role: Role, signal: Signal) {
    let found = processes.iter().find(|process| process.role == role).expect("such a process");
    kill_process(found.pid, signal).expect("sent");
}

#[test]
fn a_run_killed_before_it_had_a_plan_says_so_and_is_to_be_started_anew() {
    let home = Home::new();
    home.seatrial("run mem.bandwidth").script(&Script::measuring(60.0)).run().exits(0);
    // As of a kill between the creation of the folder and the plan.
    let run = home.run();
    let info = fs::read(run.join("run.json")).expect("read");
    let mut info: Value = serde_json::from_slice(&info).expect("JSON");
    info["run"]["ended"] = Value::Null;
    fs::write(run.join("run.json"), info.to_string()).expect("written");
    for file in ["plan.json", "results.jsonl", "verdicts.json"] {
        fs::remove_file(run.join(file)).expect("removed");
    }
    home.seatrial("run --resume last").run().exits(2).says("before it had a plan").says("start a new run");
    home.seatrial("report").run().exits(0).shows("nothing was measured");
}

#[test]
fn a_run_that_still_runs_is_not_resumed() {
    let home = Home::new();
    let mut run = home.seatrial(ENDLESS).start();
    run.wait_for_event("measuring", |event| event["phase"] == "measure");
    home.seatrial("run --resume").word(home.id()).run().exits(2).says("is still running");
    home.seatrial("history").run().exits(0).shows("0/1 running");
    run.signal(Signal::TERM);
    run.ended().exits(143);
    assert_nothing_runs(home.path());
}

#[test]
fn a_run_in_which_everything_was_skipped_has_nothing_left_to_resume() {
    let home = Home::new();
    let script = Script::measuring(60.0);
    home.seatrial("run mem.bandwidth -p kernel=read -p store=nt").script(&script).run().exits(3);
    home.seatrial("run --resume").script(&script).run().exits(3).shows("1 of 1 case skipped");
    home.seatrial("history").run().exits(0).shows("measured");
}

#[test]
fn what_is_resumed_is_what_was_planned_and_takes_no_other_wishes() {
    let home = Home::new();
    home.seatrial("run mem.bandwidth").script(&Script::measuring(60.0)).run().exits(0);
    let refused = "cannot be used with";
    home.seatrial("run --resume last -p kernel=copy").run().exits(2).says(refused);
    home.seatrial("run mem.bandwidth --resume last").run().exits(2).says(refused);
    home.seatrial("run --resume last --plan").run().exits(2).says(refused);
    home.seatrial("check host --resume last").run().exits(2).says(refused);
}

#[test]
fn a_run_that_has_finished_measures_nothing_more_when_resumed_and_reports() {
    let home = Home::new();
    let script = Script::measuring(60.0);
    home.seatrial("run mem.bandwidth -p kernel=copy,triad").script(&script).run().exits(0);
    let before = home.results();
    // A case measured again would have the number of this script.
    let other = Script::measuring(30.0);
    home.seatrial("run --resume").script(&other).run().exits(0).shows("2 cases measured").shows("60.0");
    assert_eq!(home.results(), before);
    assert_eq!(home.runs().len(), 1);
}

/// Stops the worker of a test while it creates its files, in a folder of their own.
fn half_made(home: &Home, place: &Path) -> (Started, Vec<Process>) {
    let line = format!(
        "run storage.metadata -p directory={} -p files=100000 -p size=100B -p time=3600s",
        place.display()
    );
    let run = home.seatrial(&line).start();
    wait_until("files", || {
        let mut folders = fs::read_dir(place).expect("listed").flatten();
        let has_files = |thread: PathBuf| fs::read_dir(thread).is_ok_and(|mut files| files.next().is_some());
        folders.any(|folder| has_files(folder.path().join("thread.0")))
    });
    let processes = of_home(home.path());
    signal(&processes, Role::Worker, Signal::STOP);
    (run, processes)
}

fn names(place: &Path) -> Vec<String> {
    let entries = fs::read_dir(place).expect("listed").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn what_a_killed_worker_made_is_gone_before_its_case_ends() {
    let (home, place) = (Home::new(), tempfile::tempdir().expect("a folder"));
    let (run, processes) = half_made(&home, place.path());
    signal(&processes, Role::Worker, Signal::KILL);
    wait_until("the case to end", || !home.results().is_empty());
    assert_eq!(names(place.path()), [""; 0]);
    run.ended().exits(1).shows("SIGKILL");
    assert_nothing_runs(home.path());
}

#[test]
fn what_a_worker_made_is_gone_with_the_agent_of_a_killed_controller() {
    let (home, place) = (Home::new(), tempfile::tempdir().expect("a folder"));
    let (run, _) = half_made(&home, place.path());
    run.signal(Signal::KILL);
    run.ended();
    assert_nothing_runs(home.path());
    assert_eq!(names(place.path()), [""; 0]);
}

#[test]
fn what_a_killed_agent_could_not_remove_the_next_run_does() {
    let (home, place) = (Home::new(), tempfile::tempdir().expect("a folder"));
    let (run, processes) = half_made(&home, place.path());
    signal(&processes, Role::Agent, Signal::KILL);
    // A stopped process dies with its agent when it continues.
    signal(&processes, Role::Worker, Signal::CONT);
    run.ended().exits(1);
    assert_nothing_runs(home.path());
    let left = names(place.path());
    assert!(left.len() == 1 && place.path().join(&left[0]).join("seatrial.json").exists(), "{left:?}");
    let next = format!(
        "run storage.metadata -p directory={} -p time=2s -p files=10 -p trials=1 -p max_trials=1",
        place.path().display()
    );
    Home::new().seatrial(&next).run().exits(0);
    assert_eq!(names(place.path()), [""; 0]);
}
