//! Real rounds in a temporary folder, and metrics from invented samples.

mod clients;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use seatrial_model::machine::{FileSystem, Known, Machine, Medium};
use seatrial_model::{Case, Cause, Integrity, Nanos, Phase, Reason, Site, SiteNode, Verification};

use super::BENCHMARK;
use super::part::MetadataWorker;
use super::work::{FileOperation, Files};
use seatrial_bench::directory::Folder;
use seatrial_bench::stale_dirs::{MANIFEST, name};
use seatrial_bench::testing::Kept;
use seatrial_bench::{Running, Stop};

fn machine(systems: Vec<FileSystem>) -> Machine {
    let cpu = seatrial_testkit::cores([0]);
    Machine { cpu, file_systems: Known::Known(systems), ..Machine::default() }
}

fn planned(machine: Machine, changed: &[(&str, &str)]) -> Result<Case, Reason> {
    let about = BENCHMARK.about;
    let params = seatrial_testkit::params(about, changed);
    let site = Site { nodes: vec![SiteNode::new("n1", machine)] };
    BENCHMARK.plan(&params, &site).map(|mut cases| cases.remove(0))
}

fn worker(directory: &Path, changed: &[(&str, &str)]) -> (Case, Result<MetadataWorker, Reason>) {
    let path = directory.display().to_string();
    let mut all = vec![("directory", path.as_str())];
    all.extend_from_slice(changed);
    let mut case = planned(machine(Vec::new()), &all).expect("a plan");
    case.places[0].bindings.clear();
    let worker = MetadataWorker::prepare(&case, &case.places[0]);
    (case, worker)
}

/// Runs phases of growing length until every operation was done; the machine may be busy.
fn measured(worker: &mut MetadataWorker) -> Kept {
    for seconds in [1, 4, 16, 64] {
        let mut kept = Kept::default();
        worker.run(Phase::Measure, &Stop::after(Duration::from_secs(seconds)), &mut kept).expect("runs");
        if kept.samples.len() >= FileOperation::ALL.len() {
            return kept;
        }
    }
    panic!("no round was finished within a minute");
}

#[test]
fn every_operation_is_counted_checked_and_nothing_is_left() {
    for (folder, size, threads) in [("own", "0 B", "2"), ("shared", "3901 B", "3")] {
        let directory = tempfile::tempdir().expect("a folder");
        let changed = [("folder", folder), ("size", size), ("threads", threads), ("files", "20")];
        let (case, worker) = worker(directory.path(), &changed);
        let mut worker = worker.expect("made");
        assert_eq!(fs::read_dir(directory.path()).expect("listed").count(), 1);
        let kept = measured(&mut worker);
        let created = kept.samples.iter().find(|sample| sample.at.text("operation") == Ok("create"));
        let most = 20.0 * threads.parse::<f64>().expect("a number");
        assert!(created.is_some_and(|sample| sample.amount.value() > 0.0 && sample.amount.value() <= most));
        let integrity = worker.verify().expect("looked");
        assert!(matches!(integrity, Integrity::Verified { checked } if checked > 0), "{integrity:?}");
        assert_eq!(fs::read_dir(directory.path()).expect("listed").count(), 0, "something is left");
        let record = kept.record(&case.places[0], integrity);
        let mut cut_off = record.clone();
        cut_off.samples.retain(|sample| sample.at.text("operation") == Ok("create"));
        let why = BENCHMARK.reduce(&case, &[cut_off]).expect_err("no round is whole");
        assert!(why.cause == Cause::TooShort && why.text.contains("raise -p time="), "{why}");
        let measures = BENCHMARK.reduce(&case, &[record]).expect("figures");
        assert_eq!(measures.series["by_operation"].len(), FileOperation::ALL.len());
        assert!(measures.metrics["operations"].trials[0].iter().all(|rate| *rate > 0.0));
        assert!(measures.metrics.contains_key("slowest") && measures.evidence.contains_key("clean_up"));
    }
}

#[test]
fn what_is_repeated_finds_every_file_under_its_name() {
    let directory = tempfile::tempdir().expect("a folder");
    let mut files = Files::new(0, directory.path(), 1, 3901, Verification::Full).expect("opened");
    let stop = Stop::after(Duration::from_secs(600));
    for round in 0..3 {
        files.next_round();
        let mut done = Vec::new();
        for operation in FileOperation::ALL {
            let until = Nanos(seatrial_sys::clock::now_ns()).plus(Nanos::millis(30));
            let slices = files.repeat(operation, 7, until, &stop).expect("done");
            done.push(slices.iter().map(|slice| slice.count).sum::<u64>());
            assert_eq!(
                files.latencies.len() as u64,
                done.last().expect("pushed") / if operation == FileOperation::List { 7 } else { 1 }
            );
        }
        assert_eq!((done[0], done[6]), (7, 7), "created and removed once: {done:?} in round {round}");
        assert!(done[1..6].iter().all(|count| *count > 0), "{done:?}");
    }
    assert_eq!((files.wrong, files.first.as_deref()), (0, None));
    assert_eq!(fs::read_dir(directory.path()).expect("listed").count(), 0);
}

#[test]
fn whatever_the_end_of_a_phase_cuts_off_the_next_one_finds_nothing_of_it() {
    let directory = tempfile::tempdir().expect("a folder");
    let (_, worker) = worker(directory.path(), &[("files", "50")]);
    let mut worker = worker.expect("made");
    for length in 0..60 {
        let mut kept = Kept::default();
        let stop = Stop::after(Duration::from_micros(500 + 170 * length));
        worker.run(Phase::WarmUp, &stop, &mut kept).expect("runs");
    }
    measured(&mut worker);
    let integrity = worker.verify().expect("looked");
    assert!(matches!(integrity, Integrity::Verified { .. }), "{integrity:?}");
}

#[test]
fn a_changed_byte_and_a_file_too_many_are_found() {
    let directory = tempfile::tempdir().expect("a folder");
    let mut files = Files::new(0, directory.path(), 1, 3901, Verification::Full).expect("opened");
    let stop = Stop::after(Duration::from_secs(600));
    let far = Nanos(u64::MAX);
    files.next_round();
    for operation in [FileOperation::Create, FileOperation::Stat, FileOperation::Read, FileOperation::List] {
        files.pass(operation, 5, far, &stop).expect("done");
    }
    assert_eq!((files.checked, files.wrong), (11, 0));
    files.spoil(3).expect("changed");
    fs::write(directory.path().join("foreign"), "").expect("made");
    for operation in [FileOperation::Read, FileOperation::List] {
        files.pass(operation, 5, far, &stop).expect("done");
    }
    assert_eq!((files.checked, files.wrong), (17, 2));
    assert_eq!(files.first.as_deref(), Some("file.0.1.3 was read back with 8 flipped bits from byte 100 on"));
}

#[test]
fn another_s_data_and_missing_data_are_told_in_a_sentence() {
    let directory = tempfile::tempdir().expect("a folder");
    let mut files = Files::new(0, directory.path(), 1, 3901, Verification::Full).expect("opened");
    let stop = Stop::after(Duration::from_secs(600));
    let far = Nanos(u64::MAX);
    files.next_round();
    files.pass(FileOperation::Create, 5, far, &stop).expect("made");
    let mut first = |operation| {
        files.first = None;
        files.pass(operation, 5, far, &stop).expect("done");
        files.first.clone().expect("told")
    };
    fs::write(directory.path().join("file.0.1.2"), [0; 3901]).expect("written");
    assert_eq!(first(FileOperation::Read), "file.0.1.2 was read back with zeros from byte 0 on");
    fs::write(directory.path().join("file.0.1.1"), "short").expect("written");
    assert_eq!(first(FileOperation::Stat), "file.0.1.1 has a size of 5 B instead of 3901");
    files.swap(4, 0).expect("copied");
    files.first = None;
    files.pass(FileOperation::Read, 5, far, &stop).expect("done");
    assert_eq!(
        files.first.as_deref(),
        Some("file.0.1.0 was read back with data of file.0.1.4 from byte 0 on")
    );
}

#[test]
fn a_refusal_says_what_was_tried_on_which_path_and_what_the_system_answered() {
    let directory = tempfile::tempdir().expect("a folder");
    let mut files = Files::new(0, directory.path(), 1, 0, Verification::Full).expect("opened");
    let stop = Stop::after(Duration::from_secs(600));
    let far = Nanos(u64::MAX);
    files.next_round();
    files.pass(FileOperation::Create, 2, far, &stop).expect("made");
    let file = directory.path().join("file.0.1.1");
    fs::remove_file(&file).expect("removed");
    let error = files.pass(FileOperation::Open, 2, far, &stop).expect_err("gone");
    let told = "No such file or directory (os error 2); the directory does not exist, was removed meanwhile, or its file system cannot create files";
    assert_eq!(error.text, format!("opening {}: {told}", file.display()));
}

#[test]
fn a_worker_that_finds_wrong_data_says_corrupt_and_cleans_up_all_the_same() {
    let directory = tempfile::tempdir().expect("a folder");
    let (_, worker) = worker(directory.path(), &[("size", "3901 B")]);
    let mut worker = worker.expect("made");
    let stop = Stop::after(Duration::from_secs(600));
    let files = worker.files(0);
    files.next_round();
    files.pass(FileOperation::Create, 3, Nanos(u64::MAX), &stop).expect("made");
    files.spoil(1).expect("changed");
    files.pass(FileOperation::Read, 3, Nanos(u64::MAX), &stop).expect("read");
    assert!(matches!(worker.verify(), Ok(Integrity::Corrupt { wrong: 1, of: 3, .. })));
    assert_eq!(fs::read_dir(directory.path()).expect("listed").count(), 0);
}

fn left_beside(living: &Folder, number: u64) -> PathBuf {
    let dead = living.path().with_file_name(name(super::ID, number));
    fs::create_dir(&dead).expect("made");
    let text = fs::read_to_string(living.path().join(MANIFEST)).expect("read");
    // No process has this number: it is above the kernel's PID_MAX_LIMIT (2^22).
    let text = text.replace(&format!("\"process\":{}", std::process::id()), "\"process\":999999999");
    fs::write(dead.join(MANIFEST), text).expect("written");
    dead
}

#[test]
fn what_a_killed_trial_left_is_removed_and_told_and_what_lives_stays() {
    let directory = tempfile::tempdir().expect("a folder");
    let living = Folder::new(directory.path(), super::ID).expect("made");
    let dead = left_beside(&living, 0);
    let precious = left_beside(&living, 1);
    fs::write(precious.join("thesis.tex"), "mine").expect("written");
    let (case, worker) = worker(directory.path(), &[("files", "2")]);
    let mut worker = worker.expect("made");
    assert!(!dead.exists(), "the next trial removes it");
    assert!(living.path().join(MANIFEST).exists() && precious.join("thesis.tex").exists());
    let kept = measured(&mut worker);
    assert_eq!(kept.evidence["leftovers"], serde_json::json!([dead.display().to_string()]));
    let why = kept.evidence["leftovers_kept"][0].as_str().expect("why one stays");
    assert!(why.contains("thesis.tex, which no test makes"), "{why}");
    let part = kept.record(&case.places[0], worker.verify().expect("sound"));
    let told = seatrial_bench::directory::leftovers(&[part]).expect("a finding").text;
    for word in [&dead, &precious] {
        assert!(told.contains(&word.display().to_string()), "{told}");
    }
}

#[test]
fn a_folder_that_somebody_put_in_the_place_of_ours_is_left_alone_and_ours_is_emptied() {
    let directory = tempfile::tempdir().expect("a folder");
    let folder = Folder::new(directory.path(), super::ID).expect("made");
    fs::write(folder.inner("thread.0").expect("made").join("file.0.0.0"), "ours").expect("written");
    let moved = directory.path().join("moved");
    fs::rename(folder.path(), &moved).expect("moved");
    let victim = folder.path().to_owned();
    fs::create_dir(&victim).expect("made");
    fs::write(victim.join("precious"), "theirs").expect("written");
    folder.remove().expect("ours is emptied");
    assert_eq!(fs::read_to_string(victim.join("precious")).expect("there"), "theirs");
    assert_eq!(fs::read_dir(&moved).expect("there").count(), 0);
}

#[test]
fn a_directory_that_is_not_there_or_goes_away_is_told_and_does_not_speak_against_it() {
    let directory = tempfile::tempdir().expect("a folder");
    let (_, absent) = worker(&directory.path().join("absent"), &[]);
    assert_eq!(absent.expect_err("absent").cause, Cause::Missing);
    let (_, worker) = worker(directory.path(), &[("threads", "3")]);
    let mut worker = worker.expect("made");
    for entry in fs::read_dir(directory.path()).expect("listed").flatten() {
        fs::remove_dir_all(entry.path()).expect("removed");
    }
    let mut kept = Kept::default();
    let error = worker.run(Phase::Measure, &Stop::after(Duration::from_secs(60)), &mut kept);
    assert_eq!(error.expect_err("removed").cause, Cause::Missing);
}

#[test]
fn more_inodes_or_bytes_than_there_are_are_refused_before_anything_is_made() {
    let directory = tempfile::tempdir().expect("a folder");
    let (_, worker) = worker(directory.path(), &[("threads", "256"), ("files", "100000"), ("size", "1 MiB")]);
    assert_eq!(worker.expect_err("too much").cause, Cause::NoSpace);
    assert_eq!(fs::read_dir(directory.path()).expect("listed").count(), 0);
}

#[test]
fn the_file_system_of_the_path_is_the_subject_and_memory_and_read_only_ones_are_told() {
    let fs = |mount: &str, medium, read_only| FileSystem {
        mount: mount.to_owned(),
        medium,
        read_only,
        ..FileSystem::default()
    };
    let systems = vec![
        fs("/", Medium::Disk, false),
        fs("/data", Medium::Disk, false),
        fs("/dev/shm", Medium::Memory, false),
        fs("/cd", Medium::Disk, true),
        FileSystem { also_at: vec!["/var".to_owned()], ..fs("/etc", Medium::Disk, false) },
    ];
    let at = |path: &str| planned(machine(systems.clone()), &[("directory", path)]);
    assert_eq!(at("/data/a").expect("a plan").subject.as_str(), "fs:/data");
    assert_eq!(at("/database").expect("a plan").subject.as_str(), "fs:/");
    let bound = at("/var/tmp").expect("a plan");
    assert_eq!((bound.subject.as_str(), bound.key.as_deref()), ("fs:/var", Some("mount:/var=")));
    assert_eq!(at("/dev/shm").expect("a plan").findings[0].kind, "in-memory");
    assert_eq!(at("/cd/x").expect_err("read-only").cause, Cause::Denied);
    assert_eq!(at("data").expect_err("no full path").cause, Cause::Contradiction);
}

#[test]
fn nothing_done_is_no_number() {
    let case = planned(machine(Vec::new()), &[]).expect("a plan");
    assert_eq!(BENCHMARK.reduce(&case, &[]).expect_err("nothing").cause, Cause::TooShort);
}
