//! A run of Seatrial on the head: watched while it runs, read when it has ended.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// How long anything may take that is waited for: far more than anything here does on a busy machine.
const LIMIT: Duration = Duration::from_secs(400);

/// One that runs, with runs of its own to look back on.
pub struct Started {
    child: Child,
    since: Instant,
    /// Events of an earlier run that this one goes on with.
    before: usize,
    home: TempDir,
}

/// One that has ended.
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub complaint: String,
    took: Duration,
    home: TempDir,
}

/// The end of a trial that did something to a run when that had already done what it was to be disturbed in.
pub struct TooLate;

/// Ends the trial, or this try of it.
pub fn too_late(why: &str) -> ! {
    eprintln!("too late: {why}");
    std::panic::resume_unwind(Box::new(TooLate))
}

impl Started {
    /// Starts `command`, which keeps its PID and takes our signals.
    pub fn new(command: Command) -> Self {
        Self::with(command, tempfile::Builder::new().prefix("cluster-runs-").tempdir_in("/tmp").unwrap())
    }

    fn with(mut command: Command, home: TempDir) -> Self {
        let file = |name: &str| File::create(home.path().join(name)).unwrap();
        command.stdout(file("out")).stderr(file("complaint"));
        command.env("SEATRIAL_HOME", home.path()).env("NO_COLOR", "1");
        let before = events(&home).len();
        Self { child: command.spawn().unwrap(), since: Instant::now(), before, home }
    }

    /// Waits until an event of that kind is in the journal, of a case whose id contains `case`.
    #[track_caller]
    pub fn wait_for(&mut self, kind: &str, case: &str) {
        wait_until(&format!("{kind} of {case}"), || {
            self.goes_on();
            self.has(kind, case)
        });
    }

    /// That it has not ended.
    #[track_caller]
    fn goes_on(&mut self) {
        match self.child.try_wait().unwrap() {
            None => {}
            Some(status) if status.success() => too_late("all of it was done"),
            Some(_) => panic!("it ended before: {}", read(&self.home, "complaint")),
        }
    }

    /// Whether such an event is in the journal.
    pub fn has(&self, kind: &str, case: &str) -> bool {
        events(&self.home).iter().skip(self.before).any(|event| is_of(event, kind, case))
    }

    /// Waits until a case whose id contains `case` is measured.
    #[track_caller]
    pub fn wait_for_measuring(&mut self, case: &str) {
        self.wait_for_phase(case, "measure");
    }

    /// Waits until a case whose id contains `case` is in a phase.
    #[track_caller]
    pub fn wait_for_phase(&mut self, case: &str, phase: &str) {
        wait_until(&format!("{case} to be in {phase}"), || {
            self.goes_on();
            let is_so = |event: &Value| is_of(event, "phase_entered", case) && event["phase"] == phase;
            events(&self.home).iter().skip(self.before).any(is_so)
        });
    }

    /// That what was just done to it came before it had measured this case.
    pub fn still_measures(&self, case: &str) {
        let is_over = |event: &Value| is_of(event, "case_ended", case) && event["outcome"] == "measured";
        if events(&self.home).iter().skip(self.before).any(is_over) {
            too_late(&format!("{case} was measured"));
        }
    }

    /// What it said on standard error so far.
    pub fn complaint(&self) -> String {
        read(&self.home, "complaint")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().cast_signed()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for its end.
    #[track_caller]
    pub fn end(mut self) -> Ended {
        let deadline = Instant::now() + LIMIT;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "it does not end: {}", read(&self.home, "complaint"));
            std::thread::sleep(Duration::from_millis(5));
        };
        let (out, complaint) = (read(&self.home, "out"), read(&self.home, "complaint"));
        let home = std::mem::replace(&mut self.home, tempfile::tempdir().unwrap());
        Ended { code: status.code(), out, complaint, took: self.since.elapsed(), home }
    }
}

impl Drop for Started {
    /// A trial that fails leaves nothing running.
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Ended {
    /// The document it printed with `-o json`, when it ended with `code`.
    #[track_caller]
    pub fn document(&self, code: i32) -> Value {
        let document: Value = serde_json::from_str(&self.out).unwrap_or_default();
        let columns = ["case", "outcome", "cause", "reason"];
        let rows = document["results"].as_array().into_iter().flatten();
        let told: Vec<_> = rows.map(|row| columns.map(|column| row[column].as_str().unwrap_or(""))).collect();
        assert_eq!(self.code, Some(code), "{}{told:#?}", self.complaint);
        assert!(document.is_object(), "{}{}", self.complaint, self.out);
        document
    }

    /// How long it ran, by our clock.
    pub fn seconds(&self) -> f64 {
        self.took.as_secs_f64()
    }

    /// Starts `command` with what it left.
    pub fn then(self, command: Command) -> Started {
        Started::with(command, self.home)
    }

    /// What the parts of a case reported in its first trial.
    #[track_caller]
    pub fn parts(&self, case: &str) -> Vec<Value> {
        let files = fs::read_dir(run_of(&self.home).expect("a run").join("samples")).unwrap();
        let mut files = files.map(|file| -> Value {
            serde_json::from_slice(&fs::read(file.unwrap().path()).unwrap()).unwrap()
        });
        let kept = files.find(|kept| kept["case"].as_str().unwrap().contains(case)).expect("samples");
        let parts = kept["parts"].as_array().unwrap();
        parts.iter().filter(|part| part["trial"] == 0).cloned().collect()
    }

    /// Kinds and cases of the journal's events that begin or end a case, in order.
    pub fn order(&self) -> Vec<(String, String)> {
        let word = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let all = events(&self.home).into_iter().map(|event| (word(&event, "event"), word(&event, "case")));
        all.filter(|(kind, _)| kind == "case_started" || kind == "case_ended").collect()
    }
}

/// Whether something comes within a minute.
pub fn soon(is_so: impl FnMut() -> bool) -> bool {
    comes_within(Duration::from_secs(60), is_so)
}

fn comes_within(limit: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while !is_so() {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Waits for something that has to come.
#[track_caller]
pub fn wait_until(what: &str, is_so: impl FnMut() -> bool) {
    assert!(comes_within(LIMIT, is_so), "waited {} s for {what}", LIMIT.as_secs());
}

/// The nodes of an inventory.
pub fn names(inventory: &Value) -> Vec<&str> {
    inventory["nodes"].as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap()).collect()
}

/// The record of the only case in `document` whose id contains `case`.
#[track_caller]
pub fn record<'a>(document: &'a Value, case: &str) -> &'a Value {
    let records = document["results"].as_array().unwrap();
    let mut found = records.iter().filter(|record| record["case"].as_str().unwrap().contains(case));
    let record = found.next().unwrap_or_else(|| panic!("no case {case} in {records:#?}"));
    assert!(found.next().is_none(), "two cases {case}");
    record
}

/// Its outcome and cause.
#[track_caller]
pub fn outcome<'a>(document: &'a Value, case: &str) -> (&'a str, &'a str) {
    let record = record(document, case);
    (record["outcome"].as_str().unwrap(), record["cause"].as_str().unwrap_or(""))
}

/// Why it has no numbers.
#[track_caller]
pub fn reason<'a>(document: &'a Value, case: &str) -> &'a str {
    record(document, case)["reason"].as_str().expect("a reason")
}

fn is_of(event: &Value, kind: &str, case: &str) -> bool {
    event["event"] == kind && event["case"].as_str().is_some_and(|id| id.contains(case))
}

/// The folder of the only run below `home`; none while there is none.
fn run_of(home: &TempDir) -> Option<PathBuf> {
    let mut runs = fs::read_dir(home.path().join("runs")).ok()?;
    Some(runs.next()?.ok()?.path())
}

/// The events of the only run below `home`; none while there is none. The last line may be half written.
fn events(home: &TempDir) -> Vec<Value> {
    let Some(run) = run_of(home) else { return Vec::new() };
    let text = fs::read_to_string(run.join("events.jsonl")).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.map(|mut line| line["event"].take()).collect()
}

fn read(home: &TempDir, name: &str) -> String {
    fs::read_to_string(home.path().join(name)).unwrap_or_default()
}
