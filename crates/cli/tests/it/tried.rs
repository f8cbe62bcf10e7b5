//! The effect of settings: `run --factors` with settings, and `settings try`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use seatrial_model::record::Document;
use seatrial_model::{Finding, Outcome, Quantity};
use serde_json::json;

use crate::rig::{Home, Script, Started, assert_nothing_runs, kill, of_home, wait_until, with_own_network};

const TCP_RMEM: &str = "/proc/sys/net/ipv4/tcp_rmem";

/// Loopback of a network namespace of its own. A receive buffer of a few segments slows any stream.
const STREAM: &str = "--pattern alone -p time=300ms -p send=write -p receive=read --repeats 4 --yes";

const TRIES: usize = 4;

const SMALL: &str = "net.ipv4.tcp_rmem=4KiB,16KiB,16KiB";

const PROFILE: &str = r#"
title = "a test"

[[setting]]
id = "net.ipv4.tcp_rmem"
equals = ["4 KiB", "16 KiB", "16 KiB"]

[[setting]]
id = "memory.swappiness"
at_most = 200
"#;

fn gains(document: &Document) -> Vec<&Finding> {
    document.findings.iter().filter(|finding| finding.kind == "setting-gain").collect()
}

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).expect("a file")
}

fn journal_files() -> Vec<PathBuf> {
    let hosts = fs::read_dir("/var/lib/seatrial/settings").into_iter().flatten();
    let files = hosts.flat_map(|host| fs::read_dir(host.expect("read").path()).expect("a folder"));
    files.map(|file| file.expect("read").path()).collect()
}

fn journals() -> Vec<String> {
    let name = |file: PathBuf| file.file_name().expect("a name").to_string_lossy().into_owned();
    journal_files().into_iter().map(name).collect()
}

/// Kills `run` while `TCP_RMEM` is no longer as `before`: what it is, and the journal of it with its contents.
fn kill_while_set(home: &Home, run: Started, before: &str) -> (String, (PathBuf, String)) {
    wait_until("the setting to be set", || text(TCP_RMEM) != before);
    of_home(home.path()).into_iter().for_each(|process| kill(process.pid));
    run.ended();
    wait_until("all to be gone", || of_home(home.path()).is_empty());
    let set = text(TCP_RMEM);
    assert!(set != before);
    let journal = journal_files().pop().expect("a journal");
    let contents = text(&journal);
    (set, (journal, contents))
}

fn swappy() -> Script {
    Script::streams(2, 9.4).settings(&[("memory.swappiness", json!({ "value": 60 }))])
}

#[test]
fn the_plan_has_blocks_of_four_and_nothing_is_measured_unless_somebody_says_yes() {
    let home = Home::new();
    let line = "run net.tcp_stream --factors memory.swappiness=10 --repeats 2 --seed 3";
    let ended = home.seatrial(&format!("{line} --plan -o json")).script(&swappy()).run().exits(0);
    let plan: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
    let cases = plan["cases"].as_array().expect("cases");
    let order: String = cases
        .iter()
        .map(|case| if case["origin"]["study"]["factor"] == "baseline" { 'A' } else { 'B' })
        .collect();
    assert_eq!(order.len(), 2 * 4);
    for block in [&order[..4], &order[4..]] {
        assert!(["ABBA", "BAAB"].contains(&block), "{order}");
    }
    let study = &cases[0]["origin"]["study"];
    assert_eq!((&study["seed"], &study["block"]["changes"][0]["before"]), (&json!(3), &json!("60")));
    ended
        .says("n[1-2] memory.swappiness: 60 -> 10")
        .says("writes '10' to /proc/sys/vm/swappiness; needs root");
    let ended = home.seatrial(line).script(&swappy()).run().exits(2);
    ended.says("memory.swappiness: 60 -> 10").says("nobody can be asked").says("add --yes");
    assert!(home.runs().is_empty());
}

#[test]
fn what_cannot_be_tried_is_refused_with_what_to_do() {
    let home = Home::new();
    let refused = |line: &str| home.seatrial(line).script(&swappy()).run().exits(2);
    let run = |rest: &str| refused(&format!("run net.tcp_stream --yes --factors {rest}"));
    run("memory.swappiness=60").says("the nodes have it already, so there is nothing to compare");
    run("memory.swappiness=1000").says("0 to 200");
    run("memory.swappiness=10,nodelay")
        .says("nodelay a parameter of the benchmark; measure them in two runs");
    run("memory.swappiness=10 --crossed").says("--crossed is for parameters");
    run("memory.swappiness=10 --share-hosts").says("leave it out");
    run("memory.swappiness=10 --pattern trunk").says("measured one by one");
    run("memory.zone_reclaim=1").says("memory.zone_reclaim");
    let profile = home.file("p.toml", PROFILE);
    let line = format!("settings try {} --yes --with net.tcp_stream", profile.display());
    refused(&line).says("there is nothing to try");
    assert!(home.runs().is_empty());
}

#[test]
fn nothing_is_measured_as_if_it_were_set_where_it_was_not() {
    let home = Home::new();
    // Simulated nodes do not answer orders.
    let line = "run net.tcp_stream --factors memory.swappiness=10 --repeats 2 --yes -o json";
    let ended = home.seatrial(line).script(&swappy()).run().exits(3);
    let document = ended.document();
    assert!(document.results.iter().all(|record| record.outcome == Outcome::Unmeasured));
    let found = gains(&document);
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert!(finding.text.contains("the gain is unknown"), "{finding:?}");
    ended.says("type `seatrial settings restore");
}

#[test]
fn a_setting_is_set_for_its_measurements_only_and_its_effect_is_told() {
    with_own_network(|| {
        let before = text(TCP_RMEM);
        let home = Home::new();
        let line = format!("run net.tcp_stream --factors {SMALL} {STREAM} -o json");
        // On a busy machine a stream may stand still for the whole of its time, and its block has no gain.
        let has_gain = |document: &Document| gains(document)[0].value.is_some();
        let documents = (0..TRIES).map(|_| home.seatrial(&line).run().exits(0).document());
        let document = documents.into_iter().find(has_gain).expect("a gain in one of the runs");
        assert_eq!(document.results.len(), 4 * 4);
        assert_eq!((text(TCP_RMEM), journals()), (before.clone(), Vec::new()));
        let found = gains(&document);
        // Beside other programs the interval is wide: what is said of the gain is another test's.
        let headline = found[0];
        let gain = headline.value.map(Quantity::value).zip(headline.ci95);
        assert!(
            gain.is_some_and(|(gain, (low, high))| gain < 1.0 && low < gain && gain < high),
            "{headline:?}"
        );
        home.seatrial("report --details").run().exits(0).shows("gain of each setting");
        home.seatrial("compare last last").run().exits(0);
        let profile = home.file("p.toml", PROFILE);
        let paying = home.folder().join("paying.toml");
        let line = format!("settings try {} --with net.tcp_stream {STREAM} --write", profile.display());
        let ended = home.seatrial(&line).word(&paying).run().exits(0);
        ended.says("no setting pays here");
        assert!(!paying.exists() && text(TCP_RMEM) == before && journals().is_empty());
    });
}

#[test]
fn the_settings_that_pay_become_a_profile() {
    with_own_network(|| {
        fs::write(TCP_RMEM, "4096 16384 16384").expect("written");
        let home = Home::new();
        let wanted = PROFILE.replace("\"16 KiB\", \"16 KiB\"", "\"128 KiB\", \"6 MiB\"");
        let profile = home.file("p.toml", wanted);
        let paying = home.folder().join("paying.toml");
        let line = format!("settings try {} --with net.tcp_stream {STREAM} --write", profile.display());
        // A busy machine may hide the gain.
        let finds = |_| {
            let ended = home.seatrial(&line).word(&paying).run().exits(0);
            paying.exists().then_some(ended)
        };
        let ended = (0..TRIES).find_map(finds).expect("a gain in one of the studies");
        ended.shows("pays").says("settings that pay are in");
        let ended = home.seatrial("settings apply --dry-run").word(&paying).run().exits(1);
        ended.shows("net.ipv4.tcp_rmem: 4 KiB, 16 KiB, 16 KiB -> 4 KiB, 128 KiB, 6 MiB");
        assert_eq!(text(TCP_RMEM).split_whitespace().collect::<Vec<_>>(), ["4096", "16384", "16384"]);
    });
}

#[test]
fn what_a_kill_left_set_is_restored_and_a_resumed_run_begins_by_that() {
    with_own_network(|| {
        let before = text(TCP_RMEM);
        let home = Home::new();
        let line = format!("run net.tcp_stream --factors {SMALL} {STREAM}");
        let killed = || kill_while_set(&home, home.seatrial(&line).start(), &before);
        killed();
        home.seatrial(&format!("settings restore {}", home.id())).run().exits(0).shows("1 restored");
        assert_eq!((text(TCP_RMEM), journals()), (before.clone(), Vec::new()));
        fs::remove_dir_all(home.run()).expect("removed");
        killed();
        home.seatrial("run --resume").run().exits(2).says("nobody can be asked");
        let document = home.seatrial("run --resume --yes -o json").run().exits(0).document();
        assert_eq!(document.results.len(), 4 * 4);
        assert!(document.results.iter().all(|record| record.outcome == Outcome::Measured), "{document:?}");
        assert_eq!((text(TCP_RMEM), journals()), (before.clone(), Vec::new()));
        assert_nothing_runs(home.path());
    });
}

#[test]
fn what_a_kill_after_the_last_case_left_set_is_restored_by_a_resumed_run() {
    with_own_network(|| {
        let before = text(TCP_RMEM);
        let home = Home::new();
        let started = home.seatrial(&format!("run net.tcp_stream --factors {SMALL} {STREAM}")).start();
        let (set, journal) = kill_while_set(&home, started, &before);
        home.seatrial("run --resume --yes").run().exits(0);
        assert_eq!((text(TCP_RMEM), journals()), (before.clone(), Vec::new()));
        // As if it had been killed between its last record and its last order.
        fs::write(TCP_RMEM, set).expect("written");
        fs::write(&journal.0, journal.1).expect("written");
        // No case is open, so nobody is asked.
        let document = home.seatrial("run --resume -o json").run().exits(0).document();
        assert_eq!(document.results.len(), 4 * 4);
        assert_eq!((text(TCP_RMEM), journals()), (before.clone(), Vec::new()));
    });
}

#[test]
fn the_profile_of_a_trial_that_was_interrupted_is_written_by_the_resumed_run() {
    with_own_network(|| {
        fs::write(TCP_RMEM, "4096 16384 16384").expect("written");
        let before = text(TCP_RMEM);
        let wanted = PROFILE.replace("\"16 KiB\", \"16 KiB\"", "\"128 KiB\", \"6 MiB\"");
        // A busy machine may hide the gain.
        let finds = |_| {
            let home = Home::new();
            let (profile, paying) = (home.file("p.toml", &wanted), home.folder().join("paying.toml"));
            let line = format!("settings try {} --with net.tcp_stream {STREAM} --write", profile.display());
            kill_while_set(&home, home.seatrial(&line).word(&paying).start(), &before);
            assert!(!paying.exists());
            home.seatrial("run --resume --yes").run().exits(0).says(&paying.display().to_string());
            paying.exists().then_some(())
        };
        (0..TRIES).find_map(finds).expect("a gain in one of the studies");
        assert_eq!((text(TCP_RMEM), journals()), (before, Vec::new()));
    });
}

#[test]
fn a_resumed_trial_keeps_to_its_file_but_one_of_elsewhere_writes_none() {
    let home = Home::new();
    let profile =
        home.file("p.toml", "title = \"a test\"\n\n[[setting]]\nid = \"memory.swappiness\"\nequals = 10\n");
    let line = format!("settings try {} --with net.tcp_stream --repeats 2 --yes --write", profile.display());
    let paying = home.folder().join("paying.toml");
    let told = format!("no setting pays here: {} was not written", paying.display());
    // Simulated nodes do not answer orders.
    home.seatrial(&line).word(&paying).script(&swappy()).run().exits(3).says(&told);
    home.seatrial("run --resume --yes").script(&swappy()).run().exits(3).says(&told);
    let elsewhere = home.folder().join("elsewhere");
    fs::rename(home.run(), &elsewhere).expect("moved");
    let ended =
        home.seatrial("run --yes --resume").word(elsewhere.join("run.json")).script(&swappy()).run().exits(3);
    let ended = ended.says("--write '").says("is ignored");
    assert!(!ended.err.contains(&told), "{}", ended.err);
}

#[test]
fn without_rights_it_is_said_and_no_gain_is_told() {
    with_own_network(|| {
        let before = text(TCP_RMEM);
        // As in a container.
        for words in [["--bind", "/proc/sys", "/proc/sys"], ["-o", "remount,bind,ro", "/proc/sys"]] {
            let status = Command::new("mount").args(words).status().expect("mount runs");
            assert!(status.success(), "{status}");
        }
        let home = Home::new();
        let line = format!("run net.tcp_stream --factors {SMALL} {STREAM} -o json");
        let document = home.seatrial(&line).run().exits(3).document();
        let is_set = |record: &&seatrial_model::record::CaseRecord| {
            record.origin.study.as_ref().is_some_and(|study| study.set().is_some())
        };
        assert!(document.results.iter().filter(is_set).all(|record| record.outcome == Outcome::Unmeasured));
        let text_of = &gains(&document)[0].text;
        assert!(text_of.contains("could not be set on"), "{text_of}");
        assert!(text_of.contains("mounted read-only here"), "{text_of}");
        assert_eq!(text(TCP_RMEM), before);
    });
}
