//! The HTML page of a run: written into its folder, and made from records of every schema.

use std::fs;
use std::path::{Path, PathBuf};

use crate::rig::{Home, Script};

/// Run folders of earlier versions, one per schema, composed from real runs.
fn kept() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs");
    let mut runs: Vec<PathBuf> =
        fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("an entry").path()).collect();
    runs.sort();
    runs
}

#[test]
fn records_of_every_schema_there_was_give_the_page_of_today() {
    let home = Home::new();
    let mut schemas = Vec::new();
    for run in kept() {
        let info = fs::read_to_string(run.join("run.json")).expect("run.json");
        let info: serde_json::Value = serde_json::from_str(&info).expect("JSON");
        schemas.push(info["schema"].as_u64().expect("a number"));
        let page = home.folder().join("page.html");
        home.seatrial("report").word(&run).word("--html").word(&page).run().exits(0);
        let page = fs::read_to_string(page).expect("a page");
        for said in ["id=\"act\"", "mem.bandwidth", "profile", "class=\"plot\"", "report vm", "data:text/csv"]
        {
            let said = said.replace("report vm", "<summary>vm</summary>");
            assert!(page.contains(&said), "{}: no {said}", run.display());
        }
        // The record reads as one of today.
        let document = home.seatrial("report -o json").word(&run).run().exits(0).document();
        assert!(!document.results.is_empty());
    }
    schemas.dedup();
    let all: Vec<u64> = (1..=u64::from(seatrial_model::record::SCHEMA_VERSION)).collect();
    assert_eq!(schemas, all, "a schema without a run folder of its time in tests/fixtures/runs");
}

#[test]
fn every_run_folder_has_its_page() {
    let home = Home::new();
    home.seatrial("run mem.bandwidth").script(&Script::measuring(50.0)).run().exits(0);
    let page = fs::read_to_string(home.run().join("report.html")).expect("a page");
    assert!(page.contains("1 case measured") && page.contains("50.0"), "{page}");
    // The same page, except for the time that it took.
    let again = home.seatrial("report last --html -").run().exits(0);
    assert_eq!(again.out, page);
}

#[test]
fn the_page_is_held_against_the_last_run_of_the_same_command() {
    let home = Home::new();
    // The command names the file, so that all runs have the same one.
    let script = home.folder().join("script.json");
    let measure = |line: &str, rate: f64| {
        fs::write(&script, Script::measuring(rate).to_json().to_string()).expect("written");
        home.seatrial(line).word("--script").word(&script).run().exits(0);
    };
    measure("run mem.bandwidth", 60.0);
    measure("run mem.bandwidth", 50.0);
    measure("run mem.bandwidth -p kernel=copy", 50.0);
    let page = |run: &PathBuf| fs::read_to_string(run.join("report.html")).expect("a page");
    let told: Vec<(PathBuf, String)> = home
        .runs()
        .into_iter()
        .map(|run| (run.clone(), page(&run)))
        .filter(|(_, page)| page.contains("<dt>before</dt>"))
        .collect();
    let [(run, page)] = told.as_slice() else { panic!("{} pages", told.len()) };
    for said in ["against run ", "mem.bandwidth", "-17%", " worse", "seatrial compare "] {
        assert!(page.contains(said), "no {said}");
    }
    // The link leads to the page of the other run.
    let link = page.split("href=\"../").nth(1).and_then(|rest| rest.split('"').next()).expect("a link");
    assert!(run.join("..").join(link).is_file(), "{link}");
    // A page elsewhere has no such link.
    let elsewhere = home.seatrial("report --html -").word(run).run().exits(0).out;
    assert!(elsewhere.contains("against run ") && !elsewhere.contains("href=\"../"));
}

#[test]
fn a_page_takes_the_place_of_other_forms_and_says_where_it_cannot_be_put() {
    let home = Home::new();
    home.seatrial("run mem.bandwidth").script(&Script::measuring(50.0)).run().exits(0);
    home.seatrial("report last --html page.html -o json").run().exits(2).says("--output");
    home.seatrial("report last --html /nowhere/page.html")
        .run()
        .exits(2)
        .says("--html /nowhere/page.html: No such file");
}

#[test]
fn the_page_of_a_run_that_was_stopped_or_killed_says_so() {
    let home = Home::new();
    home.seatrial("run mem.bandwidth -p kernel=copy,triad").script(&Script::measuring(50.0)).run().exits(0);
    let run = home.run();
    // As of a kill between the first case and the second.
    let results = fs::read_to_string(run.join("results.jsonl")).expect("read");
    fs::write(run.join("results.jsonl"), results.lines().next().expect("a line").to_owned() + "\n")
        .expect("written");
    fs::remove_file(run.join("verdicts.json")).expect("removed");
    let info = fs::read(run.join("run.json")).expect("read");
    let mut info: serde_json::Value = serde_json::from_slice(&info).expect("JSON");
    let mut page_when = |ended: serde_json::Value| {
        info["run"]["ended"] = ended;
        fs::write(run.join("run.json"), info.to_string()).expect("written");
        home.seatrial("report last --html -").run().exits(0).out
    };
    let resume = format!("seatrial run --resume {}", home.id());
    for (ended, what) in [
        (serde_json::Value::Null, "recorded no end"),
        (
            serde_json::json!({ "at": "2026-09-21T08:31:04Z", "exit": 130, "signal": "SIGINT" }),
            "stopped by SIGINT",
        ),
    ] {
        let page = page_when(ended);
        for said in [what, "unfinished", "1 of 2 planned cases", &resume] {
            assert!(page.contains(said), "no {said}");
        }
    }
}

#[test]
fn a_page_that_cannot_be_written_is_told_and_does_not_fail_the_run() {
    let home = Home::new();
    let script = Script::measuring(50.0);
    home.seatrial("run mem.bandwidth").script(&script).run().exits(0);
    // Resuming an ended run measures nothing, concludes, and replaces the folder at its page by the page.
    let page = home.run().join("report.html");
    fs::remove_file(&page).expect("removed");
    fs::create_dir(&page).expect("made");
    let ended = home.seatrial("run --resume").script(&script).run().exits(0).shows("1 case measured");
    ended.says("report.html could not be written: Is a directory (os error 21)");
    let left: Vec<_> =
        fs::read_dir(home.run()).expect("read").map(|entry| entry.expect("an entry").file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".tmp")), "{left:?}");
}

#[test]
fn a_comparison_is_a_page_too_and_still_a_gate() {
    let home = Home::new();
    for rate in [60.0, 50.0] {
        home.seatrial("run mem.bandwidth").script(&Script::measuring(rate)).run().exits(0);
    }
    let file = home.folder().join("compared.html");
    let told = home.seatrial("compare --fail-on-worse last~1 last --html").word(&file).run().exits(1);
    assert_eq!(told.out, "");
    let page = fs::read_to_string(&file).expect("a page");
    for said in ["<caption>The worst first", "60.00", "50.00", "class=\"gain\"", "run mem.bandwidth"] {
        assert!(page.contains(said), "no {said}");
    }
    let printed = home.seatrial("compare last~1 last --html -").run().exits(0);
    assert!(printed.out.starts_with("<!doctype html>"), "{}", printed.out);
    home.seatrial("compare last~1 last --html a.html -o json").run().exits(2).says("--output");
    home.seatrial("compare last~1 last --html /nowhere/a.html")
        .run()
        .exits(2)
        .says("--html /nowhere/a.html: No such file");
}
