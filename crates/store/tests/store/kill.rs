//! A run may be killed at any byte: what it holds is read, and nothing is invented.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::common::{case, copy_folder, end, info, measured, plan, record_case, small_run};
use seatrial_store::{Home, Piece, RunFolder, State, StoredRun};

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Requires that `damaged` has nothing that `whole` does not have.
fn assert_nothing_is_made_up(damaged: &StoredRun, whole: &StoredRun, what: &str) {
    let mut rest = whole.results.iter();
    for record in &damaged.results {
        assert!(
            rest.any(|known| known == record),
            "{what}: a result that was never written, or out of order"
        );
    }
    if let Piece::Present(info) = &damaged.info {
        assert_eq!(Some(info), whole.info.present(), "{what}");
    }
    if let Piece::Present(plan) = &damaged.plan {
        assert_eq!(Some(plan), whole.plan.present(), "{what}");
    }
    assert!(damaged.verdict.is_none() || damaged.verdict == whole.verdict, "{what}");
    assert!(damaged.verdicts.is_empty() || damaged.verdicts == whole.verdicts, "{what}");
    for record in &whole.results {
        if let Piece::Present(samples) = damaged.samples(&record.case).unwrap() {
            assert_eq!(Piece::Present(samples), whole.samples(&record.case).unwrap(), "{what}");
        }
    }
    damaged.site().unwrap();
    damaged.profile().unwrap();
    assert!(damaged.events().len() <= whole.events().len(), "{what}");
}

#[test]
fn every_file_cut_at_every_byte_or_zeroed_opens_and_makes_nothing_up() {
    let (_folder, home) = super::common::home();
    let journal = small_run(&home);
    let path = journal.path().to_owned();
    journal.end(end()).unwrap();
    let whole = RunFolder::open(&path).unwrap();
    for file in files_below(&path) {
        let text = fs::read(&file).unwrap();
        for cut in 0..text.len() {
            fs::write(&file, &text[..cut]).unwrap();
            let damaged = RunFolder::open(&path).unwrap();
            assert_nothing_is_made_up(&damaged, &whole, &format!("{} cut at {cut}", file.display()));
        }
        // Some file systems show zeros where a crash kept the length but not the bytes.
        for cut in (0..text.len()).step_by(7) {
            let zeroed = [&text[..cut], &vec![0; text.len() - cut]].concat();
            fs::write(&file, zeroed).unwrap();
            let damaged = RunFolder::open(&path).unwrap();
            assert_nothing_is_made_up(&damaged, &whole, &format!("{} zeroed from {cut}", file.display()));
        }
        fs::remove_file(&file).unwrap();
        assert_nothing_is_made_up(
            &RunFolder::open(&path).unwrap(),
            &whole,
            &format!("without {}", file.display()),
        );
        fs::write(&file, text).unwrap();
    }
}

#[test]
fn results_cut_anywhere_are_gone_on_with() {
    let (folder, home) = super::common::home();
    let journal = small_run(&home);
    let path = journal.path().to_owned();
    journal.end(end()).unwrap();
    let text = fs::read(path.join("results.jsonl")).unwrap();
    let first_line = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let around = |at: usize| (at - 2)..=(at + 1);
    let cuts = (0..text.len()).step_by(97).chain(around(first_line)).chain(around(text.len() - 2));
    for cut in cuts {
        let copy = folder.path().join(format!("cut-{cut}"));
        copy_folder(&path, &copy);
        fs::write(copy.join("results.jsonl"), &text[..cut]).unwrap();
        let resumed = RunFolder::resume(&copy).unwrap();
        let mut journal = resumed.journal;
        let left: Vec<_> = resumed.run.results.clone();
        record_case(&mut journal, measured(&case("scale"), 5.0));
        journal.end(end()).unwrap();
        let run = RunFolder::open(&copy).unwrap();
        assert_eq!(run.damage, [], "cut at {cut}");
        assert_eq!(run.results, [left, vec![measured(&case("scale"), 5.0)]].concat(), "cut at {cut}");
    }
}

#[test]
fn a_torn_line_is_reported_and_a_spoiled_one_costs_only_itself() {
    let (_folder, home) = super::common::home();
    let journal = small_run(&home);
    let path = journal.path().to_owned();
    journal.end(end()).unwrap();
    let results = path.join("results.jsonl");
    let text = fs::read_to_string(&results).unwrap();
    let (first, second) = text.split_once('\n').unwrap();
    fs::write(&results, format!("{first}\n\0\0\0\n{second}{{\"case\": \"torn")).unwrap();
    let run = RunFolder::open(&path).unwrap();
    assert_eq!(run.results.len(), 2);
    let lines: Vec<_> = run.damage.iter().map(|damage| damage.line).collect();
    assert_eq!(lines, [Some(2), Some(4)], "{:?}", run.damage);
    assert!(run.damage[1].to_string().contains("incomplete last line"), "{}", run.damage[1]);
}

/// Set for the child that [`a_killed_process_leaves_a_run_that_is_gone_on_with`] starts and kills.
const VICTIM_HOME: &str = "SEATRIAL_TEST_VICTIM_HOME";

#[test]
fn victim() {
    let Some(home) = std::env::var_os(VICTIM_HOME) else { return };
    let mut journal = RunFolder::create(&Home::at(home), info()).unwrap();
    for number in 0.. {
        let case = case(&format!("kernel{number}"));
        plan(&mut journal, std::slice::from_ref(&case));
        record_case(&mut journal, measured(&case, f64::from(number)));
    }
}

struct Victim(Child);

impl Victim {
    fn start(home: &Home) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "kill::victim"]).env(VICTIM_HOME, home.path()).stdout(Stdio::null());
        Self(command.spawn().unwrap())
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.kill();
    }
}

#[test]
fn a_killed_process_leaves_a_run_that_is_gone_on_with() {
    let (_folder, home) = super::common::home();
    let mut victim = Victim::start(&home);
    let path = loop_until(|| home.find("last").ok());
    loop_until(|| (RunFolder::open(&path).ok()?.results.len() >= 3).then_some(()));
    assert_eq!(RunFolder::open(&path).unwrap().state, State::Running);
    assert!(RunFolder::resume(&path).is_err(), "a run that is alive");
    victim.kill();

    let killed = RunFolder::open(&path).unwrap();
    assert_eq!(killed.state, State::Killed);
    for (number, record) in killed.results.iter().enumerate() {
        assert_eq!(*record, measured(&case(&format!("kernel{number}")), number as f64));
        assert!(matches!(killed.samples(&record.case).unwrap(), Piece::Present(_)), "{number}");
    }
    let resumed = RunFolder::resume(&path).unwrap();
    assert_eq!(resumed.run.results, killed.results);
    resumed.journal.end(end()).unwrap();
    assert_eq!(RunFolder::open(&path).unwrap().state, State::Ended);
}

/// Polls; gives up after a time that only a broken store takes.
fn loop_until<T>(look: impl Fn() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(300), "nothing happened");
        std::thread::sleep(Duration::from_millis(2));
    }
}
