//! Runs of the past: found by id, by either end, by age, by folder; and held against each other.

use crate::rig::{Home, Script};

/// A home with one run for each of `rates`, oldest first.
fn runs(rates: &[f64]) -> Home {
    let home = Home::new();
    for rate in rates {
        home.seatrial("run mem.bandwidth").script(&Script::measuring(*rate)).run().exits(0);
    }
    home
}

fn ids(home: &Home) -> Vec<String> {
    let name =
        |path: &std::path::PathBuf| path.file_name().expect("a name").to_str().expect("text").to_owned();
    home.runs().iter().map(name).collect()
}

#[test]
fn a_run_is_found_by_age_by_id_by_either_end_and_by_folder() {
    let home = runs(&[40.0, 50.0, 60.0]);
    let all = ids(&home);
    let folder = home.runs()[0].display().to_string();
    let letters = all[1].rsplit('-').next().expect("letters");
    for (name, rate) in [
        ("", "60.0"),
        ("last", "60.0"),
        ("last~1", "50.0"),
        ("last~2", "40.0"),
        (&all[0], "40.0"),
        (letters, "50.0"),
        (&folder, "40.0"),
        (&format!("{folder}/run.json"), "40.0"),
    ] {
        home.seatrial(&format!("report {name}")).run().exits(0).shows(rate);
    }
}

#[test]
fn a_run_that_is_not_there_suggests_the_nearest_and_an_ambiguous_one_lists_all() {
    let home = runs(&[40.0, 50.0]);
    let all = ids(&home);
    let mut typo = all[0].clone();
    typo.replace_range(typo.len() - 1.., "y");
    let wrong = home.seatrial("report").word(&typo).run().exits(2);
    wrong.says(&format!("no run '{typo}'")).says("did you mean '").says("`seatrial history` lists the runs");
    home.seatrial("report last~2").run().exits(2).says("no run 'last~2'");
    // Both started in this century.
    home.seatrial("report 20").run().exits(2).says(&all[0]).says(&all[1]).says("type more of it");
    home.seatrial("report ./nowhere").run().exits(2).says("has no run.json");
    home.seatrial("run --resume nosuch").run().exits(2).says("no run 'nosuch'");
    home.seatrial("compare last nosuch").run().exits(2).says("no run 'nosuch'");
}

#[test]
fn a_home_without_runs_says_how_to_make_one() {
    let home = Home::new();
    home.seatrial("history").run().exits(0).shows("no runs yet; `seatrial check` makes one");
    home.seatrial("report").run().exits(2).says("no run 'last'");
    home.seatrial("run --resume").run().exits(2).says("no run 'last'");
    assert!(!home.path().exists(), "looking makes no home");
}

#[test]
fn history_shows_every_run_with_what_became_of_it() {
    let home = runs(&[60.0]);
    home.seatrial("check").script(&Script::measuring(30.0)).run().exits(1);
    let history = home.seatrial("history").run().exits(0);
    for id in ids(&home) {
        assert!(history.out.contains(&id), "{}", history.out);
    }
    history.shows("run mem.bandwidth").shows("1/1 measured").shows("host").shows("✗ fail");
}

#[test]
fn history_of_a_benchmark_leaves_out_the_runs_without_it() {
    let home = runs(&[60.0]);
    home.seatrial("history mem.bandwidth").run().exits(0).shows("1/1 measured");
    home.seatrial("history net.tcp_stream").run().exits(0).shows("no runs");
}

#[test]
fn runs_side_by_side_are_called_better_worse_or_the_same() {
    let home = runs(&[60.0, 60.0, 50.0]);
    home.seatrial("compare last~2 last~1").run().exits(0).shows("same");
    home.seatrial("compare last~2 last").run().exits(0).shows("worse");
    home.seatrial("compare last last~2").run().exits(0).shows("better");
    home.seatrial("compare last~2 last~1 last").run().exits(0).shows("same").shows("worse");
}

#[test]
fn a_run_of_another_version_is_refused_by_name() {
    let home = runs(&[60.0]);
    let file = home.run().join("run.json");
    let text = std::fs::read_to_string(&file).expect("read");
    std::fs::write(&file, text.replacen("\"schema\": 1", "\"schema\": 99", 1)).expect("written");
    let report = home.seatrial("report").run().exits(2);
    report.says("has schema 99").says("use the version that wrote it");
}
