//! The HTML page of a run: in its folder by itself, and made again from records of every schema there was.

use std::fs;
use std::path::{Path, PathBuf};

use crate::rig::{Home, Script};

/// The run folders of earlier versions, one for each schema of the record, composed from real runs of that time.
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
        // The record itself reads as one of today.
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
    // The same page again, but for what is told of the time it takes.
    let again = home.seatrial("report last --html -").run().exits(0);
    assert_eq!(again.out, page);
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
