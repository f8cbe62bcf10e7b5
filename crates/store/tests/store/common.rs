//! A made-up run, and helpers of the tests.

use std::path::Path;

use seatrial_model::record::{CaseRecord, MetricRecord, ProfileRef, RunEnd, RunInfo, Summary};
use seatrial_model::{
    About, Better, Budget, Case, Cause, Event, Finding, Integrity, LimitRecord, Nanos, Params, PartRecord,
    Reason, Sample, Severity, Site, SiteNode, Subject, Unit, Verdict, VerdictRecord,
};
use seatrial_store::{Home, Journal, RunFolder};

pub fn home() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    (folder, home)
}

pub fn info() -> RunInfo {
    RunInfo {
        id: String::new(),
        seatrial: "0.1.0".to_owned(),
        command: vec!["seatrial".to_owned(), "check".to_owned()],
        options: None,
        profile: Some(ProfileRef { id: "host".to_owned(), title: "This machine".to_owned(), file: None }),
        nodes: vec!["n1".to_owned()],
        started: "2026-09-21T08:30:15.25Z".parse().unwrap(),
        paused_seconds: 0.0,
        ended: None,
    }
}

pub fn end() -> RunEnd {
    RunEnd { at: "2026-09-21T08:31:00Z".parse().unwrap(), exit: 1, signal: None, time: None }
}

pub fn case(kernel: &str) -> Case {
    let params: Params = [("kernel".to_owned(), kernel.into())].into_iter().collect();
    let budget = Budget {
        trials: 3,
        max_trials: 5,
        warm_up: Nanos::millis(100),
        measure: Nanos::secs(1),
        prepare: Nanos::secs(10),
        overhead: Nanos::secs(1),
        precision_percent: 2.0,
        ..Budget::NOTHING
    };
    let about = About { id: "mem.bandwidth", ..About::WORKER };
    Case::new(&about, "n1", Subject::node(), &params, budget)
}

pub fn measured(case: &Case, median: f64) -> CaseRecord {
    let summary = Summary {
        mad: 0.1,
        min: median - 1.0,
        max: median + 1.0,
        ci95: Some((median - 0.5, median + 0.5)),
        ..seatrial_testkit::summary(median)
    };
    let limit = LimitRecord::unknown("no DIMM table");
    let metric = MetricRecord::new(Unit::GigabytesPerSecond, Better::Higher, &summary, limit);
    let mut record = CaseRecord::measured(case);
    record.metrics.insert("bandwidth".to_owned(), metric);
    record.seconds = 4.0;
    record
}

pub fn unmeasured(case: &Case, cause: Cause) -> CaseRecord {
    CaseRecord::without_numbers(case, &Reason::new(cause, "stopped by SIGINT"))
}

pub fn parts(trial: u32) -> Vec<PartRecord> {
    let sample = Sample {
        channel: "pass".to_owned(),
        at: Params::default(),
        start: Nanos(1000),
        end: Nanos(2000),
        amount: "64 KiB".parse().unwrap(),
    };
    let integrity = Integrity::Verified { checked: 65536 };
    vec![PartRecord { trial, integrity, ..seatrial_testkit::part(vec![sample]) }]
}

pub fn verdict(case: &Case, verdict: Verdict) -> VerdictRecord {
    VerdictRecord {
        case: Some(case.id.to_string()),
        node: Some("n1".to_owned()),
        measured: Some("21 GB/s".parse().unwrap()),
        ..VerdictRecord::new(
            "memory.bandwidth",
            "memory",
            Subject::node(),
            verdict,
            "at least 90 % of the limit",
        )
    }
}

pub fn finding() -> Finding {
    Finding::new("knee", Severity::Info, Subject::node(), "two threads fill the memory")
}

pub fn record_case(journal: &mut Journal, record: CaseRecord) {
    let id = record.case.clone();
    journal.record(Event::CaseStarted { case: id.clone() }).unwrap();
    for trial in 0..2 {
        journal.record(Event::TrialEnded { case: id.clone(), trial, parts: parts(trial) }).unwrap();
    }
    journal.record(Event::CaseEnded { record: Box::new(record) }).unwrap();
}

pub fn plan(journal: &mut Journal, cases: &[Case]) {
    journal.record(Event::RoundPlanned { cases: cases.to_vec(), estimate: Nanos::secs(8) }).unwrap();
}

/// A run with something in every file: copy and triad measured, judged, not ended.
pub fn small_run(home: &Home) -> Journal {
    let mut journal = RunFolder::create(home, info()).unwrap();
    let node = SiteNode::new("n1", Default::default());
    journal.keep_site(&Site { nodes: vec![node] }).unwrap();
    journal.keep_profile(&Default::default()).unwrap();
    let (copy, triad) = (case("copy"), case("triad"));
    plan(&mut journal, &[copy.clone(), triad.clone()]);
    record_case(&mut journal, measured(&copy, 20.0));
    record_case(&mut journal, measured(&triad, 21.0));
    journal.keep_verdicts(&[finding()], &[verdict(&triad, Verdict::Warn)], Some(Verdict::Warn)).unwrap();
    journal
}

pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
