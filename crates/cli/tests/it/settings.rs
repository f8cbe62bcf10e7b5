//! `seatrial settings`, and settings that a check judges.

use seatrial_model::Verdict;
use seatrial_model::setting::{Present, SettingsDocument, schema};
use serde_json::json;

use crate::rig::{Ended, Home, Script};

const PROFILE: &str = r#"
title = "a test"

[[setting]]
id = "net.core.rmem_max"
at_least = "16 MiB"
why = "the tender, page 3"

[[setting]]
id = "nic.mtu"
at_least = 9000
on = { kind = "nic", speed = "10 Gbit/s", up = true }

[[setting]]
id = "cpu.governor"
equals = "performance"
roles = ["production"]

[roles.production]
"#;

fn host(rmem_max: &str, mtu: u64, governor: serde_json::Value) -> Script {
    Script::measuring(60.0).settings(&[
        ("net.core.rmem_max", json!({ "value": rmem_max })),
        ("nic.mtu", json!({ "value": mtu })),
        ("cpu.governor", governor),
        ("memory.swappiness", json!({ "value": 60 })),
    ])
}

fn good() -> Script {
    host("16 MiB", 9000, json!({ "value": "performance" }))
}

fn by_profile(home: &Home, line: &str, script: &Script) -> Ended {
    home.seatrial(line).word(home.file("p.toml", PROFILE)).script(script).run()
}

#[track_caller]
fn document(ended: &Ended) -> SettingsDocument {
    let schema = serde_json::to_value(schema()).expect("a schema");
    let value = serde_json::from_str(&ended.out).expect("one document of JSON and nothing else");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let faults: Vec<_> = validator.iter_errors(&value).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    serde_json::from_value(value).expect("a document")
}

#[test]
fn this_host_is_shown_in_full_and_nothing_is_written() {
    let home = Home::new();
    let table = home
        .seatrial("settings")
        .run()
        .exits(0)
        .shows("settings read, beside what the shipped profiles want");
    let shown = document(&home.seatrial("settings -o json").run().exits(0));
    for about in seatrial_settings::registry().abouts() {
        assert!(table.out.contains(about.id), "no {} in:\n{}", about.id, table.out);
        assert!(shown.settings.iter().any(|setting| setting.reading.setting == about.id), "{}", about.id);
    }
    assert_eq!((shown.profile, shown.verdict, shown.verdicts.len()), (None, None, 0));
    assert!(!home.path().exists());
}

#[test]
fn what_shipped_profiles_want_stands_beside_what_is() {
    let home = Home::new();
    let script = host("16 MiB", 9000, json!({ "value": "powersave" }));
    let shown = document(&home.seatrial("settings -o json").script(&script).run().exits(0));
    let governor =
        shown.settings.iter().find(|setting| setting.reading.setting == "cpu.governor").expect("read");
    let wanted: Vec<_> = governor.wanted.iter().map(|want| (want.profile.as_str(), want.verdict)).collect();
    let shipped = ["cobalt2-2018", "dragnet", "transfer-study"];
    assert_eq!(wanted, shipped.map(|profile| (profile, Verdict::Fail)));
    home.seatrial("settings")
        .script(&script)
        .run()
        .exits(0)
        .shows("cpu.governor powersave ✗ = performance cobalt2-2018");
}

#[test]
fn a_host_that_is_set_as_wanted_is_a_pass() {
    let home = Home::new();
    by_profile(&home, "settings", &good()).exits(0).shows("✓ PASS all 3 are as wanted");
    let shown = document(&by_profile(&home, "settings -o json", &good()).exits(0));
    assert_eq!((shown.verdict, shown.verdicts.len()), (Some(Verdict::Pass), 3));
    assert!(!home.path().exists(), "an audit leaves no folder");
}

#[test]
fn a_setting_that_differs_is_a_fail_with_the_command_that_mends_it() {
    let home = Home::new();
    let script = host("208 KiB", 1500, json!({ "absent": "no policy" }));
    let ended = by_profile(&home, "settings", &script).exits(1);
    let ended = ended.shows("✗ FAIL 2 of 3 not as wanted, 1 could not be judged");
    let ended = ended.shows("why: the tender, page 3").shows("nic.mtu eth0").shows("no policy");
    for command in ["sysctl -w net.core.rmem_max=16777216", "ip link set dev eth0 mtu 9000"] {
        assert!(ended.out.lines().any(|line| line.trim() == command), "no '{command}' in:\n{}", ended.out);
    }
    let shown = document(&by_profile(&home, "settings -o json", &script).exits(1));
    let of = |id: &str| shown.settings.iter().find(|setting| setting.reading.setting == id).expect("read");
    let change = of("nic.mtu").wanted[0].change.as_deref();
    assert_eq!(change, Some("ip link set dev eth0 mtu 9000"));
    assert_eq!(of("cpu.governor").reading.present, Present::Absent("no policy".to_owned()));
    assert!(of("memory.swappiness").wanted.is_empty());
}

#[test]
fn a_setting_that_cannot_be_told_is_incomplete() {
    let home = Home::new();
    let script = host("16 MiB", 9000, json!({ "unreadable": "permission denied" }));
    by_profile(&home, "settings", &script).exits(3).shows("? UNKNOWN 1 of 3").shows("permission denied");
    // No node has the role.
    let nodes = good().nodes(2).settings(&[("net.core.rmem_max", json!({ "value": "16 MiB" }))]);
    let ended = by_profile(&home, "settings", &nodes).exits(3);
    ended.shows("no node has the role production").shows("nothing here has kind=nic");
    let roles = "settings --role production=n1";
    let ended = by_profile(&home, roles, &nodes).exits(3);
    ended.shows("the setting was not read");
}

#[test]
fn a_profile_that_wants_no_setting_is_no_pass() {
    let home = Home::new();
    home.seatrial("settings ncsa-io").script(&good()).run().exits(3).shows("the profile has no [[setting]]");
}

#[test]
fn a_check_judges_settings_and_the_run_keeps_what_they_were() {
    let home = Home::new();
    let script = host("208 KiB", 9000, json!({ "value": "performance" }));
    let check = by_profile(&home, "check -o json", &script).exits(1).document();
    let verdicts: Vec<_> = check
        .verdicts
        .iter()
        .map(|record| (record.criterion.as_str(), record.subject.as_str(), record.verdict))
        .collect();
    assert_eq!(
        verdicts,
        [
            ("net.core.rmem_max", "node", Verdict::Fail),
            ("nic.mtu", "nic:eth0", Verdict::Pass),
            ("cpu.governor", "node", Verdict::Pass),
        ]
    );
    let reason = check.verdicts[0].reason.as_deref().expect("a reason");
    assert!(reason.ends_with(": 208 KiB; the tender, page 3"), "{reason}");
    let remedy = check.verdicts[0].remedy.as_ref().expect("a command sets it");
    assert_eq!(remedy.to_string(), "do (administrator, as root): sysctl -w net.core.rmem_max=16777216");
    let kept = std::fs::read_to_string(home.run().join("inventory/n1.json")).expect("kept");
    let kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
    assert_eq!(kept["node"]["settings"][0]["setting"], "net.core.rmem_max");
    assert_eq!(kept["node"]["settings"][0]["present"]["value"], "208 KiB");
    home.seatrial("report").run().exits(0).shows("✗ fail").shows("sysctl -w net.core.rmem_max=16777216");
}

#[test]
fn errors_that_grew_since_the_last_run_of_a_boot_are_told() {
    let home = Home::new();
    let script = |errors: u64| {
        Script::measuring(60.0)
            .one_kernel()
            .settings(&[("state.memory_uncorrected", json!({ "value": errors }))])
    };
    let run = |errors: u64| home.seatrial("run mem.bandwidth").script(&script(errors)).run().exits(0);
    const KIND: &str = "errors grew since the last run of this boot";
    let is_silent = |ended: Ended| assert!(!ended.out.contains(KIND), "{}", ended.out);
    is_silent(run(3));
    is_silent(run(3));
    run(5).shows("n1: errors grew since the last run of this boot: state.memory_uncorrected from 3 to 5");
    // The finding stands in the run, and not in the next one.
    home.seatrial("report").run().exits(0).shows(KIND);
    is_silent(run(5));
}

#[test]
fn a_narrow_terminal_shows_the_whole_table() {
    let home = Home::new();
    let script = Script::measuring(60.0).settings(&[
        ("cpu.energy_performance_preference", json!({ "value": "balance_performance" })),
        ("net.ipv4.tcp_congestion_control", json!({ "value": "cubic" })),
        ("net.ipv4.tcp_rmem", json!({ "value": "4 KiB, 128 KiB, 32 MiB" })),
        ("cpu.governor", json!({ "value": "powersave" })),
    ]);
    let ended = home.seatrial("settings").env("COLUMNS", Some("80")).script(&script).run().exits(0);
    let long: Vec<&str> = ended.out.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn a_real_check_keeps_the_settings_of_this_host() {
    let home = Home::new();
    let profile = home.file("p.toml", "[[setting]]\nid = \"memory.swappiness\"\nat_most = 200\n");
    let ended = home.seatrial("check -o json").word(profile).run();
    // A container may hide the setting, which is then unknown.
    let verdict = ended.document().verdict;
    assert!(matches!(verdict, Some(Verdict::Pass | Verdict::Unknown)), "{verdict:?}");
    let entry = std::fs::read_dir(home.run().join("inventory")).expect("kept").next().expect("a node");
    let kept = std::fs::read_to_string(entry.expect("an entry").path()).expect("kept");
    let kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
    let settings = kept["node"]["settings"].as_array().expect("settings");
    assert!(settings.len() >= seatrial_settings::registry().settings.len(), "{}", settings.len());
}

#[test]
fn what_is_wrong_with_a_rule_is_shown_in_the_profile() {
    let home = Home::new();
    let refused = |text: &str, place: &str, complaint: &str| {
        let file = home.file("wrong.toml", text);
        for command in ["settings", "check"] {
            let ended = home.seatrial(command).word(&file).script(&good()).run().exits(2);
            let ended = ended.says(&format!("{}:{place}", file.display())).says(complaint);
            assert!(ended.err.contains('^') && ended.out.is_empty(), "{}", ended.err);
        }
    };
    let rule = |id: &str, line: &str| format!("[[setting]]\nid = \"{id}\"\n{line}\n");
    refused(&rule("cpu.govenor", "equals = \"performance\""), "2:6", "did you mean 'cpu.governor'?");
    refused(&rule("cpu.governor", "equals = \"performence\""), "3:10", "did you mean 'performance'?");
    refused(&rule("cpu.boost", "equals = \"off\""), "3:10", "neither true nor false");
    refused(&rule("cpu.boost", "at_least = true"), "3:12", "the values of cpu.boost have no order");
    refused(&rule("net.ipv4.udp_mem", "at_least = [1, 2]"), "3:12", "3 values (min, pressure, max), not 2");
    refused(&rule("nic.mtu", "equals = 9000\non = { sped = 1 }"), "4:8", "did you mean 'speed'?");
    refused(&rule("nic.mtu", "equals = 9000\non = { kind = \"node\" }"), "4:15", "a setting of a nic");
    refused(&rule("nic.mtu", "equals = 90000"), "3:10", "outside 68 to 65535");
    assert!(!home.path().exists());
}

#[test]
fn three_values_are_wanted_as_an_array_or_as_sysctl_writes_them() {
    let home = Home::new();
    let script =
        Script::measuring(60.0).settings(&[("net.ipv4.udp_mem", json!({ "value": "575799, 100, 1151598" }))]);
    for wanted in ["at_least = [262144, 327680, 393216]", "at_least = \"262144 327680 393216\""] {
        let file = home.file("p.toml", format!("[[setting]]\nid = \"net.ipv4.udp_mem\"\n{wanted}\n"));
        let ended = home.seatrial("settings").word(file).script(&script).run().exits(1);
        // A value above its bound stays.
        ended.shows("sysctl -w net.ipv4.udp_mem='575799 327680 1151598'");
    }
}

#[test]
fn settings_are_listed_and_explained() {
    let home = Home::new();
    home.seatrial("list")
        .run()
        .exits(0)
        .shows("Settings")
        .shows("cpu.governor CPU frequency scaling governor");
    let page = home.seatrial("list nic.mtu").run().exits(0).shows("ip link set dev NAME mtu VALUE");
    page.shows("68 to 65535 bytes").shows("root or CAP_NET_ADMIN");
    home.seatrial("list cpu.govenor").run().exits(2).says("did you mean 'cpu.governor'?");
}

#[test]
fn forms_and_options_that_make_no_sense_are_refused() {
    let home = Home::new();
    home.seatrial("settings -o csv").script(&good()).run().exits(2).says("table, json");
    home.seatrial("settings --role head=n1").script(&good()).run().exits(2);
    home.seatrial("settings hots").script(&good()).run().exits(2).says("did you mean 'host'?");
}
