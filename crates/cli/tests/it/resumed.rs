//! The options of a run are in its record, and used when it is resumed.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::rig::{Home, Script, bound};

fn record(home: &Home) -> Value {
    let text = fs::read(home.run().join("run.json")).expect("read");
    serde_json::from_slice::<Value>(&text).expect("JSON")["run"].take()
}

fn edit(home: &Home, change: impl Fn(&mut Value)) {
    let path = home.run().join("run.json");
    let mut file: Value = serde_json::from_slice(&fs::read(&path).expect("read")).expect("JSON");
    change(&mut file["run"]);
    fs::write(path, file.to_string()).expect("written");
}

/// Stand-in for ssh: records its arguments and reaches no node.
fn client(home: &Home, name: &str) -> (String, PathBuf) {
    let calls = home.folder().join(format!("{name}.calls"));
    let text = format!("echo \"$@\" >>'{}'\necho 'No route to host' >&2\nexit 255\n", calls.display());
    (format!("sh {}", home.file(name, text).display()), calls)
}

fn of_two_nodes(client: &str) -> Home {
    let home = Home::new();
    let run = home.seatrial("run net.rr -p trials=1 -p max_trials=1 -w n[1-2] --ssh").word(client);
    run.script(&Script::round_trips(2)).run().exits(0);
    home
}

#[test]
fn a_record_keeps_what_was_given_and_nothing_else() {
    let home = Home::new();
    let script = Script::measuring(60.0);
    home.seatrial("run mem.bandwidth").script(&script).run().exits(0);
    assert_eq!(record(&home)["options"], json!({ "benchmarks": ["mem.bandwidth"] }));
    let home = Home::new();
    let given = "run mem.bandwidth -p kernel=copy,triad -p trials=1 -w n[1-2] -x n2 --ssh-fanout 3 --share-hosts -o json";
    let document = home.seatrial(given).script(&script).run().exits(0).document();
    let wanted = json!({
        "benchmarks": ["mem.bandwidth"], "params": { "kernel": ["copy", "triad"], "trials": ["1"] },
        "nodelist": "n[1-2]", "exclude": "n2", "ssh_fanout": 3, "share_hosts": true,
    });
    assert_eq!(record(&home)["options"], wanted);
    assert_eq!(serde_json::to_value(&document.run.options).expect("JSON"), wanted);
}

#[test]
fn an_option_that_is_typed_beside_resume_replaces_that_one_alone() {
    let home = of_two_nodes("ssh -F old");
    let script = Script::round_trips(2);
    home.seatrial("run --resume --ssh-fanout 7").script(&script).run().exits(0);
    let mut wanted = json!({
        "benchmarks": ["net.rr"], "params": { "trials": ["1"], "max_trials": ["1"] },
        "nodelist": "n[1-2]", "ssh": "ssh -F old", "ssh_fanout": 7,
    });
    assert_eq!(record(&home)["options"], wanted);
    home.seatrial("run --resume --ssh").word("ssh -F new").script(&script).run().exits(0);
    wanted["ssh"] = "ssh -F new".into();
    assert_eq!(record(&home)["options"], wanted);
}

#[test]
fn a_run_goes_on_where_it_ran_whatever_else_is_typed() {
    let clients = Home::new();
    let ((old, old_calls), (new, new_calls)) = (client(&clients, "old"), client(&clients, "new"));
    let called = |calls: &PathBuf| {
        let text = fs::read_to_string(calls).unwrap_or_default();
        ["-- n1 ", "-- n2 "].map(|node| text.contains(node))
    };
    for has_options in [true, false] {
        let _ = (fs::remove_file(&old_calls), fs::remove_file(&new_calls));
        let home = of_two_nodes(&old);
        if !has_options {
            // As of versions that stored only the command line.
            edit(&home, |run| _ = run.as_object_mut().expect("an object").remove("options"));
            let shown = home.seatrial("report -o json").run().exits(0).document();
            assert_eq!(shown.run.options, None);
        }
        let before = record(&home);
        home.seatrial("run --resume --ssh-fanout 7").run().exits(3).says("No route to host");
        assert_eq!(called(&old_calls), [true, true], "with options: {has_options}");
        home.seatrial("run --resume --ssh").word(&new).run().exits(3);
        assert_eq!(called(&new_calls), [true, true], "with options: {has_options}");
        let now = record(&home);
        let kept = |run: &Value| (run["options"].clone(), run["ended"].clone());
        assert_eq!(kept(&now), kept(&before), "what led to nobody is not kept");
    }
}

#[test]
fn a_run_of_elsewhere_brings_no_command_of_its_own() {
    let clients = Home::new();
    let ((old, old_calls), (new, new_calls)) = (client(&clients, "old"), client(&clients, "new"));
    for has_options in [true, false] {
        let home = of_two_nodes(&old);
        if !has_options {
            edit(&home, |run| _ = run.as_object_mut().expect("an object").remove("options"));
        }
        let elsewhere = home.folder().join("elsewhere");
        fs::rename(home.run(), &elsewhere).expect("moved");
        let resume = || home.seatrial("run --resume").word(elsewhere.join("run.json"));
        let ended = resume().env("PATH", Some("/nowhere")).run();
        assert_ne!(ended.code, Some(0));
        ended.says("--ssh 'sh ").says("type the option again to use it");
        assert!(!old_calls.exists(), "with options: {has_options}");
        resume().word("--ssh").word(&new).run().exits(3);
        assert!(fs::read_to_string(&new_calls).expect("called").contains("-- n1 "));
    }
}

#[test]
fn what_would_change_what_is_measured_is_refused_and_the_run_is_left_as_it_is() {
    let home = of_two_nodes("ssh");
    let before = record(&home);
    let refused = |typed: &str| {
        let ended = home.seatrial(&format!("run --resume {typed}")).script(&Script::round_trips(2)).run();
        ended.exits(2).says("start a new run")
    };
    refused("-w n[1-3]").says("it selects n[1-3]").says("planned for n[1-2]");
    refused("-N 4").says("that is 4 of 2");
    refused("-x n2").says("n2 is excluded");
    refused("--share-hosts").says("measured nodes of one host one after the other");
    assert_eq!(record(&home), before);
}

#[test]
fn a_check_stays_strict_when_it_goes_on() {
    let noisy = Script::measuring(60.0).spread("*", 60.0, &[1.0, 0.98, 1.02]);
    let checked = |options: &str, code: i32| {
        let home = Home::new();
        let file = home.file("profile.toml", bound("at_least = \"59.5 GB/s\""));
        home.seatrial(&format!("check {options}"))
            .word(file)
            .script(&noisy)
            .run()
            .exits(code)
            .shows("! WARN");
        home
    };
    let home = checked("--strict", 1);
    home.seatrial("check --resume").script(&noisy).run().exits(1).shows("! WARN");
    let home = checked("", 0);
    home.seatrial("check --resume").script(&noisy).run().exits(0).shows("! WARN");
    home.seatrial("check --resume --strict").script(&noisy).run().exits(1);
    // From now on it is.
    home.seatrial("check --resume").script(&noisy).run().exits(1);
    assert_eq!(record(&home)["options"]["strict"], true);
}
