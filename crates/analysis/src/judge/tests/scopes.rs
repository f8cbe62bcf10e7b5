//! Which cases a test judges, and what is missing.

use seatrial_model::profile::{Expect, Requirement, Role};
use seatrial_model::{Cause, Outcome, Value, Verdict};

use super::*;
use crate::judge::fixture::{case, measured, params};

fn nic(node: &str, name: &str, speed: &str) -> CaseRecord {
    let mut nic = measured(node);
    nic.subject = name.parse().unwrap();
    nic.facts = params(&[("kind", "nic"), ("speed", speed)]);
    nic
}

fn on_nics() -> Profile {
    let mut profile = profile(at_least("80 GB/s"));
    profile.tests[0].on = params(&[("kind", "nic"), ("speed", "10 Gbit/s")]);
    profile
}

#[test]
fn cases_of_other_tests_and_benchmarks_are_not_judged() {
    let (mut other_test, mut other_bench) = (measured("n1"), measured("n1"));
    other_test.group = "disks".to_owned();
    other_bench.bench = "mem.latency".to_owned();
    let judgement = judged(&profile(at_least("80 GB/s")), &[other_test, other_bench]);
    assert_eq!(lines(&judgement), ["fast n1: unknown nothing was run"]);
}

#[test]
fn only_subjects_with_the_facts_of_on_are_judged() {
    let records = [nic("n1", "nic:eth0", "10000 Mbit/s"), nic("n1", "nic:eth1", "1 Gbit/s")];
    let judgement = judged(&on_nics(), &records);
    let subjects: Vec<_> = judgement.verdicts.iter().map(|record| record.subject.to_string()).collect();
    assert_eq!((subjects, judgement.verdict), (vec!["nic:eth0".to_owned()], Some(Verdict::Pass)));
}

#[test]
fn nothing_that_matches_on_is_unknown_on_each_node() {
    let mut nowhere = case("n2", "node");
    (nowhere.outcome, nowhere.cause) = (Outcome::Skipped, Some(Cause::Inapplicable));
    nowhere.reason = Some("no NIC is up".to_owned());
    let judgement = judged(&on_nics(), &[nic("n1", "nic:eth0", "1 Gbit/s"), nowhere]);
    assert_eq!(
        lines(&judgement),
        [
            "fast n1: unknown nothing here has kind=nic,speed=10 Gbit/s",
            "fast n2: unknown nothing here has kind=nic,speed=10 Gbit/s; no NIC is up",
        ]
    );
}

#[test]
fn fewer_than_expected_is_unknown_beside_what_was_judged() {
    let mut profile = on_nics();
    profile.tests[0].expect = Some(Expect { at_least: Some(2), ..Expect::default() });
    let one = [nic("n1", "nic:eth0", "10 Gbit/s")];
    assert_eq!(
        lines(&judged(&profile, &one)),
        ["fast n1: pass", "memory n1: unknown 1 found with kind=nic,speed=10 Gbit/s, at least 2 expected"]
    );
    let two = [nic("n1", "nic:eth0", "10 Gbit/s"), nic("n1", "nic:eth1", "10 Gbit/s")];
    assert_eq!(lines(&judged(&profile, &two)), ["fast n1: pass", "fast n1: pass"]);
    let mut skipped = two.clone();
    skipped[1].outcome = Outcome::Skipped;
    assert_eq!(
        judged(&profile, &skipped).verdict,
        Some(Verdict::Unknown),
        "what does not apply is not there"
    );
    profile.tests[0].expect = Some(Expect { exactly: Some(1), ..Expect::default() });
    assert_eq!(judged(&profile, &two).verdict, Some(Verdict::Unknown));
    profile.criteria.clear();
    assert_eq!(judged(&profile, &[]).verdicts[0].criterion, "memory");
}

#[test]
fn a_test_that_selects_nothing_is_a_skip_if_the_profile_says_so_and_nothing_else_stood_in_the_way() {
    let mut profile = on_nics();
    profile.tests[0].if_none = Absence::Skip;
    let settled = |node: &str, cause: Cause| {
        let mut settled = case(node, "node");
        (settled.outcome, settled.cause) = (cause.outcome(), Some(cause));
        settled
    };
    let nowhere = settled("n2", Cause::Inapplicable);
    let judgement = judged(&profile, &[nic("n1", "nic:eth0", "10 Gbit/s"), nowhere]);
    assert_eq!(
        lines(&judgement),
        ["fast n1: pass", "fast n2: skip nothing here has kind=nic,speed=10 Gbit/s"]
    );
    let denied = judged(&profile, &[settled("n1", Cause::Inapplicable), settled("n2", Cause::Missing)]);
    let verdicts: Vec<Verdict> = denied.verdicts.iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts, [Verdict::Skip, Verdict::Unknown]);
    assert_eq!(judged(&profile, &[]).verdict, Some(Verdict::Unknown), "nothing was run");
}

#[test]
fn a_device_that_is_not_measured_is_a_row_of_each_criterion_or_of_the_test() {
    let mut profile = on_nics();
    profile.tests[0].expect = Some(Expect { all: true, ..Expect::default() });
    let mut down = nic("n1", "nic:eth1", "10 Gbit/s");
    (down.outcome, down.cause) = (Outcome::Unmeasured, Some(Cause::Missing));
    down.reason = Some("the port is down".to_owned());
    let records = [nic("n1", "nic:eth0", "10 Gbit/s"), down];
    assert_eq!(lines(&judged(&profile, &records)), ["fast n1: pass", "fast n1: unknown the port is down"]);
    profile.criteria.clear();
    let judgement = judged(&profile, &records);
    assert_eq!(lines(&judgement), ["memory n1: unknown the port is down"]);
    assert_eq!(judgement.verdicts[0].subject.as_str(), "nic:eth1");
}

#[test]
fn an_unmet_or_unknown_requirement_is_unknown() {
    let mut profile = profile(at_least("80 GB/s"));
    let half_full = Requirement { at_least: Some("50".parse().unwrap()), ..Requirement::default() };
    profile.tests[0].require.insert("fill_percent".to_owned(), half_full);
    let with = |fact: Option<Value>| {
        let mut case = measured("n1");
        if let Some(fact) = fact {
            case.facts.set("fill_percent", fact);
        }
        only(&judged(&profile, &[case]))
    };
    assert_eq!(with(Some(Value::Count(60))).0, Verdict::Pass);
    let unmet = with(Some(Value::Count(40)));
    assert_eq!(
        (unmet.0, unmet.3.as_str()),
        (Verdict::Unknown, "the test requires fill_percent at least 50, and it is 40")
    );
    assert_eq!(with(None).3, "the test requires fill_percent at least 50, which is not known");
    assert!(with(Some("full".into())).3.ends_with("which cannot be compared: 'full' is not a number"));
    let mut crashed = measured("n1");
    crashed.outcome = Outcome::Failed;
    assert_eq!(only(&judged(&profile, &[crashed])).0, Verdict::Fail, "a crash speaks for itself");
}

#[test]
fn a_planned_benchmark_is_unknown_once() {
    let mut profile = profile(at_least("80 GB/s"));
    profile.tests[0].planned = true;
    assert_eq!(
        lines(&judged(&profile, &[measured("n1"), measured("n2")])),
        ["fast -: unknown mem.bandwidth is planned: this version cannot measure it yet"]
    );
}

#[test]
fn where_picks_cases_and_misses_are_told() {
    let mut profile = profile(at_least("80 GB/s"));
    profile.criteria[0].cases = params(&[("kernel", "read")]);
    let with = |kernel: &str| {
        let mut case = measured("n1");
        case.params = params(&[("kernel", kernel), ("store", "nt")]);
        case
    };
    assert_eq!(lines(&judged(&profile, &[with("read"), with("copy")])), ["fast n1: pass"]);
    assert_eq!(
        lines(&judged(&profile, &[with("copy")])),
        ["fast n1: unknown no case was run with kernel=read"]
    );
}

#[test]
fn roles_bound_a_test_to_their_players() {
    let mut profile = profile(at_least("80 GB/s"));
    let role = |nodes: &str| Role { nodes: nodes.parse().unwrap(), expect: None };
    profile.roles = [("head".to_owned(), role("n1")), ("spare".to_owned(), role(""))].into_iter().collect();
    profile.tests[0].roles = vec!["head".to_owned()];
    assert_eq!(lines(&judged(&profile, &[measured("n1"), measured("n2")])), ["fast n1: pass"]);
    profile.tests[0].roles = vec!["spare".to_owned()];
    assert_eq!(
        lines(&judged(&profile, &[measured("n1"), measured("n2")])),
        ["fast -: unknown no node has the role spare: `--role spare=NODES` gives it"]
    );
    // One machine without an assignment plays every role.
    profile.roles.values_mut().for_each(|role| *role = Role::default());
    assert_eq!(lines(&judged(&profile, &[measured("n1")])), ["fast n1: pass"]);
}

#[test]
fn a_partner_is_never_judged() {
    let mut profile = profile(at_least("95 GB/s"));
    let role = |nodes: &str| Role { nodes: nodes.parse().unwrap(), expect: None };
    profile.roles =
        [("head".to_owned(), role("n1")), ("production".to_owned(), role("n2"))].into_iter().collect();
    profile.tests[0].roles = vec!["production".to_owned()];
    profile.tests[0].partner = Some("head".to_owned());
    let mut pair = measured("n2");
    pair.nodes = vec!["n2".to_owned(), "n1".to_owned()];
    assert_eq!(lines(&judged(&profile, &[pair.clone()])), ["fast n2: fail"]);
    // Without a partner the case is about both nodes, and both must play the role.
    profile.tests[0].partner = None;
    assert_eq!(lines(&judged(&profile, &[pair.clone()])), ["fast n2: unknown nothing was run"]);
    profile.tests[0].roles.clear();
    assert_eq!(lines(&judged(&profile, &[pair])), ["fast -: fail"]);
}

/// A case of `one` with `other` in which `gone` was lost.
fn lost(one: &str, other: &str, gone: &str, cause: Cause) -> CaseRecord {
    let mut case = measured(one);
    case.case = format!("{one}+{other}").parse().unwrap();
    case.nodes.push(other.to_owned());
    (case.outcome, case.cause, case.reason) = (cause.outcome(), Some(cause), Some(format!("{gone} is gone")));
    case.lost = vec![gone.to_owned()];
    case.metrics.clear();
    case
}

#[test]
fn a_case_in_which_a_node_was_lost_speaks_about_that_node_alone() {
    let mut profile = profile(at_least("80 GB/s"));
    let inside = lost("n1", "n2", "n2", Cause::Vanished);
    let idle = lost("n2", "n3", "n2", Cause::NeverReached);
    let mut again = measured("n1");
    again.nodes.push("n3".to_owned());
    again.retry_of = Some(inside.case.clone());
    let records = [inside.clone(), idle, again.clone()];
    assert_eq!(
        lines(&judged(&profile, &records)),
        ["fast n2: fail n2 is gone; n1 with n3 instead: 90 GB/s, pass", "fast n2: unknown n2 is gone"]
    );
    // A partner is not judged, not even when it vanishes; the tested node is, by its retry.
    profile.tests[0].partner = Some("any".to_owned());
    profile.roles = [("tested".to_owned(), Role { nodes: "n1".parse().unwrap(), expect: None })].into();
    profile.tests[0].roles = vec!["tested".to_owned()];
    assert_eq!(lines(&judged(&profile, &[inside.clone(), again])), ["fast n1: pass"]);
    let mut nobody = lost("n1", "n2", "n1", Cause::PartnerLost);
    (nobody.nodes, nobody.lost) = (vec!["n1".to_owned()], Vec::new());
    assert_eq!(lines(&judged(&profile, &[inside, nobody])), ["fast n1: unknown n1 is gone"]);
}

#[test]
fn a_run_has_as_many_verdicts_whoever_was_lost() {
    let profile = profile(at_least("80 GB/s"));
    let pair = |one: &str, other: &str| {
        let case = lost(one, other, one, Cause::Vanished);
        CaseRecord { lost: Vec::new(), cause: None, reason: None, ..case }
    };
    let measured_pair = |one: &str, other: &str| {
        let metrics = measured(one).metrics;
        CaseRecord { outcome: Outcome::Measured, metrics, ..pair(one, other) }
    };
    let whole = [measured_pair("n1", "n2"), measured_pair("n3", "n4")];
    assert_eq!(judged(&profile, &whole).verdicts.len(), 2);
    let gone = lost("n1", "n2", "n2", Cause::NeverReached);
    let stand_in = CaseRecord { retry_of: Some(gone.case.clone()), ..measured_pair("n1", "n3") };
    let mut nobody = lost("n1", "n2", "n1", Cause::PartnerLost);
    (nobody.case, nobody.nodes, nobody.lost) = ("n1".parse().unwrap(), vec!["n1".to_owned()], Vec::new());
    nobody.retry_of = Some(gone.case.clone());
    for (other, words) in [
        (stand_in.clone(), "fast n2: unknown n2 is gone; n1 with n3 instead: 90 GB/s, pass"),
        (nobody.clone(), "fast n2: unknown n2 is gone"),
    ] {
        assert_eq!(
            lines(&judged(&profile, &[gone.clone(), whole[1].clone(), other])),
            [words, "fast -: pass"]
        );
    }
    // Measured in the end, by a resumed run: the stand-in says nothing more.
    let records = [whole[0].clone(), whole[1].clone(), nobody];
    assert_eq!(lines(&judged(&profile, &records)), ["fast -: pass", "fast -: pass"]);
    // A number that is missed with another partner is missed.
    let strict = super::profile(at_least("95 GB/s"));
    assert_eq!(
        lines(&judged(&strict, &[gone, stand_in])),
        ["fast -: fail measured with another partner, since the planned case has no result: n2 is gone"]
    );
}

#[test]
fn a_pair_that_was_never_planned_is_judged_as_one_whatever_the_test_selects() {
    let mut profile = profile(at_least("80 GB/s"));
    profile.tests[0].on = params(&[("kind", "nic")]);
    let mut there = measured("n1");
    there.nodes.push("n2".to_owned());
    there.facts = params(&[("kind", "nic")]);
    let gone = |one: &str| lost(one, "n3", "n3", Cause::NeverReached);
    let found = judged(&profile, &[there, gone("n1"), gone("n2")]);
    assert_eq!(lines(&found), ["fast -: pass", "fast n3: unknown n3 is gone", "fast n3: unknown n3 is gone"]);
    // A case that was never planned has found no subject.
    profile.tests[0].expect = Some(Expect { at_least: Some(1), ..Expect::default() });
    profile.criteria.clear();
    let found = judged(&profile, &[gone("n1")]);
    assert!(found.verdicts.iter().all(|record| record.verdict == Verdict::Unknown), "{:?}", found.verdicts);
    assert_eq!(found.verdicts.len(), 2);
}

#[test]
fn a_test_without_criteria_is_not_judged() {
    let mut profile = profile(at_least("80 GB/s"));
    profile.criteria.clear();
    let judgement = judged(&profile, &[measured("n1")]);
    assert_eq!((judgement.verdicts.len(), judgement.verdict), (0, None));
}
