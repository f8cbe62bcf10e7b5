//! Wrong profiles: exit 2 with file, line, column and caret, and nothing is measured.

use std::fs;

use crate::rig::{Home, Script, bound};

/// Checks `text`, which must be refused with `complaint` before anything happens.
fn refused(text: &str, place: &str, complaint: &str) {
    let home = Home::new();
    let file = home.file("wrong.toml", text);
    let ended = home.seatrial("check").word(&file).script(&Script::measuring(60.0)).run().exits(2);
    let at = format!("{}:{place}", file.display());
    assert!(ended.err.contains(&at), "no '{at}' in:\n{}", ended.err);
    assert!(ended.err.contains('^'), "no caret in:\n{}", ended.err);
    let ended = ended.says(complaint);
    assert_eq!(ended.out, "");
    assert!(!home.path().exists(), "a home was made for nothing");
}

const TEST: &str = "[[test]]\nid = \"memory\"\nuse = \"mem.bandwidth\"\n";

#[test]
fn an_unknown_key_suggests_the_nearest() {
    refused(&format!("{TEST}parms = {{ kernel = \"copy\" }}\n"), "4:1", "did you mean 'params'?");
}

#[test]
fn a_value_of_the_wrong_type_says_what_it_should_be() {
    refused(&format!("title = 5\n{TEST}"), "1:9", "must be a string");
    refused(&TEST.replace("\"memory\"", "[1]"), "2:6", "must be a string");
}

#[test]
fn an_unknown_benchmark_suggests_the_nearest() {
    refused(&TEST.replace("bandwidth", "bandwith"), "3:7", "did you mean 'mem.bandwidth'?");
}

#[test]
fn a_parameter_value_that_the_benchmark_refuses_is_shown_in_the_profile() {
    refused(&format!("{TEST}params = {{ kernel = \"traid\" }}\n"), "4:21", "did you mean 'triad'?");
    refused(&format!("{TEST}params = {{ array = \"1 PiB\" }}\n"), "4:20", "outside 1 MiB to 16 TiB");
}

#[test]
fn a_criterion_on_a_metric_that_does_not_exist_suggests_the_nearest() {
    let text = bound("at_least = \"1 GB/s\"").replace("metric = \"bandwidth\"", "metric = \"bandwith\"");
    refused(&text, "11:10", "did you mean 'bandwidth'?");
}

#[test]
fn a_bound_that_is_not_a_number_is_refused() {
    refused(&bound("at_least = nan"), "13:12", "finite");
    refused(&bound("at_least = \"NaN GB/s\""), "13:12", "NaN");
}

#[test]
fn a_bound_in_a_unit_of_the_wrong_kind_is_refused() {
    refused(&bound("at_least = \"3 ms\""), "13:12", "GB/s");
}

#[test]
fn a_cycle_of_extends_is_shown() {
    let home = Home::new();
    home.file("a.toml", "extends = [\"./b.toml\"]\n");
    home.file("b.toml", "extends = [\"./a.toml\"]\n");
    let ended =
        home.seatrial("check").word(home.folder().join("a.toml")).script(&Script::measuring(60.0)).run();
    let ended = ended.exits(2).says("a.toml").says("b.toml");
    assert!(ended.err.contains('^') && ended.err.contains(":1:12"), "{}", ended.err);
    assert!(!home.path().exists());
}

#[test]
fn two_hundred_thousand_brackets_are_refused_without_a_crash() {
    for text in
        ["[".repeat(200_000), format!("x = {}", "[".repeat(200_000)), format!("x = {}", "{a=".repeat(66_666))]
    {
        let home = Home::new();
        let file = home.file("deep.toml", text);
        let ended = home.seatrial("check").word(&file).script(&Script::measuring(60.0)).run().exits(2);
        let ended = ended.says(&format!("{}:1:", file.display()));
        assert!(ended.err.len() < 10_000, "a complaint of {} bytes", ended.err.len());
        assert!(!home.path().exists());
    }
}

#[test]
fn a_profile_that_is_not_there_or_no_text_names_the_file() {
    let home = Home::new();
    let file = home.folder().join("none.toml");
    home.seatrial("check").word(&file).run().exits(2).says("none.toml").says("No such file or directory");
    fs::write(&file, [0xff, 0xfe, 0x00]).expect("written");
    home.seatrial("check").word(&file).run().exits(2).says("none.toml").says("UTF-8");
    home.seatrial("check").word(home.folder().join("")).run().exits(2).says("Is a directory");
    home.seatrial("check hots").run().exits(2).says("did you mean 'host'?");
    assert!(!home.path().exists());
}

#[test]
fn several_faults_are_told_at_once() {
    let text = format!("titel = \"x\"\n{TEST}roles = \"head\"\n");
    let home = Home::new();
    let file = home.file("wrong.toml", text);
    let name = file.display().to_string();
    let ended = home.seatrial("check").word(&file).run().exits(2);
    ended.says(&format!("{name}:1:1")).says(&format!("{name}:5:9"));
}

#[test]
fn a_benchmark_still_to_come_is_unknown_and_no_error() {
    let text = "[[test]]\nid = \"net\"\nuse = \"cpu.noise\"\n[[criterion]]\ntest = \"net\"\n\
                metric = \"lost\"\nat_most = \"9 %\"\n";
    let home = Home::new();
    let file = home.file("planned.toml", text);
    let ended = home.seatrial("check").word(file).script(&Script::measuring(60.0)).run();
    ended.exits(3).shows("? UNKNOWN").shows("cpu.noise");
}

const SOURCE_TABLE: &str = r#"
[[table]]
id = "page"
title = "memory of the page"
source = "the page, part 2"
test = "memory"
metric = "bandwidth"
rows = [
    { name = "triad", value = "400 Gbit/s" },
    { name = "latency", value = "80 ns", not_measured = "no test of latencies" },
]
"#;

#[test]
fn the_tables_of_the_document_are_printed_by_a_check_and_from_the_stored_run() {
    let home = Home::new();
    let file = home.file("page.toml", format!("{TEST}params = {{ kernel = \"triad\" }}\n{SOURCE_TABLE}"));
    let row = |shown: &str| {
        let line = shown.lines().find(|line| line.trim_start().starts_with("triad")).unwrap_or_default();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    // 60 GB/s are 480 Gbit/s.
    let check = home.seatrial("check --source-tables").word(&file).script(&Script::measuring(60.0)).run();
    let check = check.shows("memory of the page").shows("no test of latencies").shows("the page, part 2");
    assert_eq!(row(&check.out), ["triad", "480", "Gbit/s", "±0%", "400", "Gbit/s", "1.20"], "{}", check.out);
    let stored = home.seatrial("report --source-tables").run().exits(0);
    assert_eq!(row(&stored.out), row(&check.out));
    // The record holds the profile, so that the document repeats nothing of it.
    let json = home.seatrial("report -o json").run().exits(0);
    assert!(!json.out.contains("memory of the page"));
    assert!(
        fs::read_to_string(home.run().join("report.html"))
            .is_ok_and(|page| page.contains("memory of the page"))
    );
}

#[test]
fn a_profile_without_tables_is_told_before_anything_is_measured() {
    let home = Home::new();
    let file = home.file("plain.toml", TEST);
    let ended =
        home.seatrial("check --source-tables").word(&file).script(&Script::measuring(60.0)).run().exits(2);
    let ended = ended.says("--source-tables: profile plain has no [[table]]");
    assert!(ended.out.is_empty() && !home.path().exists());
    home.seatrial("run mem.bandwidth -p kernel=triad").script(&Script::measuring(60.0)).run().exits(0);
    home.seatrial("report --source-tables").run().exits(2).says("the run has no profile");
}

#[test]
fn a_cell_of_a_table_that_names_no_result_is_shown_in_the_profile() {
    let text = format!("{TEST}{}", SOURCE_TABLE.replace("\"bandwidth\"", "\"bandwith\""));
    refused(&text, "10:10", "did you mean 'bandwidth'?");
}
