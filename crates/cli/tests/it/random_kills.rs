//! kill -9 of main process, agent or worker at a random moment of a run that creates files: no file stays, no line is
//! torn, and the run can be resumed to its end.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};
use rustix::rand::{GetRandomFlags, getrandom};
use seatrial_model::{Cause, Outcome};

use crate::rig::{Home, Role, assert_nothing_runs, of_home};

const COUNT: &str = "SEATRIAL_KILLS";

const FEW: usize = 3;

/// Files with names, files without, and files that another process reads.
const TESTS: &str = r#"
title = "files"

[[test]]
id = "names"
use = "storage.metadata"
params = { directory = "DIR", threads = 2, files = 200, size = "100 B", time = "100 ms", trials = 2, max_trials = 2 }

[[test]]
id = "file"
use = "storage.file"
params = { directory = "DIR", size = "4 MiB", block = "64 KiB", time = "50 ms", trials = 2, max_trials = 2 }

[[test]]
id = "peer"
use = "storage.peer_read"
pattern = "alone"
params = { directory = "DIR", size = "4 MiB", block = "64 KiB", time = "50 ms", trials = 2, max_trials = 2 }

[[criterion]]
id = "names"
test = "names"
metric = "operations"
at_least = "1 1/s"
"#;

/// A home, and the two folders that a run may write to: of the test, and for temporary files.
struct Place {
    home: Home,
    tested: String,
    temporary: String,
}

impl Place {
    fn new() -> Self {
        let home = Home::new();
        let folder = |name: &str| {
            let path = home.folder().join(name);
            fs::create_dir(&path).expect("made");
            path.display().to_string()
        };
        let (tested, temporary) = (folder("tested"), folder("temporary"));
        Self { home, tested, temporary }
    }

    fn call(&self, line: &str) -> crate::rig::Call {
        self.home.seatrial(line).env("TMPDIR", Some(&self.temporary))
    }

    fn check(&self) -> crate::rig::Call {
        self.call("check").word(self.home.file("files.toml", TESTS.replace("DIR", &self.tested)))
    }

    fn left(&self) -> Vec<PathBuf> {
        let list = |path: &String| fs::read_dir(path).expect("listed").flatten().map(|entry| entry.path());
        [&self.tested, &self.temporary].into_iter().flat_map(list).collect()
    }
}

/// Number of torn lines in the run's files; all others are JSON.
fn torn(run: &Path) -> usize {
    let of = |name: &str| {
        let text = fs::read_to_string(run.join(name)).unwrap_or_default();
        let mut lines: Vec<&str> = text.split('\n').collect();
        let last = lines.pop().unwrap_or_default();
        for line in lines {
            let parsed = serde_json::from_str::<serde_json::Value>(line);
            parsed.unwrap_or_else(|error| panic!("{name}: {error}: {line}"));
        }
        usize::from(!last.is_empty())
    };
    of("events.jsonl") + of("results.jsonl")
}

fn random() -> f64 {
    let mut bytes = [0; 4];
    getrandom(&mut bytes, GetRandomFlags::empty()).expect("random");
    f64::from(u32::from_ne_bytes(bytes)) / f64::from(u32::MAX)
}

#[derive(Debug, Default)]
struct Tally {
    killed: usize,
    /// Kills without a process of the kind.
    missed: usize,
    before_the_plan: usize,
    after_the_end: usize,
    torn: usize,
    /// Folders with manifest, removed by `clean` and by another run.
    cleaned: usize,
    found_by_next: usize,
}

fn kill_one(victim: Role, wait: Duration, tally: &mut Tally) {
    let place = Place::new();
    let run = place.check().start();
    sleep(wait);
    let found = of_home(place.home.path());
    let Some(process) = found.iter().find(|process| process.role == victim) else {
        drop(run.ended());
        assert_nothing_runs(place.home.path());
        assert_eq!(place.left(), Vec::<PathBuf>::new());
        tally.missed += 1;
        return;
    };
    if kill_process(process.pid, Signal::KILL).is_err() {
        tally.missed += 1;
        return drop(run.ended());
    }
    tally.killed += 1;
    let ended = run.ended();
    assert_nothing_runs(place.home.path());
    let told = format!("{victim:?} after {wait:?}: {ended:?}");

    let left = place.left();
    if !left.is_empty() {
        assert_eq!((victim, left.len()), (Role::Agent, 1), "{left:?} {told}");
        assert!(left[0].join("seatrial.json").exists(), "{left:?} {told}");
        if random() < 0.5 {
            place.call("clean").word(&place.tested).run().exits(0).shows("removed ");
            tally.cleaned += 1;
        } else {
            let next = format!("run storage.metadata -p directory={} -p time=50ms -p files=5", place.tested);
            let other = Home::new();
            other.seatrial(&format!("{next} -p trials=1 -p max_trials=1")).run();
            tally.found_by_next += 1;
        }
        assert_eq!(place.left(), Vec::<PathBuf>::new(), "{told}");
    }

    let Some(run) = place.home.runs().pop() else {
        tally.before_the_plan += 1;
        return;
    };
    tally.torn += torn(&run);
    let resumed = place.call("run --resume last -o json").run();
    if !run.join("plan.json").exists() {
        assert_eq!(resumed.code, Some(2), "{told} {resumed:?}");
        tally.before_the_plan += 1;
        return;
    }
    tally.after_the_end += usize::from(ended.code.is_some() && victim == Role::Main);
    assert_eq!(torn(&run), 0, "{told}");
    let document = resumed.document();
    let cases: BTreeSet<&str> = document.results.iter().map(|record| record.case.as_str()).collect();
    // On a busy machine a time can be too short for a number, even without a kill.
    let without = document.results.iter().filter(|record| record.outcome != Outcome::Measured);
    let (short, lost): (Vec<_>, Vec<_>) = without.partition(|record| record.cause == Some(Cause::TooShort));
    let (too_short, lost) = (short.len(), lost.len());
    assert_eq!((cases.len(), document.results.len()), (3, 3), "{told} {resumed:?}");
    match victim {
        Role::Main => {
            assert_eq!(lost, 0, "{told} {resumed:?}");
            assert!(resumed.code == Some(0) || too_short > 0, "{told} {resumed:?}");
            assert_eq!(place.home.results().len(), 3, "{told}: every case once");
        }
        // The case of the kill has failed and stays; the others are measured.
        Role::Agent => assert!(lost <= 1, "{told} {resumed:?}"),
        Role::Worker => assert_eq!(resumed.code, ended.code, "{told} {resumed:?}"),
    }
    assert_nothing_runs(place.home.path());
    assert_eq!(place.left(), Vec::<PathBuf>::new(), "{told}");
}

#[expect(clippy::print_stderr, reason = "a long run says how far it is")]
fn kill_many(victim: Role) {
    let count = std::env::var(COUNT).ok().map_or(FEW, |text| text.parse().expect("a count"));
    // Duration of a run that is not killed.
    let place = Place::new();
    let start = Instant::now();
    let code = place.check().run().code;
    assert!(matches!(code, Some(0 | 3)), "{code:?}");
    let whole = start.elapsed();
    assert_eq!(place.left(), Vec::<PathBuf>::new());
    let mut tally = Tally::default();
    while tally.killed < count {
        kill_one(victim, whole.mul_f64(random()), &mut tally);
        assert!(tally.missed < 20 * count.max(10), "{tally:?}");
        if count > FEW {
            eprintln!("{victim:?}: {tally:?}");
        }
    }
}

#[test]
fn of_the_main_process() {
    kill_many(Role::Main);
}

#[test]
fn of_the_agent() {
    kill_many(Role::Agent);
}

#[test]
fn of_a_worker() {
    kill_many(Role::Worker);
}
