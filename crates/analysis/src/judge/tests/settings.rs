//! Settings that pass, fail or are unknown, each for its reason.

use seatrial_model::profile::{Absence, Missed, Requirement, Role, SettingRule, Waiver};
use seatrial_model::setting::{ApplyCommand, Present, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Params, SiteNode, Value};

use super::*;
use crate::judge::fixture::params;

static MTU: SettingAbout = SettingAbout {
    id: "nic.mtu",
    title: "MTU of an interface",
    doc: "",
    kind: Kind::Count(68, 65535),
    unit: "bytes",
    fields: &[],
    unlimited: None,
    subject: "nic",
    facts: &["speed", "up"],
    source: "",
    apply: &[ApplyCommand::always("ip link set dev {name} mtu {value}")],
    privilege: Privilege::NetAdmin,
    remedy: "",
    traps: "",
};

fn rule(on: &[(&str, &str)]) -> SettingRule {
    SettingRule {
        id: "nic.mtu".to_owned(),
        require: vec![Requirement { at_least: Some("9000".parse().unwrap()), ..Requirement::default() }],
        on: on.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect::<Params>(),
        ..SettingRule::default()
    }
}

fn reading(nic: &str, present: Present) -> SettingReading {
    SettingReading::new(&MTU, format!("nic:{nic}").parse().unwrap(), present)
}

fn mtu(nic: &str, value: u64) -> SettingReading {
    reading(nic, Present::Value(Value::Count(value)))
}

fn node(name: &str, settings: Vec<SettingReading>) -> SiteNode {
    SiteNode { settings, ..SiteNode::new(name, Default::default()) }
}

fn verdicts(profile: &Profile, nodes: Vec<SiteNode>) -> Judgement {
    let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
    let assignment = Assignment::new(profile, &names, &BTreeMap::new());
    let site = Site { nodes };
    judge(profile, &JudgeInputs { site: &site, settings: &[&MTU], ..inputs(&assignment, &[], None) })
}

fn wanting(rule: SettingRule) -> Profile {
    Profile { settings: vec![rule], ..Profile::default() }
}

#[test]
fn a_setting_passes_fails_or_is_unknown() {
    let nodes = vec![
        node("n1", vec![mtu("eth0", 9000)]),
        node("n2", vec![mtu("eth0", 1500)]),
        node("n3", vec![reading("eth0", Present::Unreadable("permission denied".to_owned()))]),
        node("n4", vec![reading("eth0", Present::Absent("no such file".to_owned()))]),
        node("n5", vec![reading("eth0", Present::Value("large".into()))]),
        node("n6", Vec::new()),
    ];
    assert_eq!(
        lines(&verdicts(&wanting(rule(&[])), nodes)),
        [
            "nic.mtu n1: pass",
            "nic.mtu n2: fail MTU of an interface: 1500",
            "nic.mtu n3: unknown the setting could not be read: permission denied",
            "nic.mtu n4: unknown this setting does not exist here: no such file",
            "nic.mtu n5: unknown 'large' is not a number",
            "nic.mtu n6: unknown the setting was not read",
        ]
    );
}

#[test]
fn a_rule_may_warn_of_a_difference_and_skip_what_has_no_value() {
    let lenient = SettingRule { missed: Missed::Warn, without_value: Absence::Skip, ..rule(&[]) };
    let site = vec![
        node("n1", vec![mtu("eth0", 1500)]),
        node("n2", vec![reading("eth0", Present::Absent("no such file".to_owned()))]),
        node("n3", vec![reading("eth0", Present::Unreadable("permission denied".to_owned()))]),
        node("n4", Vec::new()),
    ];
    let judged: Vec<_> =
        verdicts(&wanting(lenient.clone()), site).verdicts.iter().map(|record| record.verdict).collect();
    assert_eq!(judged, [Verdict::Warn, Verdict::Skip, Verdict::Skip, Verdict::Skip]);
    let profile = wanting(lenient);
    let names = ["n1".to_owned()];
    let assignment = Assignment::new(&profile, &names, &BTreeMap::new());
    let lost = judge(&profile, &inputs(&assignment, &[], None));
    assert_eq!(lost.verdicts[0].verdict, Verdict::Unknown, "a node that was not reached was not looked at");
}

#[test]
fn a_refused_value_has_the_reason_of_the_profile_and_no_command() {
    let refused = Requirement { none_of: vec![Value::Count(1500)], ..Requirement::default() };
    let rule = SettingRule { require: vec![refused], why: Some("use 9000".to_owned()), ..rule(&[]) };
    let site = || vec![node("n1", vec![mtu("eth0", 9000)]), node("n2", vec![mtu("eth0", 1500)])];
    assert_eq!(
        lines(&verdicts(&wanting(rule), site())),
        ["nic.mtu n1: pass", "nic.mtu n2: fail MTU of an interface: 1500; use 9000"]
    );
}

#[test]
fn every_subject_that_the_rule_selects_has_a_verdict_of_its_own() {
    let speed = |reading: SettingReading, speed: &str| reading.with_fact("speed", speed);
    let nics = vec![
        speed(mtu("eth0", 9000), "10 Gbit/s"),
        speed(mtu("eth1", 1500), "10000 Mbit/s"),
        speed(mtu("mgmt", 1500), "1 Gbit/s"),
        mtu("veth", 1500),
    ];
    let judgement = verdicts(&wanting(rule(&[("speed", "10 Gbit/s")])), vec![node("n1", nics)]);
    let found: Vec<_> =
        judgement.verdicts.iter().map(|record| (record.subject.as_str(), record.verdict)).collect();
    assert_eq!(found, [("nic:eth0", Verdict::Pass), ("nic:eth1", Verdict::Fail)]);
}

#[test]
fn a_rule_that_selects_nothing_is_unknown_and_says_what_it_lacks() {
    let rule = rule(&[("speed", "10 Gbit/s"), ("up", "true")]);
    let silent = node("n1", vec![mtu("eth0", 9000).with_fact("up", Value::Flag(true))]);
    let slow = mtu("eth0", 9000).with_fact("speed", "1 Gbit/s").with_fact("up", Value::Flag(true));
    let lost = SettingReading::new(
        &MTU,
        "nic".parse().unwrap(),
        Present::Unreadable("/sys/class/net does not exist".to_owned()),
    );
    let nodes = vec![silent, node("n2", vec![slow]), node("n3", vec![lost]), node("n4", Vec::new())];
    assert_eq!(
        lines(&verdicts(&wanting(rule), nodes)),
        [
            "nic.mtu n1: unknown nothing here has speed=10 Gbit/s,up=true; speed of nic:eth0 not known",
            "nic.mtu n2: unknown nothing here has speed=10 Gbit/s,up=true",
            "nic.mtu n3: unknown nothing here has speed=10 Gbit/s,up=true; /sys/class/net does not exist",
            "nic.mtu n4: unknown nothing here has speed=10 Gbit/s,up=true",
        ]
    );
}

#[test]
fn who_wants_it_and_what_was_noted_stand_in_the_reason() {
    let rule = SettingRule { why: Some("the tender".to_owned()), ..rule(&[]) };
    let noted = mtu("eth0", 1500).noting("set by the cloud");
    let found = verdicts(&wanting(rule), vec![node("n1", vec![noted])]);
    let reason = found.verdicts[0].reason.as_deref().unwrap();
    assert!(reason.starts_with("MTU of an interface: 1500 (set by the cloud); the tender"), "{reason}");
    let remedy = found.verdicts[0].remedy.as_ref().expect("there is a command");
    assert_eq!(remedy.to_string(), "do (administrator, as root): ip link set dev eth0 mtu 9000");
}

#[test]
fn only_nodes_that_play_the_role_are_held_to_it() {
    let role = |nodes: &str| Role { nodes: nodes.parse().unwrap(), expect: None };
    let roles = [("head".to_owned(), role("n1")), ("spare".to_owned(), role(""))].into_iter().collect();
    let nodes = || vec![node("n1", vec![mtu("eth0", 1500)]), node("n2", vec![mtu("eth0", 1500)])];
    let of = |role: &str| SettingRule { roles: vec![role.to_owned()], ..rule(&[]) };
    let profile = Profile { settings: vec![of("head"), of("spare")], roles, ..Profile::default() };
    let found = verdicts(&profile, nodes());
    let nodes: Vec<_> = found.verdicts.iter().map(|record| record.node.as_deref()).collect();
    assert_eq!(nodes, [Some("n1"), None]);
    assert_eq!(
        found.verdicts[1].reason.as_deref(),
        Some("no node has the role spare: `--role spare=NODES` gives it")
    );
    assert_eq!(found.verdicts[1].verdict, Verdict::Unknown);
}

#[test]
fn a_waived_setting_warns_once() {
    let waiver = Waiver {
        criterion: "nic.mtu".to_owned(),
        nodes: Default::default(),
        owner: "Ada".to_owned(),
        reason: "switch not ready".to_owned(),
        until: TODAY.yesterday().unwrap(),
    };
    let judged = |until| {
        let profile = Profile { waivers: vec![Waiver { until, ..waiver.clone() }], ..wanting(rule(&[])) };
        verdicts(&profile, vec![node("n1", vec![mtu("eth0", 1500)])]).verdicts.remove(0)
    };
    let held = judged(TODAY);
    assert_eq!(held.verdict, Verdict::Warn);
    assert_eq!(held.waiver.as_deref(), Some("waived by Ada until 2026-03-01: switch not ready"));
    let ended = judged(TODAY.yesterday().unwrap());
    assert_eq!(ended.verdict, Verdict::Fail);
    let reason = ended.reason.unwrap();
    assert_eq!(reason.matches("ended on 2026-02-28").count(), 1, "{reason}");
}

#[test]
fn without_on_an_interface_that_is_down_or_made_by_software_is_not_meant() {
    let nic = |name: &str, kind: &str, up: bool| {
        let mut reading = mtu(name, 1500);
        reading.facts = params(&[("kind", "nic"), ("type", kind)]);
        reading.facts.set("up", Value::Flag(up));
        reading
    };
    let all =
        vec![nic("eth0", "physical", true), nic("eth1", "physical", false), nic("ifb0", "software", true)];
    let judged = |rule: SettingRule, readings: Vec<SettingReading>| -> Vec<String> {
        let found = verdicts(&wanting(rule), vec![node("n1", readings)]);
        found.verdicts.iter().map(|record| record.subject.to_string()).collect()
    };
    assert_eq!(judged(rule(&[]), all.clone()), ["nic:eth0"]);
    assert_eq!(judged(rule(&[("type", "software")]), all.clone()), ["nic:ifb0"], "it is named");
    let found = verdicts(&wanting(rule(&[])), vec![node("n1", all[1..].to_vec())]);
    assert!(found.verdicts[0].reason.as_deref().unwrap().contains("is down or virtual"));
}

#[test]
fn a_verdict_has_the_value_that_was_read_and_its_number_if_it_is_met() {
    for (read, number) in [(9000, Some("9000")), (1500, None)] {
        let found = verdicts(&wanting(rule(&[])), vec![node("n1", vec![mtu("eth0", read)])]);
        let verdict = &found.verdicts[0];
        assert_eq!(verdict.measured.map(|value| value.to_string()).as_deref(), number);
        assert_eq!(verdict.present, Some(read.to_string()));
    }
}
