//! Settings, roles and waivers.

use seatrial_model::Verdict;
use seatrial_model::profile::{Expect, Requirement, Role, SettingRule, Waiver};

use super::*;
use crate::judge::Reading;
use crate::judge::fixture::{case, measured};

fn waiver(until: Date, nodes: &str) -> Waiver {
    Waiver {
        criterion: "fast".to_owned(),
        nodes: nodes.parse().unwrap(),
        owner: "Ada".to_owned(),
        reason: "DIMM ordered".to_owned(),
        until,
    }
}

fn waived(waivers: Vec<Waiver>, bound: &str) -> Judgement {
    let profile = Profile { waivers, ..profile(at_least(bound)) };
    judged(&profile, &[measured("n1"), measured("n2")])
}

#[test]
fn a_waiver_turns_fail_into_warn_and_is_always_shown() {
    let judgement = waived(vec![waiver(TODAY, "n1")], "95 GB/s");
    let shown: Vec<_> =
        judgement.verdicts.iter().map(|record| (record.verdict, record.waiver.as_deref())).collect();
    let text = "waived by Ada until 2026-03-01: DIMM ordered";
    assert_eq!(shown, [(Verdict::Warn, Some(text)), (Verdict::Fail, None)]);
    let pass = waived(vec![waiver(TODAY, "")], "80 GB/s");
    assert!(
        pass.verdicts
            .iter()
            .all(|record| (record.verdict, record.waiver.as_deref()) == (Verdict::Pass, Some(text)))
    );
}

#[test]
fn a_waiver_excuses_no_lack_of_knowledge() {
    let judgement = waived(vec![waiver(TODAY, "")], "90.5 GB/s");
    assert!(
        judgement.verdicts.iter().all(|record| record.verdict == Verdict::Unknown && record.waiver.is_some())
    );
}

#[test]
fn an_ended_waiver_excuses_nothing_and_says_so() {
    let yesterday = TODAY.yesterday().unwrap();
    let judgement = waived(vec![waiver(yesterday, "n1")], "95 GB/s");
    let why = "below the bound; no finding says why";
    let ended = format!("fast n1: fail {why}; the waiver by Ada ended on 2026-02-28");
    assert_eq!(lines(&judgement), [ended, format!("fast n2: fail {why}")]);
    let renewed = waived(vec![waiver(yesterday, ""), waiver(TODAY, "n1")], "95 GB/s");
    assert_eq!(renewed.verdicts[0].verdict, Verdict::Warn);
}

#[test]
fn a_waiver_of_some_nodes_does_not_cover_a_case_of_many() {
    let mut pair = case("n1", "node");
    pair.nodes.push("n2".to_owned());
    pair.outcome = seatrial_model::Outcome::Failed;
    let with = |nodes: &str| {
        let profile = Profile { waivers: vec![waiver(TODAY, nodes)], ..profile(at_least("1 GB/s")) };
        judged(&profile, std::slice::from_ref(&pair)).verdict
    };
    assert_eq!((with("n[1-2]"), with("")), (Some(Verdict::Fail), Some(Verdict::Warn)));
}

#[test]
fn settings_pass_fail_or_are_unknown() {
    let rule = SettingRule {
        id: "net.mtu".to_owned(),
        require: Requirement { at_least: Some("9000".parse().unwrap()), ..Requirement::default() },
        roles: Vec::new(),
    };
    let profile = Profile { settings: vec![rule], ..Profile::default() };
    let names = ["n1", "n2", "n3", "n4", "n5"].map(str::to_owned);
    let nodes = Assignment::new(&profile, &names, &BTreeMap::new());
    let reading = |node: &str, value: Result<&str, &str>| Reading {
        node: node.to_owned(),
        setting: "net.mtu".to_owned(),
        value: value.map(Into::into).map_err(str::to_owned),
    };
    let readings = [
        reading("n1", Ok("9000")),
        reading("n2", Ok("1500")),
        reading("n3", Err("permission denied")),
        reading("n4", Ok("large")),
    ];
    let grounds = Grounds { nodes: &nodes, records: &[], reference: None, readings: &readings, today: TODAY };
    assert_eq!(
        lines(&judge(&profile, &grounds)),
        [
            "net.mtu n1: pass",
            "net.mtu n2: fail it is 1500",
            "net.mtu n3: unknown the setting could not be read: permission denied",
            "net.mtu n4: unknown 'large' is no number",
            "net.mtu n5: unknown the setting was not read",
        ]
    );
}

#[test]
fn a_role_that_too_few_play_is_unknown() {
    let role = |nodes: &str, least: u64| Role {
        nodes: nodes.parse().unwrap(),
        expect: Some(Expect { at_least: Some(least), exactly: None }),
    };
    let roles = [("head".to_owned(), role("n1", 1)), ("production".to_owned(), role("n[2-9]", 2))];
    let profile = Profile { roles: roles.into_iter().collect(), ..profile(at_least("80 GB/s")) };
    assert_eq!(
        lines(&judged(&profile, &[measured("n1"), measured("n2")])),
        [
            "fast n1: pass",
            "fast n2: pass",
            "roles.production -: unknown 1 node of the run plays 'production', at least 2 must",
        ]
    );
}
