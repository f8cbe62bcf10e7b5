//! Scripted fleets: lost nodes, retries with other partners, output of many nodes.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::rig::{Home, Script, bound};

#[test]
fn a_node_that_vanishes_fails_and_its_partner_is_measured_with_another() {
    let home = Home::new();
    let script = Script::round_trips(4).lose("n2", "*@n1+n2/*");
    let ended =
        home.seatrial("run net.rr -p trials=1 -p max_trials=1 -o json").script(&script).run().exits(1);
    let document = ended.document();
    let row = |at: usize| {
        let record = &document.results[at];
        (record.nodes.join("+"), record.lost.join("+"), record.retry_of.is_some())
    };
    let mut rows: Vec<_> = (0..document.results.len()).map(row).collect();
    rows.sort();
    let text = |a: &str, b: &str, retry| (a.to_owned(), b.to_owned(), retry);
    assert_eq!(rows, [text("n1+n2", "n2", false), text("n1+n3", "", true), text("n3+n4", "", false)]);
    let culprit: Vec<_> = document.findings.iter().filter(|finding| finding.kind == "culprit").collect();
    assert_eq!(culprit.len(), 1, "{:?}", document.findings);
    assert_eq!(culprit[0].node.as_deref(), Some("n2"));
    ended.says(
        "the partner failed in net.rr@n1+n2/n1->n2[max_trials=1,trials=1]: measured again as net.rr@n1+n3",
    );
    home.seatrial("report")
        .run()
        .exits(0)
        .shows("4 nodes: 1 with a problem, 3 without a problem")
        .shows("again [2]");
}

#[test]
fn without_another_partner_the_one_that_is_left_is_told_to_be_unmeasured() {
    let home = Home::new();
    let script = Script::round_trips(2).lose("n2", "*");
    home.seatrial("run net.rr -p trials=1 -p max_trials=1")
        .script(&script)
        .run()
        .exits(1)
        .shows("the partner of n1, and")
        .shows("no other partner is left");
}

#[test]
fn a_resumed_run_measures_the_retry_that_was_left_and_no_other() {
    let home = Home::new();
    let script = Script::round_trips(4).lose("n2", "*@n1+n2/*");
    home.seatrial("run net.rr -p trials=1 -p max_trials=1").script(&script).run().exits(1);
    // State after a kill during the retry: planned, without result.
    let whole = home.results();
    let run = home.run();
    let is_retry = |record: &Value| record.get("retry_of").is_some();
    assert_eq!(whole.iter().filter(|record| is_retry(record)).count(), 1);
    let kept: Vec<String> =
        whole.iter().filter(|record| !is_retry(record)).map(|record| format!("{record}\n")).collect();
    fs::write(run.join("results.jsonl"), kept.concat()).expect("written");
    let mut info: Value =
        serde_json::from_slice(&fs::read(run.join("run.json")).expect("read")).expect("JSON");
    info["run"]["ended"] = Value::Null;
    fs::write(run.join("run.json"), info.to_string()).expect("written");
    // The node is back, and still left out, since its case has failed.
    home.seatrial("run --resume").script(&Script::round_trips(4)).run().exits(1);
    let before = cases(&whole);
    assert_eq!(cases(&home.results()), before);
    // Killed before the retry was planned: the same retry is planned.
    let plan = run.join("plan.json");
    let mut rounds: Value = serde_json::from_slice(&fs::read(&plan).expect("read")).expect("JSON");
    rounds["rounds"].as_array_mut().expect("rounds").truncate(1);
    fs::write(&plan, rounds.to_string()).expect("written");
    fs::write(run.join("results.jsonl"), kept.concat()).expect("written");
    info["run"]["ended"] = Value::Null;
    fs::write(run.join("run.json"), info.to_string()).expect("written");
    home.seatrial("run --resume").script(&Script::round_trips(4)).run().exits(1).says("measured again");
    assert_eq!(cases(&home.results()), before);
}

fn cases(records: &[Value]) -> Vec<String> {
    let mut cases: Vec<_> = records.iter().map(|record| record["case"].to_string()).collect();
    cases.sort();
    cases
}

#[test]
fn nodes_of_one_kernel_are_told_on_the_terminal_and_in_the_record() {
    let home = Home::new();
    let script = Script::round_trips(2).one_kernel();
    let ended = home.seatrial("run net.rr -p trials=1 -p max_trials=1").script(&script).run().exits(0);
    ended.says("n[1-2] run on one kernel (same boot id)").shows("one-kernel: n[1-2] run on one kernel");
    let notes = home.events().into_iter().filter(|event| event["event"] == "note").count();
    assert_eq!(notes, 1);
}

#[test]
fn many_nodes_that_pass_are_folded_and_the_slow_one_is_named() {
    let home = Home::new();
    let script = Script::measuring(60.0).nodes(40).case("*@n07/*", 30.0);
    let text = bound("at_least = \"50 GB/s\"");
    let ended = home.seatrial("check").word(home.file("profile.toml", text)).script(&script).run().exits(1);
    let ended = ended.shows("not accepted: n07 fails").shows("39 of 40 nodes may be used: n[01-06,08-40]");
    assert!(ended.out.lines().count() < 45, "{}", ended.out);
    ended.shows("✗ fail n07 0 of 1");
    let nodes = |verdict: &str| home.seatrial("report --nodes").word(verdict).run().exits(0).out;
    assert_eq!(nodes("fail"), "n07\n");
    assert_eq!(nodes("pass"), "n[01-06,08-40]\n");
    assert_eq!(nodes("unknown"), "");
    let ticket = |words: &str| home.seatrial(&format!("report --form ticket {words}")).run();
    let text = ticket("--node n07").exits(0).shows("n07: 1 of 1 criterion not met").out;
    let parts = ["wanted at least 50 GB/s", "to repeat: seatrial run mem.bandwidth", " -w n07"];
    parts.iter().for_each(|part| assert!(text.contains(part), "{part}: {text}"));
    let sum =
        text.lines().find_map(|line| line.trim().strip_prefix("SHA-256 ")).expect("a checksum").to_owned();
    let file = home.path().join("evidence.tar.gz");
    home.seatrial("export last --evidence").word(&file).run().exits(0);
    let sha256sum = Command::new("sha256sum").arg(&file).output().expect("sha256sum of coreutils");
    assert!(String::from_utf8_lossy(&sha256sum.stdout).starts_with(&sum), "{sha256sum:?} {sum}");
    ticket("--node n41").exits(2).says("the run has no node 'n41'").says("n[01-40]");
    ticket("").exits(2).says("give --node");
    home.seatrial("run mem.bandwidth").script(&Script::measuring(60.0)).run().exits(0);
    home.seatrial("report --nodes pass").run().exits(2).says("judged nothing");
}

/// A profile of all pairs of nodes, with a bound that they meet.
const ALL_PAIRS: &str = "title = \"t\"\n[[test]]\nid = \"echo\"\nuse = \"net.rr\"\npattern = \"all-pairs\"\n\
     params = { trials = 1, max_trials = 1 }\n[[criterion]]\ntest = \"echo\"\nmetric = \"round_trip\"\n\
     at_most = \"10 us\"\n";

#[test]
fn a_run_whose_job_was_cancelled_says_how_to_go_on_and_becomes_whole() {
    let home = Home::new();
    let file = home.file("pairs.toml", ALL_PAIRS);
    let why = "the job was ended: STEP 7.0 ON n1 CANCELLED AT 2026-11-21T18:00:00";
    let script = Script::round_trips(4).end_job("*@n2+n3/*", why);
    let ended = home.seatrial("check").word(&file).script(&script).run().exits(3);
    let ended = ended
        .says("cases are still to be measured: the job was ended: STEP 7.0")
        .says("resume with: seatrial check --resume");
    // Without a lost partner, no case is a retry.
    assert!(!ended.err.contains("the partner failed"), "{}", ended.err);
    assert!(home.results().iter().all(|record| record.get("retry_of").is_none()), "{:#?}", home.results());
    let document = home.seatrial("report -o json").run().exits(0).document();
    let verdicts: Vec<_> =
        document.verdicts.iter().map(|verdict| (verdict.verdict, verdict.node.as_deref())).collect();
    assert_eq!(verdicts, [(seatrial_model::Verdict::Unknown, None); 6]);
    let plan = home.run().join("plan.json");
    let whole = fs::read(&plan).expect("a plan");
    fs::write(&plan, "{").expect("written");
    home.seatrial("check --resume").script(&Script::round_trips(4)).run().exits(2).says("plan.json");
    fs::write(&plan, whole).expect("written");
    let resumed = home.seatrial("check --resume -o json").script(&Script::round_trips(4)).run().exits(0);
    let document = resumed.document();
    assert_eq!((document.results.len(), document.verdicts.len()), (6, 6));
}

#[test]
fn a_run_that_lost_a_node_has_as_many_criteria_as_one_that_did_not() {
    let count = |script: &Script, code: i32| {
        let home = Home::new();
        let file = home.file("pairs.toml", ALL_PAIRS.replace("all-pairs", "pair"));
        let ended = home.seatrial("check -o json").word(&file).script(script).run().exits(code);
        ended.document().verdicts.len()
    };
    assert_eq!(count(&Script::round_trips(4), 0), 2);
    assert_eq!(count(&Script::round_trips(4).lose("n2", "*@n1+n2/*"), 1), 2);
    assert_eq!(count(&Script::round_trips(2).lose("n2", "*@n1+n2/*"), 1), 1);
}

#[test]
fn a_test_of_two_nodes_on_one_is_unknown_and_says_what_to_give() {
    let home = Home::new();
    let file = home.file("pairs.toml", ALL_PAIRS);
    let text = "needs 2 nodes, 1 was given; add nodes with -w or -N";
    for line in ["check", "check -o json"] {
        let ended = home.seatrial(line).word(&file).script(&Script::round_trips(1)).run().exits(3);
        ended.shows(&format!("echo {text}"));
    }
    for bench in ["net.rr", "net.pairs"] {
        let ended =
            home.seatrial(&format!("run {bench} -o json")).script(&Script::round_trips(1)).run().exits(3);
        let [record] = ended.document().results.try_into().expect("one record");
        let reason = record.reason.unwrap_or_default();
        assert!(
            reason.starts_with(&format!("{bench} {text}, or measure the loopback with --pattern alone")),
            "{reason}"
        );
    }
    let alone = "run net.rr --pattern alone -p trials=1 -p max_trials=1 -o json";
    let document = home.seatrial(alone).script(&Script::round_trips(1)).run().exits(0).document();
    assert_eq!(document.results[0].subject.as_str(), "nic:lo");
}
