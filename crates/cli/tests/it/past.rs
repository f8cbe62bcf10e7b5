//! Stored runs: found by id, by either end, by age, by folder; and compared.

use crate::rig::{Home, Script};

/// A home with one run per rate, oldest first.
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
    home.seatrial("report 20").run().exits(2).says(&all[0]).says(&all[1]).says("type more of the id");
    home.seatrial("report ./nowhere").run().exits(2).says("has no run.json");
    home.seatrial("run --resume nosuch").run().exits(2).says("no run 'nosuch'");
    home.seatrial("compare last nosuch").run().exits(2).says("no run 'nosuch'");
}

#[test]
fn a_home_without_runs_says_how_to_make_one() {
    let home = Home::new();
    home.seatrial("history").run().exits(0).shows("no runs yet; `seatrial check` makes one");
    home.seatrial("report").run().exits(2).says("there is no run in");
    home.seatrial("run --resume").run().exits(2).says("`seatrial check` and `seatrial run` make one");
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
    let none = home.seatrial("history net.tcp_stream").run().exits(0);
    none.shows("no run measured net.tcp_stream yet; `seatrial run net.tcp_stream` makes one");
}

#[test]
fn history_of_what_is_no_benchmark_suggests_one_and_knows_those_of_other_versions() {
    let home = runs(&[60.0]);
    let typo = home.seatrial("history mem.bandwith").run().exits(2);
    typo.says("no benchmark 'mem.bandwith'").says("did you mean 'mem.bandwidth'?");
    let alias = home.seatrial("history net.trunk").run().exits(2);
    alias.says("with the pattern trunk").says("`seatrial history net.tcp_stream`");
    let results = home.run().join("results.jsonl");
    let text = std::fs::read_to_string(&results).expect("read");
    std::fs::write(&results, text.replace("\"bench\":\"mem.bandwidth\"", "\"bench\":\"mem.gone\""))
        .expect("written");
    home.seatrial("history mem.gone").run().exits(0).shows("1/1 measured");
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
    std::fs::write(&file, text.replacen("\"schema\": 2", "\"schema\": 99", 1)).expect("written");
    let report = home.seatrial("report").run().exits(2);
    report.says("has schema 99").says("use the version that wrote it");
}

#[test]
fn a_comparison_can_be_a_gate() {
    let home = runs(&[60.0, 60.0, 50.0]);
    home.seatrial("compare --fail-on-worse last~2 last~1").run().exits(0).shows("same");
    home.seatrial("compare --fail-on-worse last~2 last").run().exits(1).shows("▼ worse");
    home.seatrial("compare --fail-on-worse last last~2").run().exits(0).shows("▲ better");
    home.seatrial("compare last~2 last").run().exits(0);
    home.seatrial("run mem.bandwidth -p kernel=read").script(&Script::measuring(60.0)).run().exits(0);
    home.seatrial("compare --fail-on-worse last~1 last")
        .run()
        .exits(3)
        .shows("have no measured case in common");
    home.seatrial("run mem.bandwidth -p kernel=read,copy").script(&Script::measuring(60.0)).run().exits(0);
    let fewer = home.seatrial("compare --fail-on-worse last last~1").run().exits(3);
    fewer.shows("same").shows("kernel=copy");
    home.seatrial("compare --fail-on-worse last~1 last").run().exits(0);
    let crash = serde_json::json!({ "crashes": { "phase": "measure", "signal": 11 } });
    let broken = Script::measuring(60.0).fault("*", crash);
    home.seatrial("run mem.bandwidth").script(&broken).run().exits(1);
    home.seatrial("compare --fail-on-worse last~3 last").run().exits(1).shows("fails now").shows("SIGSEGV");
    home.seatrial("compare --same-within 100% last~3 last").run().exits(2).says("from 0 to below 100");
}

#[test]
fn what_comes_to_nothing_is_no_success_of_a_gate() {
    let home = runs(&[60.0, 0.0]);
    home.seatrial("compare --fail-on-worse last~1 last").run().exits(1).shows("▼ worse").shows("-100");
    home.seatrial("compare --fail-on-worse last last~1").run().exits(0).shows("▲ better").shows("from 0");
}

#[test]
fn parts_of_one_run_are_compared_under_names_and_ranked_by_price() {
    let home = Home::new();
    let script = Script::measuring(60.0).case("*kernel=read*", 30.0);
    home.seatrial("run mem.bandwidth -p kernel=copy,read").script(&script).run().exits(0);
    let compared = home.seatrial("compare last --as a=kernel=copy,b=kernel=read --price a=1200,b=300").run();
    compared.exits(0).shows("b against a").shows("-50%").shows("GB/s per 1000");
    home.seatrial("compare last --as a=kernel=copy,b=kernel=triad").run().exits(2).says("kernel=read");
    home.seatrial("compare last --as a=kernel=copy").run().exits(2).says("a name for each run");
    home.seatrial("compare last").run().exits(2).says("--as");
    let unknown = home.seatrial("compare last --as a=kernel=copy,b=kernel=read --price c=1").run().exits(2);
    unknown.says("the names are a, b");
}

#[test]
fn what_is_the_same_depends_on_how_much_of_a_difference_matters() {
    let home = runs(&[60.0, 59.7]);
    home.seatrial("compare last~1 last").run().exits(0).shows("= same").shows("within 1.0%");
    let exact = home.seatrial("compare --same-within 0 last~1 last -o json").run().exits(0);
    let document: serde_json::Value = serde_json::from_str(&exact.out).expect("JSON");
    let first = &document["comparisons"][0];
    assert_eq!((&first["worse"], &first["same_within_percent"]), (&true.into(), &serde_json::Value::Null));
    assert_eq!(first["differences"][0]["p"], 0.0, "counted values without scatter differ for certain");
}

#[test]
fn a_setting_that_changed_stands_beside_the_numbers() {
    let home = Home::new();
    for governor in ["powersave", "performance"] {
        let setting = [("cpu.governor", serde_json::json!({ "value": governor }))];
        let script = Script::measuring(60.0).settings(&setting);
        home.seatrial("run mem.bandwidth").script(&script).run().exits(0);
    }
    let compared = home.seatrial("compare last~1 last").run().exits(0);
    compared.shows("cpu.governor").shows("powersave").shows("performance").shows("1 changed beside them");
}

#[test]
fn the_history_of_a_benchmark_shows_where_it_changed() {
    let rates: Vec<f64> =
        (0..12).map(|at| if at < 6 { 60.0 + f64::from(at % 2) } else { 50.0 + f64::from(at % 2) }).collect();
    let home = runs(&rates);
    let history = home.seatrial("history mem.bandwidth --metric bandwidth").run().exits(0);
    let since = &ids(&home)[6];
    let history = history.shows("12").shows("▼").shows("worse").shows(&format!("since run {since}"));
    let trend = history.out.split("mem.bandwidth · bandwidth").nth(1).expect("a trend");
    assert!(trend.lines().all(|line| line.chars().count() <= 80), "{trend}");
    let json = home.seatrial("history mem.bandwidth --metric bandwidth -o json").run().exits(0);
    let document: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    let trends = document["trends"].as_array().expect("trends");
    assert_eq!(trends.len(), 1, "{}", json.out);
    assert_eq!(trends[0]["points"].as_array().map(Vec::len), Some(12));
    assert_eq!(trends[0]["changes"][0]["run"], since.as_str());
    assert_eq!(trends[0]["changes"][0]["better"], false);
    let last = home.seatrial("history mem.bandwidth --last 3 -o json").run().exits(0);
    let document: serde_json::Value = serde_json::from_str(&last.out).expect("JSON");
    assert_eq!(document["runs"].as_array().map(Vec::len), Some(3));
    home.seatrial("history --metric bandwidth").run().exits(2);
}
