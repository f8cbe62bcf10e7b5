//! The list of runs shows what the folders say, whatever happens to stored summaries.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;

use jiff::Timestamp;
use seatrial_model::record::RunEnd;

use super::common::{case, end, measured, record_case, small_run};
use seatrial_model::Verdict;
use seatrial_store::{Home, RunFolder, RunRow, State, export};

fn home_with_runs(count: usize) -> (tempfile::TempDir, Home) {
    let (folder, home) = super::common::home();
    for _ in 0..count {
        small_run(&home).end(end()).unwrap();
    }
    (folder, home)
}

/// The list, read without summaries.
fn truth(home: &Home) -> Vec<RunRow> {
    let (copy, _) = super::common::home();
    let copied = Home::at(copy.path());
    super::common::copy_folder(&home.runs(), &copied.runs());
    for id in copied.ids().unwrap() {
        let _ = fs::remove_file(copied.runs().join(id).join(".summary.json"));
    }
    copied.history().unwrap()
}

fn summary(home: &Home, run: &str) -> PathBuf {
    home.find(run).unwrap().join(".summary.json")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_home_without_runs_is_not_made_by_looking() {
    let (_folder, home) = super::common::home();
    assert_eq!(home.history().unwrap(), []);
    assert!(!home.path().exists());
}

#[test]
fn a_run_that_was_gone_on_with_took_what_its_parts_took() {
    let (_folder, home) = home_with_runs(1);
    let seconds = || home.history().unwrap()[0].summary.seconds.expect("it has ended");
    assert_eq!(seconds(), 44.75);
    // Stopped in September; since resumed, it has run for as long as this test.
    let resumed = RunFolder::resume(&home.find("last").unwrap()).unwrap();
    resumed.journal.end(RunEnd { at: Timestamp::now(), ..end() }).unwrap();
    assert!((44.75..86_400.0).contains(&seconds()), "{}", seconds());
}

#[test]
fn history_lists_runs_oldest_first_with_state_verdict_and_counts() {
    let (_folder, home) = home_with_runs(2);
    let alive = small_run(&home);
    let runs = home.history().unwrap();
    let ids: Vec<_> = runs.iter().map(|row| row.id.clone()).collect();
    assert_eq!(ids, home.ids().unwrap());
    let states: Vec<_> = runs.iter().map(|row| row.state).collect();
    assert_eq!(states, [State::Ended, State::Ended, State::Running]);
    let summary = &runs[0].summary;
    assert_eq!((summary.verdict, summary.planned, summary.measured), (Some(Verdict::Warn), 2, 2));
    assert_eq!(summary.benches.iter().collect::<Vec<_>>(), ["mem.bandwidth"]);
    drop(alive);
    assert_eq!(home.history().unwrap()[2].state, State::Killed);
}

#[test]
fn a_summary_is_kept_of_every_run_but_a_live_one_and_is_what_the_next_list_reads() {
    let (_folder, home) = home_with_runs(1);
    let alive = small_run(&home);
    home.history().unwrap();
    assert!(!names(alive.path()).contains(&".summary.json".to_owned()), "nobody writes into a live run");
    let kept = summary(&home, "last~1");
    let text = fs::read_to_string(&kept).unwrap();
    fs::write(&kept, text.replace("\"measured\":2", "\"measured\":7")).unwrap();
    assert_eq!(home.history().unwrap()[0].summary.measured, 7, "the record is not read again");
    assert!(!names(&home.find("last~1").unwrap()).iter().any(|name| name.ends_with(".tmp")));
}

#[test]
fn the_list_follows_runs_that_grow_and_runs_that_are_removed() {
    let (_folder, home) = home_with_runs(1);
    drop(small_run(&home));
    assert_eq!(home.history().unwrap()[1].summary.measured, 2);
    let mut journal = RunFolder::resume(&home.find("last").unwrap()).unwrap().journal;
    record_case(&mut journal, measured(&case("add"), 19.0));
    assert_eq!(home.history().unwrap()[1].summary.measured, 3);
    journal.end(end()).unwrap();
    let ended = &home.history().unwrap()[1];
    assert_eq!((ended.state, ended.summary.measured), (State::Ended, 3));
    fs::remove_dir_all(home.find("last~1").unwrap()).unwrap();
    assert_eq!(home.history().unwrap().len(), 1);
}

#[test]
fn a_summary_that_is_damaged_or_of_another_version_is_made_anew() {
    let (_folder, home) = home_with_runs(2);
    let truth = truth(&home);
    home.history().unwrap();
    let kept = summary(&home, "last");
    let good = fs::read_to_string(&kept).unwrap();
    assert_eq!(home.history().unwrap(), truth, "the kept ones");
    let version = "{\"seatrial_summary\":2,";
    assert!(good.starts_with(version), "{good}");
    for bad in [
        String::new(),
        good[..good.len() / 2].to_owned(),
        good.replace("\"stamp\":\"", "\"stamp\":\"1"),
        good.replace(version, "{\"seatrial_summary\":99,").replace("\"measured\":2", "\"measured\":7"),
        format!("{version}\"summary\":[]}}"),
    ] {
        fs::write(&kept, &bad).unwrap();
        assert_eq!(home.history().unwrap(), truth, "{bad}");
        assert_eq!(fs::read_to_string(&kept).unwrap(), good, "made anew for good: {bad}");
    }
}

#[test]
fn what_somebody_else_put_into_a_home_stays_as_it_is() {
    let (folder, home) = home_with_runs(3);
    let truth = truth(&home);
    let precious = folder.path().join("precious");
    fs::write(&precious, "data").unwrap();
    let foreign = [home.path().join("index.sqlite"), home.path().join("index.lock"), summary(&home, "last")];
    for file in &foreign {
        fs::write(file, "SQLite format 3\0, of another program").unwrap();
    }
    fs::create_dir(summary(&home, "last~1")).unwrap();
    let beside = format!(".summary.json.{}.tmp", std::process::id());
    symlink(&precious, home.find("last~2").unwrap().join(beside)).unwrap();
    for _ in 0..2 {
        assert_eq!(home.history().unwrap(), truth);
    }
    for file in &foreign {
        assert_eq!(fs::read_to_string(file).unwrap(), "SQLite format 3\0, of another program");
    }
    assert_eq!(fs::read_to_string(&precious).unwrap(), "data");
    assert_eq!(names(home.path()), ["index.lock", "index.sqlite", "runs"]);
}

#[test]
fn a_summary_is_no_evidence() {
    let (_folder, home) = home_with_runs(1);
    let exported = || {
        let mut bytes = Vec::new();
        export(&home.find("last").unwrap(), &mut bytes).unwrap();
        bytes
    };
    let before = exported();
    home.history().unwrap();
    assert!(summary(&home, "last").exists());
    assert_eq!(exported(), before);
}

#[test]
fn a_run_that_cannot_be_read_is_listed_with_the_reason() {
    let (_folder, home) = home_with_runs(2);
    fs::write(home.find("last").unwrap().join("run.json"), r#"{"schema": 7}"#).unwrap();
    fs::write(home.find("last~1").unwrap().join("run.json"), "").unwrap();
    for _ in 0..2 {
        let runs = home.history().unwrap();
        assert_eq!((runs[0].summary.command.as_ref(), runs[0].summary.measured), (None, 2));
        assert!(runs[1].summary.unreadable.as_ref().unwrap().contains("schema 7"));
    }
}

#[test]
fn many_ask_while_many_write() {
    let (_folder, home) = home_with_runs(1);
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let home = home.clone();
            thread::spawn(move || {
                for _ in 0..4 {
                    if number % 2 == 0 {
                        small_run(&home).end(end()).unwrap();
                    } else {
                        home.history().unwrap();
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let runs = home.history().unwrap();
    assert_eq!(runs, truth(&home));
    assert_eq!(runs.len(), 17);
    assert_eq!(RunFolder::open(&home.find("last").unwrap()).unwrap().damage, []);
}
