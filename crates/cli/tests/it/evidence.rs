//! Runs exported as evidence and verified: changes are found and named, and verdicts are reproduced.

use std::fs;
use std::path::{Path, PathBuf};

use seatrial_store::{Home as Store, RunFolder};
use serde_json::{Value, json};

use crate::rig::{Ended, Home, Script, TIMES, bound, profile, small};

/// Exports the last run, and returns the file.
fn export(home: &Home, name: &str) -> PathBuf {
    let file = home.folder().join(name);
    home.seatrial("export last --evidence").word(&file).run().exits(0);
    file
}

fn verify(home: &Home, file: &Path) -> Ended {
    home.seatrial("verify").word(file).run()
}

fn document(home: &Home, file: &Path) -> Value {
    let ended = home.seatrial("verify -o json").word(file).run();
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.out))
}

fn checked(home: &Home, line: &str, script: &Script) -> PathBuf {
    let profile = home.file("p.toml", profile(&[("copy", line), ("triad", line)]));
    home.seatrial("check").word(profile).script(script).run();
    export(home, "evidence.tar.gz")
}

/// Changes a file of the only run, as somebody who exports it again.
fn change(home: &Home, file: &str, from: &str, to: &str) {
    let path = home.run().join(file);
    let text = fs::read_to_string(&path).expect("read");
    assert!(text.contains(from), "no {from} in {text}");
    fs::write(&path, text.replace(from, to)).expect("written");
}

fn samples(home: &Home, word: &str) -> String {
    let names = fs::read_dir(home.run().join("samples")).expect("listed").flatten();
    let names = names.map(|entry| entry.file_name().into_string().expect("text"));
    let found: Vec<String> = names.filter(|name| name.contains(word)).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    format!("samples/{}", found[0])
}

#[test]
fn a_run_is_judged_again_from_its_evidence_to_the_byte() {
    for (line, verdict, code) in [
        ("at_least = \"50 GB/s\"", "pass", 0),
        ("at_least = \"70 GB/s\"", "fail", 1),
        ("at_least = { percent_of = \"limit\", value = 65 }", "pass", 0),
        ("at_least = { percent_of = \"fleet_median\", value = 90 }", "pass", 0),
    ] {
        let home = Home::new();
        let script = Script::measuring(60.0).nodes(3).spread("*", 60.0, &[1.0, 1.01, 0.99]);
        let file = home.file("p.toml", profile(&[("copy", line), ("triad", line)]));
        home.seatrial("check").word(file).script(&script).run().exits(code);
        let file = export(&home, "evidence.tar.gz");
        let found = document(&home, &file);
        assert_eq!(
            (&found["result"], &found["judged"]),
            (&json!("verified"), &json!("to_the_byte")),
            "{found:#}"
        );
        assert_eq!(found["verdict"], verdict, "{line}");
        assert_eq!((&found["cases"]["made_again"], &found["cases"]["all"]), (&json!(6), &json!(6)));
        verify(&home, &file).exits(0).shows("unchanged, and").shows("byte for byte");
        // The same run gives the same file.
        assert_eq!(fs::read(&file).expect("read"), fs::read(export(&home, "again.tar.gz")).expect("read"));
    }
}

#[test]
fn what_this_machine_measures_comes_out_again_of_its_samples() {
    let home = Home::new();
    let host = profile(&[("copy", "at_least = { percent_of = \"limit\", value = 1 }")]);
    // Without parameters, the test of the profile takes long.
    let host = host.replace(
        "kernel = [\"copy\"]",
        "kernel = [\"copy\"], array = \"4 MiB\", threads = \"1\", time = \"50 ms\"",
    );
    let file = home.file("p.toml", host);
    home.seatrial("check").word(file).run();
    let found = document(&home, &export(&home, "evidence.tar.gz"));
    assert_eq!(
        (&found["result"], &found["judged"]),
        (&json!("verified"), &json!("to_the_byte")),
        "{found:#}"
    );
    assert_eq!(found["measured_by"], json!([found["verified_by"]]));
}

#[test]
fn runs_without_a_profile_and_with_failures_are_verified_too() {
    let home = Home::new();
    let crash = json!({ "crashes": { "phase": "measure", "signal": 11 } });
    let script = Script::measuring(60.0).fault("*kernel=copy*", crash);
    home.seatrial("run mem.bandwidth -p kernel=copy,triad").script(&script).run().exits(1);
    let found = document(&home, &export(&home, "evidence.tar.gz"));
    assert_eq!(
        (&found["result"], &found["judged"]),
        (&json!("verified"), &json!("to_the_byte")),
        "{found:#}"
    );
    assert_eq!(found["cases"], json!({ "all": 2, "made_again": 1, "as_recorded": 1, "not_made_again": [] }));
}

#[test]
fn a_changed_byte_is_found_and_the_file_named() {
    let home = Home::new();
    let file = checked(&home, "at_least = \"50 GB/s\"", &Script::measuring(60.0));
    let whole = fs::read(&file).expect("read");
    for position in [0, 4, 40, whole.len() / 3, whole.len() / 2, whole.len() - 60, whole.len() - 1] {
        let mut changed = whole.clone();
        changed[position] ^= 4;
        fs::write(&file, changed).expect("written");
        verify(&home, &file).exits(1).shows("it is damaged, or is not an evidence file");
    }
    fs::write(&file, &whole[..whole.len() / 2]).expect("written");
    verify(&home, &file).exits(1).shows("the file was truncated");
    fs::write(&file, "no evidence at all").expect("written");
    verify(&home, &file).exits(1);
    verify(&home, &home.folder().join("nowhere")).exits(2).says("os error 2");
}

#[test]
fn numbers_that_somebody_bettered_with_right_sums_do_not_follow_from_the_samples() {
    let home = Home::new();
    checked(&home, "at_least = \"70 GB/s\"", &Script::measuring(60.0));
    change(&home, "verdicts.json", "\"fail\"", "\"pass\"");
    let file = export(&home, "verdicts.tar.gz");
    let run = verify(&home, &file).exits(1).shows("the checksums were recomputed");
    run.shows("criterion copy on n1/node").shows("verdict: recorded \"pass\", the samples give \"fail\"");
    change(&home, "verdicts.json", "\"pass\"", "\"fail\"");
    change(&home, "results.jsonl", "\"median\":60.0", "\"median\":75.0");
    let run = verify(&home, &export(&home, "results.tar.gz")).exits(1);
    run.shows("metrics.bandwidth.median: recorded 75.0, the samples give 60.0");
    change(&home, "results.jsonl", "\"median\":75.0", "\"median\":60.0");
    verify(&home, &export(&home, "mended.tar.gz")).exits(0);
    // Improved samples do not reproduce the record.
    let file = samples(&home, "kernel-copy");
    change(&home, &file, "\"6 GB\"", "\"7.5 GB\"");
    verify(&home, &export(&home, "samples.tar.gz"))
        .exits(1)
        .shows("kernel=copy")
        .shows("the samples give 75.0");
    fs::remove_file(home.run().join(&file)).expect("removed");
    verify(&home, &export(&home, "without.tar.gz")).exits(3).shows("it has no samples");
}

#[test]
fn what_another_build_wrote_is_told_apart_from_what_somebody_changed() {
    let home = Home::new();
    checked(&home, "at_least = \"70 GB/s\"", &Script::measuring(60.0));
    let tool: Value =
        serde_json::from_slice(&fs::read(home.run().join("tool.json")).expect("read")).expect("JSON");
    let sum = tool["binaries"][0]["sha256"].as_str().expect("a sum");
    change(&home, "tool.json", sum, &"0".repeat(64));
    // Whoever wrote it, nothing is wrong with it.
    verify(&home, &export(&home, "other.tar.gz")).exits(0).shows("measured by seatrial");
    change(&home, "results.jsonl", "\"median\":60.0", "\"median\":75.0");
    let run = verify(&home, &export(&home, "other.tar.gz")).exits(3);
    run.shows("verify it with that build before you call it changed").shows("000000000000");
    change(&home, "results.jsonl", "\"median\":75.0", "\"median\":60.0");
    change(&home, "results.jsonl", "\"version\":1", "\"version\":999");
    change(&home, "plan.json", "\"version\": 1", "\"version\": 999");
    verify(&home, &export(&home, "older.tar.gz")).exits(3).shows("was not recomputed").shows("version 999");
    let file = samples(&home, "kernel-copy");
    change(&home, &file, "\"schema\": 2", "\"schema\": 99");
    verify(&home, &export(&home, "newer.tar.gz")).exits(3).shows("cannot be read").shows("schema 99");
}

#[test]
fn a_waiver_holds_as_on_the_day_of_the_run_however_late_it_is_verified() {
    let home = Home::new();
    let waiver = "\n[[waiver]]\ncriterion = \"triad\"\nnodes = \"n1\"\nowner = \"somebody\"\nuntil = \"2999-12-31\"\nreason = \"known\"\n";
    let file = home.file("p.toml", bound("at_least = \"70 GB/s\"") + waiver);
    home.seatrial("check").word(file).script(&Script::measuring(60.0)).run().exits(0);
    let folder = RunFolder::open(&home.run()).expect("read");
    assert_eq!(folder.verdicts[0].waiver.as_deref().map(|text| text.contains("2999")), Some(true));
    // As if the waiver had ended and the run was long ago.
    let ended = folder.info.present().and_then(|info| info.ended.clone()).expect("ended").at.to_string();
    for file in ["run.json", "profile.json", "verdicts.json"] {
        let path = home.run().join(file);
        let text = fs::read_to_string(&path).expect("read").replace("2999-12-31", "2001-01-02");
        fs::write(&path, text.replace(&ended, "2001-01-02T23:59:59Z")).expect("written");
    }
    verify(&home, &export(&home, "waived.tar.gz")).exits(0).shows("byte for byte");
    change(&home, "run.json", "2001-01-02T23:59:59Z", "2001-01-03T00:00:00Z");
    verify(&home, &export(&home, "late.tar.gz")).exits(1).shows("the waiver by somebody ended on 2001-01-02");
}

#[test]
fn a_run_that_was_stopped_is_exported_as_it_is_and_one_that_was_gone_on_with_is_whole() {
    let stopped = TIMES.into_iter().find_map(|time| {
        let home = Home::new();
        let line = format!("run mem.bandwidth -p kernel=read,copy,triad {}", small(time));
        let mut run = home.seatrial(&line).start();
        run.wait_for_event("the second case to start", |event| {
            event["event"] == "case_started" && event["case"].to_string().contains("kernel=copy")
        });
        run.signal_group(rustix::process::Signal::INT);
        // A run that ended before the signal is of no use.
        (run.ended().code != Some(0) && home.results().len() < 3).then_some(home)
    });
    let home = stopped.expect("a run that the signal ends");
    let found = document(&home, &export(&home, "stopped.tar.gz"));
    assert_eq!((&found["result"], &found["judged"]), (&json!("verified"), &json!("never")), "{found:#}");
    home.seatrial("run --resume").run().exits(0);
    let found = document(&home, &export(&home, "whole.tar.gz"));
    assert_eq!(
        (&found["result"], &found["judged"]),
        (&json!("verified"), &json!("to_the_byte")),
        "{found:#}"
    );
    assert_eq!(found["cases"]["made_again"], 3);
    assert_eq!(Store::at(home.path()).ids().expect("listed").len(), 1);
}
