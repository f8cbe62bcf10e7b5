//! `storage.file` with the real binary, on file systems that freeze and in runs that are killed: a hang is a result,
//! and no file of a case stays.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use seatrial_model::{Cause, Outcome};
use seatrial_stats::Random;
use serde_json::Value;
use tempfile::TempDir;

use crate::rig::{
    Home, Role, Script, assert_nothing_runs, of_home, skipped, wait_until, without_privilege_over_files,
};

/// Far more than the grace time of a phase, of which a busy machine may need some.
const NEVER: Duration = Duration::from_secs(180);

fn call(program: &str, words: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(words).output().map_err(|error| format!("{program}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(format!("{program} {words:?}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// An ext4 of 96 MiB on a loop device. Drop thaws, unmounts and removes it.
struct LoopDisk {
    folder: TempDir,
    device: String,
}

impl LoopDisk {
    fn new() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("it needs root".to_owned());
        }
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut disk = Self { folder, device: String::new() };
        let image = disk.folder.path().join("image");
        fs::create_dir(disk.mount()).map_err(|error| error.to_string())?;
        let made = fs::File::create(&image).and_then(|file| file.set_len(96 << 20));
        made.map_err(|error| error.to_string())?;
        let lazy = "lazy_itable_init=0,lazy_journal_init=0";
        call("mkfs.ext4", &["-q", "-m", "0", "-E", lazy, text(&image)])?;
        disk.device = call("losetup", &["--find", "--show", text(&image)])?;
        call("mount", &[&disk.device, text(&disk.mount())])?;
        Ok(disk)
    }

    fn mount(&self) -> PathBuf {
        self.folder.path().join("mount")
    }

    fn freeze(&self) {
        call("fsfreeze", &["-f", text(&self.mount())]).expect("frozen");
    }

    fn thaw(&self) {
        call("fsfreeze", &["-u", text(&self.mount())]).expect("thawed");
    }

    /// Bytes in use, after everything released was freed.
    fn used(&self) -> u64 {
        call("sync", &["-f", text(&self.mount())]).expect("synced");
        let told = rustix::fs::statvfs(self.mount()).expect("told");
        (told.f_blocks - told.f_bfree) * told.f_frsize
    }

    /// Names in it, except its own.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.mount()).expect("listed").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name != "lost+found").collect()
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        let _ = call("fsfreeze", &["-u", text(&self.mount())]);
        for _ in 0..200 {
            match call("umount", &[text(&self.mount())]) {
                Err(why) if why.contains("busy") => sleep(Duration::from_millis(20)),
                _ => break,
            }
        }
        if !self.device.is_empty() {
            let _ = call("losetup", &["--detach", &self.device]);
        }
    }
}

fn disk() -> Option<LoopDisk> {
    LoopDisk::new().inspect_err(|why| skipped(&format!("no loop device with a file system: {why}"))).ok()
}

fn line(disk: &LoopDisk, rest: &str) -> String {
    let place = text(&disk.mount()).to_owned();
    format!(
        "run storage.file -p directory={place} -p size=16MiB -p block=64KiB -p trials=1 -p max_trials=1 {rest}"
    )
}

/// Freezes the file system during the first case, which must fail as hung. Returns the home and the run.
fn frozen_while_measuring(disk: &LoopDisk, rest: &str) -> (Home, crate::rig::Started) {
    // On a busy machine we may get no CPU for the shorter times.
    for time in ["1s", "5s", "20s"] {
        let home = Home::new();
        let mut run = home.seatrial(&line(disk, &format!("{rest} -p time={time}"))).start();
        run.wait_for_event("measuring", |event| event["phase"] == "measure");
        let began = Instant::now();
        disk.freeze();
        wait_until("the first case to end", || !home.results().is_empty());
        let took = began.elapsed();
        let first = &home.results()[0];
        if first["outcome"] == "measured" {
            disk.thaw();
            drop(run.ended());
            continue;
        }
        assert!(took < NEVER, "{took:?}");
        assert_eq!(
            (&first["outcome"], &first["cause"]),
            (&Value::from("failed"), &Value::from("hang")),
            "{first}"
        );
        let reason = first["reason"].as_str().expect("a reason");
        for word in ["a write at offset ", "in flight) has been pending for ", " in state "] {
            assert!(reason.contains(word), "'{word}' is not in: {reason}");
        }
        return (home, run);
    }
    panic!("every first case was over before its file system was frozen");
}

#[test]
fn a_file_system_that_freezes_fails_its_case_and_the_matrix_goes_on_when_it_thaws() {
    let Some(disk) = disk() else { return };
    for _ in 0..5 {
        let (home, run) =
            frozen_while_measuring(&disk, "-p operation=write -p threads=1,2 -p pattern=seq,random");
        disk.thaw();
        let ended = run.ended();
        assert_nothing_runs(home.path());
        let results = home.results();
        // A check of a hung file system must be answered soon, also on a busy machine.
        if results.iter().any(|record| record["evidence"]["after_hang"].is_string()) {
            continue;
        }
        ended.exits(1).shows("1 failed");
        let outcomes: Vec<&Value> = results.iter().map(|record| &record["outcome"]).collect();
        assert_eq!(outcomes, ["failed", "measured", "measured", "measured"]);
        return;
    }
    panic!("a file system that had thawed did not answer in any of five runs");
}

#[test]
fn a_file_system_that_stays_frozen_does_not_keep_the_run_from_its_end() {
    let Some(disk) = disk() else { return };
    let (home, run) = frozen_while_measuring(&disk, "-p operation=write -p pattern=seq,random");
    // The second case finds it frozen when it creates its files, until the end.
    run.ended().exits(1).shows("2 of 2 cases failed");
    let results = home.results();
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|record| record["cause"] == "hang"), "{results:#?}");
    // It was checked first, which takes seconds, and not started.
    assert_eq!(results[1]["evidence"]["after_hang"], results[0]["case"], "{results:#?}");
    let reason = results[1]["reason"].as_str().expect("a reason");
    assert!(reason.contains("still does not answer within 2 s"), "{reason}");
    assert!(results[1]["evidence"]["worker 0"]["when_killed"].is_object(), "{results:#?}");
    disk.thaw();
    assert_nothing_runs(home.path());
    assert_eq!(disk.names(), [""; 0]);
}

#[test]
fn files_that_cases_share_are_found_by_later_trials_and_gone_with_the_run() {
    let Some(disk) = disk() else { return };
    let (home, used) = (Home::new(), disk.used());
    let rest = "-p block=16KiB,64KiB -p pattern=seq,random -p threads=1,2 -p time=300ms";
    let sweep = line(&disk, rest).replace("-p block=64KiB ", "").replace("trials=1", "trials=2");
    home.seatrial(&sweep).run().exits(0);
    let words: Vec<(String, u64)> = home
        .results()
        .iter()
        .map(|record| {
            let word = record["evidence"]["fixture"].as_str().unwrap_or("none").to_owned();
            (word, record["params"]["threads"].as_u64().expect("a count"))
        })
        .collect();
    assert_eq!(words.len(), 8);
    // The evidence is of the last trial: the first trial of the first case filled the files.
    assert!(words.iter().all(|(word, _)| word == "found"), "{words:?}");
    assert_nothing_runs(home.path());
    // The kernel frees what still waited in a queue of descriptors in its own time.
    let deadline = Instant::now() + NEVER;
    while disk.used() > used + (64 << 10) && Instant::now() < deadline {
        sleep(Duration::from_millis(100));
    }
    assert!(disk.used() <= used + (64 << 10), "{} B were in use, now {} B", used, disk.used());
    // A file system that froze meanwhile blocks the thread that frees files, not the run.
    let home = Home::new();
    let mut run = home.seatrial(&line(&disk, "-p time=1s")).start();
    run.wait_for_event("measuring", |event| event["phase"] == "measure");
    disk.freeze();
    run.ended().exits(0);
    disk.thaw();
    assert_nothing_runs(home.path());
    assert_eq!(disk.names(), [""; 0]);
}

#[test]
fn whatever_is_killed_at_any_moment_leaves_no_byte_of_test_data() {
    let Some(disk) = disk() else { return };
    let used = disk.used();
    let brief = "-p time=50ms -p trials=1000 -p max_trials=1000";
    let lines = ["-p operation=read", "-p operation=write", "-p operation=mixed -p access=buffered"]
        .map(|rest| line(&disk, rest).replace("-p trials=1 -p max_trials=1", brief));
    let copy = format!("run storage.copy -p from={} -p size=16MiB {brief}", text(&disk.mount()));
    let lines = [&lines[..], &[copy]].concat();
    for seed in 1..=8_u64 {
        let mut random = Random::of(seed);
        let home = Home::new();
        let line = &lines[seed as usize % lines.len()];
        let mut run = home.seatrial(line).start();
        run.wait_for_event("a worker", |event| event["event"] == "case_started");
        sleep(Duration::from_millis(random.bits() % 1500));
        let victim = [Role::Main, Role::Agent, Role::Worker][random.bits() as usize % 3];
        for process in of_home(home.path()).iter().filter(|process| process.role == victim) {
            let _ = rustix::process::kill_process(process.pid, Signal::KILL);
        }
        if victim == Role::Worker {
            // The others go on with the next trial, and exit when told to.
            run.signal(Signal::TERM);
        }
        drop(run.ended());
        assert_nothing_runs(home.path());
        assert_eq!(disk.names(), [""; 0], "seed {seed}, {victim:?}: {line}");
        // The kernel frees the blocks when the last request of a dead ring is over.
        wait_until("the blocks to be given back", || disk.used() <= used + (64 << 10));
    }
}

#[test]
fn the_profile_host_says_that_it_takes_less_than_ninety_seconds() {
    let home = Home::new();
    // A machine of known size: a large cache makes a longer plan, limited by the profile's time.
    let script = Script::measuring(60.0);
    let plan = home.seatrial("check host --plan").script(&script).run().exits(0).out;
    let line = plan.lines().next().expect("a line");
    let told = line.split_once("about ").and_then(|(_, rest)| rest.split_once(';')).expect("a time").0;
    // Without repeated trials.
    let told = told.split(" to ").next().expect("the least");
    let words: Vec<&str> = told.split_whitespace().collect();
    let seconds: f64 = words
        .chunks(2)
        .map(|pair| {
            let number: f64 = pair[0].parse().expect("a number");
            number
                * match pair[1] {
                    "ms" => 0.001,
                    "s" => 1.0,
                    "min" => 60.0,
                    other => panic!("{other}: {line}"),
                }
        })
        .sum();
    // Parts that this machine lacks take time elsewhere.
    let plan = plan.split_whitespace().collect::<Vec<_>>().join(" ");
    let left_out = plan.split_once("left out").map_or("", |(_, rest)| rest);
    let registry = seatrial_registry::REGISTRY;
    let is_left_out = |id: &str| left_out.contains(&format!(" {id} "));
    let elsewhere: u64 =
        registry.abouts().filter(|about| is_left_out(about.id)).map(|about| about.cost.seconds).sum();
    assert!(seconds + elsewhere as f64 <= 90.0, "{line}, and {elsewhere} s for what is left out here");
    for case in ["file-read storage.file", "file-write storage.file"] {
        assert!(plan.contains(case), "{case} is not in: {plan}");
    }
}

#[test]
fn a_plan_tells_of_a_directory_that_is_not_here() {
    let home = Home::new();
    let plan = |path: &str| {
        home.seatrial(&format!("run storage.file -p size=4MiB -p directory={path} --plan")).run().exits(0)
    };
    plan("/nonexistent").shows("/nonexistent is no directory of this machine: make it, or name another one");
    assert!(!plan("/var/tmp").out.contains("no directory"));
}

#[test]
fn a_file_test_that_nobody_gave_a_directory_names_where_it_was_and_never_takes_memory() {
    let home = Home::new();
    let brief = "-p size=4MiB -p block=64KiB -p time=50ms -p trials=1 -p max_trials=1 -o json";
    let run = home.seatrial(&format!("run storage.file {brief}"));
    // A folder in memory is where it starts, not where it creates files.
    let run = run.under(&["env", "-C", "/dev/shm"]).run();
    let document = run.document();
    let case = &document.results[0];
    let Some(files) = case.evidence.get("files") else {
        return skipped(&format!("no directory here takes files: {:?}", case.reason));
    };
    assert_eq!(files["directory"], "/var/tmp");
    assert!(files["instead_of"].as_str().is_some_and(|why| why.contains("in memory")), "{files}");
    let told = case.findings.iter().find(|finding| finding.kind == "directory-chosen").expect("told");
    assert!(told.text.contains("/var/tmp"), "{}", told.text);
}

#[test]
fn a_directory_that_may_not_be_written_to_is_denied_and_nothing_is_judged() {
    without_privilege_over_files(|| {
        let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).expect("set");
        for bench in ["storage.file", "storage.metadata"] {
            let line = format!("run {bench} -p directory={} -p time=50ms -o json", text(folder.path()));
            let case = home.seatrial(&line).run().exits(3).case();
            assert_eq!((case.outcome, case.cause), (Outcome::Unmeasured, Some(Cause::Denied)), "{case:?}");
            let reason = case.reason.expect("a reason");
            assert!(reason.contains("name a writable directory"), "{reason}");
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).expect("set");
    });
}
