//! Roles and waivers.

use seatrial_model::Verdict;
use seatrial_model::profile::{Expect, Role, Waiver};

use super::*;
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
    assert_eq!(lines(&judgement), ["fast n1: fail the waiver by Ada ended on 2026-02-28", "fast n2: fail"]);
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
fn a_role_that_too_few_play_is_unknown() {
    let role = |nodes: &str, least: u64| Role {
        nodes: nodes.parse().unwrap(),
        expect: Some(Expect { at_least: Some(least), ..Expect::default() }),
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
