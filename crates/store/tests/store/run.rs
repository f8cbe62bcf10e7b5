//! A run is written, read back and resumed.

use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::thread;

use super::common::{case, end, info, measured, plan, record_case, small_run, unmeasured};
use seatrial_model::machine::Machine;
use seatrial_model::record::{CheckOptions, RunOptions};
use seatrial_model::{Cause, Outcome, Site, SiteNode, Verdict};
use seatrial_store::{Files, Home, Piece, RunFolder, State, StoreError};

#[test]
fn serial_numbers_are_kept_apart_from_the_inventory_and_are_no_evidence() {
    let (_folder, home) = super::common::home();
    let mut journal = small_run(&home);
    let mut node = SiteNode::new("n1", Machine::default());
    node.machine.serials.system = Some("J4X".to_owned());
    journal.keep_site(&Site { nodes: vec![node.clone()] }).unwrap();
    let path = journal.path().to_owned();
    journal.end(end()).unwrap();
    let run = RunFolder::open(&path).unwrap();
    assert!(run.site().unwrap().nodes[0].machine.serials.is_empty());
    assert_eq!(run.serials().unwrap()["n1"], node.machine.serials);
    let mut evidence = Vec::new();
    seatrial_store::export(&path, &mut evidence).unwrap();
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(evidence.as_slice()).read_to_end(&mut plain).unwrap();
    assert!(!plain.windows(3).any(|bytes| bytes == b"J4X"));
}

#[test]
fn everything_written_is_read_back() {
    let (_folder, home) = super::common::home();
    let journal = small_run(&home);
    let path = journal.path().to_owned();
    assert_eq!(RunFolder::open(&path).unwrap().state, State::Running);
    let ended = journal.end(end()).unwrap();

    let run = RunFolder::open(&path).unwrap();
    assert_eq!(run.state, State::Ended);
    assert_eq!(run.damage, []);
    assert_eq!(run.info().unwrap(), &ended);
    assert_eq!(run.results, [measured(&case("copy"), 20.0), measured(&case("triad"), 21.0)]);
    assert_eq!(run.plan.present().unwrap().cases().count(), 2);
    assert_eq!(run.site().unwrap().nodes[0].name, "n1");
    assert!(matches!(run.profile().unwrap(), Piece::Present(_)));
    let samples = run.samples(&case("triad").id).unwrap();
    assert_eq!(samples, Piece::Present([super::common::parts(0), super::common::parts(1)].concat()));
    let document = run.document().unwrap();
    assert_eq!((document.verdict, document.findings.len()), (Some(Verdict::Warn), 1));
    let words: Vec<_> = run.events().iter().map(|logged| logged.event["event"].clone()).collect();
    assert_eq!(words.len(), 9, "{words:?}");
    assert_eq!(words[0], "round_planned");
}

#[test]
fn a_run_that_stopped_without_saying_so_was_killed() {
    let (_folder, home) = super::common::home();
    let journal = small_run(&home);
    let path = journal.path().to_owned();
    drop(journal);
    assert_eq!(RunFolder::open(&path).unwrap().state, State::Killed);
}

#[test]
fn resume_leaves_alone_what_is_done_and_runs_again_what_was_interrupted() {
    let (_folder, home) = super::common::home();
    let mut journal = RunFolder::create(&home, info()).unwrap();
    let path = journal.path().to_owned();
    let cases: Vec<_> = ["copy", "scale", "add", "triad"].map(case).into();
    plan(&mut journal, &cases);
    record_case(&mut journal, measured(&cases[0], 20.0));
    record_case(&mut journal, unmeasured(&cases[1], Cause::Interrupted));
    record_case(&mut journal, unmeasured(&cases[2], Cause::Denied));
    let mut interrupted = end();
    interrupted.signal = Some("SIGINT".to_owned());
    journal.end(interrupted).unwrap();

    let resumed = RunFolder::resume(&path).unwrap();
    let done = BTreeSet::from([cases[0].id.clone(), cases[2].id.clone()]);
    assert_eq!(resumed.run.done(), done);
    let mut journal = resumed.journal;
    assert!(RunFolder::open(&path).unwrap().info().unwrap().ended.is_some(), "nothing has begun yet");
    let strict = RunOptions {
        check: CheckOptions { strict: true, ..CheckOptions::default() },
        ..RunOptions::default()
    };
    journal.go_on(strict.clone()).unwrap();
    let going_on = RunFolder::open(&path).unwrap();
    assert_eq!((going_on.info().unwrap().ended.clone(), going_on.verdict), (None, None));
    plan(&mut journal, &cases[1..]);
    record_case(&mut journal, measured(&cases[1], 22.0));
    journal.end(end()).unwrap();

    let run = RunFolder::open(&path).unwrap();
    let outcomes: Vec<_> = run.results.iter().map(|record| (record.case.as_str(), record.outcome)).collect();
    let named = |position: usize| cases[position].id.as_str();
    let expected =
        [(named(0), Outcome::Measured), (named(2), Outcome::Unmeasured), (named(1), Outcome::Measured)];
    assert_eq!(outcomes, expected);
    assert_eq!(run.plan.present().unwrap().cases().count(), 4, "planned again is not planned twice");
    assert_eq!(run.info().unwrap().options, Some(strict), "what it went on with");
}

#[test]
fn resume_measures_again_whose_samples_a_power_cut_took() {
    let (_folder, home) = super::common::home();
    let mut journal = RunFolder::create(&home, info()).unwrap();
    let path = journal.path().to_owned();
    let cases = ["copy", "scale", "triad"].map(case);
    plan(&mut journal, &cases);
    for case in &cases {
        record_case(&mut journal, measured(case, 20.0));
    }
    drop(journal);
    let samples = |case: usize| Files::of(&path).samples(&cases[case].id);
    std::fs::remove_file(samples(0)).unwrap();
    std::fs::write(samples(1), "").unwrap();
    let run = RunFolder::resume(&path).unwrap().run;
    assert_eq!(run.done(), BTreeSet::from([cases[2].id.clone()]));
}

#[test]
fn a_run_of_somebody_else_is_not_gone_on_with() {
    let (_folder, home) = super::common::home();
    small_run(&home).end(end()).unwrap();
    let path = home.find("last").unwrap();
    let own = std::fs::metadata(&path).unwrap().uid();
    if std::os::unix::fs::chown(&path, Some(own + 1), None).is_err() {
        return super::environment::skipped("only root can give a folder away");
    }
    let error = RunFolder::resume(&path).unwrap_err();
    assert!(matches!(error, StoreError::NotOwn { .. }), "{error}");
    assert!(error.to_string().contains("copy it"), "{error}");
    RunFolder::open(&path).unwrap();
}

#[test]
fn resume_goes_on_with_planned_cases_that_no_node_came_to() {
    let (_folder, home) = super::common::home();
    let mut journal = RunFolder::create(&home, info()).unwrap();
    let path = journal.path().to_owned();
    let [lost, absent] = ["copy", "triad"].map(case);
    plan(&mut journal, std::slice::from_ref(&lost));
    // The agent of the first was lost before; the node of the second was missing when the plan was made.
    for case in [&lost, &absent] {
        record_case(&mut journal, unmeasured(case, Cause::NeverReached));
    }
    journal.end(end()).unwrap();
    let run = RunFolder::resume(&path).unwrap().run;
    assert_eq!(
        run.done(),
        BTreeSet::from([absent.id.clone()]),
        "nobody plans it anew, so its record has to stay"
    );
    assert_eq!(run.finished().count(), 1);
}

#[test]
fn resume_refuses_a_run_that_is_alive_and_a_folder_without_a_run() {
    let (folder, home) = super::common::home();
    let journal = small_run(&home);
    let error = RunFolder::resume(journal.path()).unwrap_err();
    assert!(matches!(&error, StoreError::Running { id } if *id == journal.info().id), "{error}");
    assert!(matches!(RunFolder::resume(folder.path()), Err(StoreError::Unreadable { .. })));
    assert!(matches!(RunFolder::open(&folder.path().join("none")), Err(StoreError::NotARun { .. })));
}

#[test]
fn a_run_of_a_newer_seatrial_is_refused_not_misread() {
    let (_folder, home) = super::common::home();
    let journal = small_run(&home);
    std::fs::write(journal.path().join("plan.json"), r#"{"schema": 99, "steps": []}"#).unwrap();
    let error = RunFolder::open(journal.path()).unwrap_err();
    assert!(matches!(error, StoreError::TooNew { schema: 99, .. }), "{error}");
}

#[test]
fn keys_of_a_later_version_do_no_harm() {
    let (_folder, home) = super::common::home();
    let journal = small_run(&home);
    for file in ["run.json", "verdicts.json", "plan.json"] {
        let path = journal.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap().replacen('{', r#"{"quantum": [1],"#, 1);
        std::fs::write(&path, text).unwrap();
    }
    let run = RunFolder::open(journal.path()).unwrap();
    assert_eq!((run.damage.as_slice(), run.verdict), ([].as_slice(), Some(Verdict::Warn)));
}

#[test]
fn runs_that_start_at_once_never_share_a_folder() {
    let (_folder, home) = super::common::home();
    let start = |_| {
        let home = home.clone();
        thread::spawn(move || {
            let mut journal = RunFolder::create(&home, info()).unwrap();
            record_case(&mut journal, measured(&case("copy"), 20.0));
            journal.end(end()).unwrap().id
        })
    };
    let threads: Vec<_> = (0..16).map(start).collect();
    let ids: BTreeSet<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(ids.len(), 16);
    assert_eq!(home.ids().unwrap(), ids.iter().cloned().collect::<Vec<_>>());
    for id in ids {
        assert_eq!(RunFolder::open(&home.find(&id).unwrap()).unwrap().results.len(), 1);
    }
}

#[test]
fn last_is_the_last_run_also_when_the_clock_was_set_back() {
    let (_folder, home) = super::common::home();
    let start = |home: &Home, started: &str| {
        let mut info = info();
        info.started = started.parse().unwrap();
        RunFolder::create(home, info).unwrap().path().to_owned()
    };
    start(&home, "2026-09-21T08:30:15Z");
    let second = start(&home, "2019-01-01T00:00:00Z");
    assert_eq!(home.find("last").unwrap(), second);
    let run = RunFolder::open(&second).unwrap();
    assert_eq!(
        run.info().unwrap().started.to_string(),
        "2019-01-01T00:00:00Z",
        "the clock's own word is kept"
    );
}
