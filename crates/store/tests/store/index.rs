//! The index is a cache: whatever happens to it, the answers are those of the folders.

use std::fs;
use std::thread;

use super::common::{case, end, measured, record_case, small_run};
use seatrial_model::Verdict;
use seatrial_store::{History, Home, MetricFilter, RunFolder, Source, State};

fn home_with_runs(count: usize) -> (tempfile::TempDir, Home) {
    let (folder, home) = super::common::home();
    for _ in 0..count {
        small_run(&home).end(end()).unwrap();
    }
    (folder, home)
}

/// What the folders say, read without any index.
fn truth(home: &Home) -> History {
    let (copy, _) = super::common::home();
    let copied = Home::at(copy.path());
    super::common::copy_folder(&home.runs(), &copied.runs());
    copied.history().unwrap()
}

#[test]
fn a_home_without_runs_is_not_made_by_looking() {
    let (_folder, home) = super::common::home();
    assert_eq!(home.history().unwrap().runs, []);
    assert!(!home.path().exists());
}

#[test]
fn history_lists_runs_oldest_first_with_state_verdict_and_counts() {
    let (_folder, home) = home_with_runs(2);
    let alive = small_run(&home);
    let history = home.history().unwrap();
    assert_eq!(history.source, Source::Index);
    let ids: Vec<_> = history.runs.iter().map(|row| row.id.clone()).collect();
    assert_eq!(ids, home.ids().unwrap());
    let states: Vec<_> = history.runs.iter().map(|row| row.state).collect();
    assert_eq!(states, [State::Ended, State::Ended, State::Running]);
    let summary = &history.runs[0].summary;
    assert_eq!((summary.verdict, summary.planned, summary.measured), (Some(Verdict::Warn), 2, 2));
    drop(alive);
    assert_eq!(home.history().unwrap().runs[2].state, State::Killed);
}

#[test]
fn the_index_follows_runs_that_grow_and_runs_that_are_removed() {
    let (_folder, home) = home_with_runs(1);
    let mut journal = small_run(&home);
    assert_eq!(home.history().unwrap().runs[1].summary.measured, 2);
    record_case(&mut journal, measured(&case("add"), 19.0));
    assert_eq!(home.history().unwrap().runs[1].summary.measured, 3);
    fs::remove_dir_all(home.find("last~1").unwrap()).unwrap();
    assert_eq!(home.history().unwrap().runs.len(), 1);
    assert_eq!(home.metrics(&MetricFilter::default()).unwrap().rows.len(), 3);
}

#[test]
fn metrics_are_found_by_run_bench_metric_and_subject() {
    let (_folder, home) = home_with_runs(2);
    let run = home.ids().unwrap()[1].clone();
    let filter = MetricFilter {
        run: Some(run.clone()),
        bench: Some("mem.bandwidth".to_owned()),
        metric: Some("bandwidth".to_owned()),
        subject: Some("node".to_owned()),
    };
    let rows = home.metrics(&filter).unwrap().rows;
    assert_eq!(rows.len(), 2);
    let triad = rows.iter().find(|row| row.case.contains("triad")).unwrap();
    assert_eq!(
        (triad.run.as_str(), triad.node.as_str(), triad.verdict),
        (run.as_str(), "n1", Some(Verdict::Warn))
    );
    let value = triad.value.as_ref().unwrap();
    assert_eq!((value.median, value.interval), (21.0, Some((20.5, 21.5))));
    let other = MetricFilter { bench: Some("net.tcp_stream".to_owned()), ..MetricFilter::default() };
    assert_eq!(home.metrics(&other).unwrap().rows, []);
}

#[test]
fn a_damaged_or_foreign_index_is_built_anew() {
    let (_folder, home) = home_with_runs(3);
    let truth = truth(&home);
    home.history().unwrap();
    let good = fs::read(home.index()).unwrap();
    let mut spoiled_page = good.clone();
    spoiled_page[4096..8192].fill(0xa5);
    let mut other_version = good.clone();
    // The user version stands at offset 60 of the header, big-endian (SQLite file format, section 1.3).
    other_version[60..64].copy_from_slice(&99_u32.to_be_bytes());
    let cases: [(&str, Vec<u8>); 6] = [
        ("garbage", b"not a database at all".repeat(400)),
        ("empty", Vec::new()),
        ("cut in the header", good[..50].to_vec()),
        ("cut in a page", good[..good.len() / 2].to_vec()),
        ("a spoiled page", spoiled_page),
        ("of another version", other_version),
    ];
    for (what, content) in cases {
        fs::write(home.index(), content).unwrap();
        assert_eq!(home.history().unwrap(), truth, "{what}");
        assert_eq!(home.history().unwrap().source, Source::Index, "{what}: rebuilt for good");
    }
}

#[test]
fn tables_of_another_shape_or_with_nonsense_in_them_are_built_anew() {
    let (_folder, home) = home_with_runs(2);
    let truth = truth(&home);
    for nonsense in [
        "DROP TABLE runs",
        "ALTER TABLE runs DROP COLUMN summary",
        "UPDATE runs SET summary = '{'",
        "UPDATE runs SET summary = '[]'",
    ] {
        home.history().unwrap();
        rusqlite::Connection::open(home.index()).unwrap().execute_batch(nonsense).unwrap();
        assert_eq!(home.history().unwrap(), truth, "{nonsense}");
    }
}

#[test]
fn what_cannot_be_an_index_is_done_without_and_said_so() {
    let (_folder, home) = home_with_runs(1);
    fs::create_dir(home.index()).unwrap();
    let history = home.history().unwrap();
    assert_eq!(history.runs.len(), 1);
    assert!(matches!(&history.source, Source::Folders { why } if !why.is_empty()));
}

#[test]
fn a_run_that_cannot_be_read_is_listed_with_the_reason() {
    let (_folder, home) = home_with_runs(2);
    fs::write(home.find("last").unwrap().join("run.json"), r#"{"schema": 7}"#).unwrap();
    fs::write(home.find("last~1").unwrap().join("run.json"), "").unwrap();
    let runs = home.history().unwrap().runs;
    assert_eq!((runs[0].summary.command.as_ref(), runs[0].summary.measured), (None, 2));
    assert!(runs[1].summary.unreadable.as_ref().unwrap().contains("schema 7"));
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
    let history = home.history().unwrap();
    assert_eq!(history, truth(&home));
    assert_eq!((history.runs.len(), history.source), (17, Source::Index));
    assert_eq!(RunFolder::open(&home.find("last").unwrap()).unwrap().damage, []);
}
