//! Bars that are percentages: of a limit, of a fleet, of a reference.

use seatrial_model::profile::{Bar, Bounds, LimitRule};
use seatrial_model::{Beside, Better, Limit, LimitRecord, Unit, Verdict};

use super::*;
use crate::judge::MissingLimit;
use crate::judge::fixture::{case, limit, measured, metric, no_limit, params};

fn of_limit(percent: f64) -> Profile {
    profile(Bounds::AtLeast(Bar::PercentOfLimit(percent)))
}

fn without_limit(node: &str) -> CaseRecord {
    let mut case = case(node, "node");
    case.metrics.insert("bandwidth".to_owned(), metric(90.0, (89.0, 91.0), no_limit()));
    case
}

fn rule(value: &str) -> LimitRule {
    LimitRule {
        test: "memory".to_owned(),
        metric: "bandwidth".to_owned(),
        cases: params(&[]),
        value: value.parse().unwrap(),
        source: "data sheet".to_owned(),
    }
}

#[test]
fn a_percentage_of_the_limit_says_what_it_comes_to() {
    let judgement = judged(&of_limit(70.0), &[measured("n1")]);
    let (verdict, measured_value, bound, _) = only(&judgement);
    assert_eq!((verdict, measured_value.as_str()), (Verdict::Pass, "90 GB/s"));
    assert_eq!(bound, "at least 70 % of the limit (70 GB/s)");
    let margin = judgement.verdicts[0].margin_percent.unwrap();
    assert!((margin - 100.0 * 20.0 / 70.0).abs() < 1e-9, "{margin}");
    assert_eq!(only(&judged(&of_limit(95.0), &[measured("n1")])).0, Verdict::Fail);
    assert_eq!(only(&judged(&of_limit(89.5), &[measured("n1")])).0, Verdict::Warn);
}

#[test]
fn a_percentage_of_the_nominal_rate_is_of_the_port_and_unknown_where_there_is_none() {
    let nominal = |percent: f64| profile(Bounds::AtLeast(Bar::PercentOfNominal(percent)));
    let mut case = case("n1", "node");
    let of_port = LimitRecord { nominal: Some(110.0), ..limit(100.0) };
    case.metrics.insert("bandwidth".to_owned(), metric(90.0, (89.9, 90.1), of_port));
    let judgement = judged(&nominal(80.0), std::slice::from_ref(&case));
    let (verdict, _, bound, _) = only(&judgement);
    assert_eq!((verdict, bound.as_str()), (Verdict::Pass, "at least 80 % of the nominal rate (88 GB/s)"));
    assert_eq!(only(&judged(&nominal(85.0), &[case])).0, Verdict::Fail);
    let judgement = judged(&nominal(80.0), &[measured("n1")]);
    assert!(lines(&judgement)[0].starts_with("fast n1: unknown no nominal rate"), "{:?}", lines(&judgement));
    assert_eq!(judgement.missing_limits, [], "a [[limit]] would not help");
    let mut skip = nominal(80.0);
    skip.criteria[0].without_limit = Absence::Skip;
    assert_eq!(only(&judged(&skip, &[measured("n1")])).0, Verdict::Skip);
}

#[test]
fn without_a_limit_a_percentage_of_it_is_unknown_and_says_how_to_supply_one() {
    let judgement = judged(&of_limit(70.0), &[without_limit("n1"), without_limit("n2")]);
    assert_eq!(
        lines(&judgement)[0],
        "fast n1: unknown no limit is known for bandwidth here: the DIMMs are not readable: permission denied; run as root"
    );
    let remedy = judgement.verdicts[0].remedy.as_ref().expect("there is something to do");
    assert!(remedy.action.contains("then run `seatrial check ./my.toml`"), "{remedy}");
    let file = "\n  extends = [\"site\"]\n\n  [[limit]]\n  test = \"memory\"\n  metric = \
                \"bandwidth\"\n  value = \"... GB/s\"\n  source = \"where it is known from\"";
    assert!(remedy.action.ends_with(file), "{remedy}");
    assert_eq!(judgement.verdicts[0].measured.unwrap().to_string(), "90 GB/s", "it is reported all the same");
    let reason = "the DIMMs are not readable: permission denied; run as root".to_owned();
    let missing = MissingLimit {
        test: "memory".to_owned(),
        metric: "bandwidth".to_owned(),
        unit: Unit::GigabytesPerSecond,
        reason,
    };
    assert_eq!(judgement.missing_limits, [missing]);
}

#[test]
fn a_criterion_may_leave_out_what_has_no_limit() {
    let mut profile = profile(Bounds::AtLeast(Bar::PercentOfLimit(80.0)));
    profile.criteria[0].without_limit = Absence::Skip;
    let mut unlimited = case("n1", "node");
    unlimited.metrics.insert("bandwidth".to_owned(), metric(90.0, (89.0, 91.0), no_limit()));
    let judgement = judged(&profile, &[unlimited]);
    assert_eq!(judgement.verdicts[0].verdict, Verdict::Skip);
    assert_eq!(judgement.verdicts[0].measured.map(|it| it.to_string()).as_deref(), Some("90 GB/s"));
    assert!(
        judgement.advice(&profile, "site").is_some_and(|text| text.contains("[[limit]]")),
        "nothing was judged"
    );
    assert_eq!(judged(&profile, &[measured("n1")]).verdict, Some(Verdict::Pass), "90 of 100 is known");
}

/// A case that measured 90 GB/s, on a machine whose limit is unknown and at most `highest` GB/s.
fn limited_at_most(highest: f64) -> CaseRecord {
    let bound = limit(highest).chain.remove(0);
    let at_most = Limit::AtMost { bound, reason: "no DIMM is visible".to_owned() };
    let at_most = at_most.record(Better::Higher, Unit::GigabytesPerSecond).unwrap();
    let mut case = case("n1", "node");
    case.metrics.insert("bandwidth".to_owned(), metric(90.0, (89.0, 91.0), at_most));
    case
}

#[test]
fn the_highest_that_a_limit_can_be_never_fails_a_machine() {
    let mut profile = of_limit(70.0);
    let met = judged(&profile, &[limited_at_most(120.0)]);
    let (verdict, _, bound, reason) = only(&met);
    assert_eq!((verdict, bound.as_str()), (Verdict::Pass, "at least 70 % of the limit (84 GB/s)"));
    assert!(reason.contains("met even if the limit is as high as it can be: no DIMM is visible"), "{reason}");
    // Noise around the bound, a number far below it, and one above all that the family can do.
    for highest in [128.0, 1000.0, 80.0] {
        profile.criteria[0].without_limit = Absence::Unknown;
        let (verdict, _, _, reason) = only(&judged(&profile, &[limited_at_most(highest)]));
        assert_eq!(verdict, Verdict::Unknown, "{highest}");
        assert!(reason.contains(&format!("at most {highest} GB/s")), "{reason}");
        profile.criteria[0].without_limit = Absence::Skip;
        assert_eq!(only(&judged(&profile, &[limited_at_most(highest)])).0, Verdict::Skip, "{highest}");
        let plain = super::profile(at_least("80 GB/s"));
        assert_eq!(only(&judged(&plain, &[limited_at_most(highest)])).0, Verdict::Pass, "{highest}");
    }
    let mut below = of_limit(200.0);
    below.criteria[0].bounds = Bounds::AtMost(Bar::PercentOfLimit(200.0));
    assert_eq!(
        only(&judged(&below, &[limited_at_most(120.0)])).0,
        Verdict::Unknown,
        "the limit may be lower"
    );
}

#[test]
fn a_stated_limit_replaces_the_highest_that_it_can_be() {
    let mut profile = of_limit(70.0);
    profile.limits = vec![rule("150 GB/s")];
    let (verdict, _, bound, _) = only(&judged(&profile, &[limited_at_most(120.0)]));
    assert_eq!((verdict, bound.as_str()), (Verdict::Fail, "at least 70 % of the limit (105 GB/s)"));
}

#[test]
fn a_plain_bound_needs_no_limit() {
    assert_eq!(only(&judged(&profile(at_least("80 GB/s")), &[without_limit("n1")])).0, Verdict::Pass);
}

#[test]
fn a_profile_supplies_the_limit() {
    let mut profile = of_limit(70.0);
    profile.limits = vec![rule("1000 Gbit/s")];
    let (verdict, _, bound, _) = only(&judged(&profile, &[without_limit("n1")]));
    assert_eq!((verdict, bound.as_str()), (Verdict::Pass, "at least 70 % of the limit (87.5 GB/s)"));
    profile.limits[0].cases = params(&[("kernel", "triad")]);
    assert_eq!(only(&judged(&profile, &[without_limit("n1")])).0, Verdict::Unknown, "it is for other cases");
    profile.limits = vec![rule("50 GB/s")];
    assert_eq!(
        only(&judged(&profile, &[without_limit("n1")])).3,
        "limit or measurement wrong: 90 GB/s is 180 % of the limit 50 GB/s (data sheet, profile)"
    );
}

#[test]
fn the_tighter_of_two_limits_binds() {
    let mut profile = of_limit(70.0);
    for (stated, bound) in [("200 GB/s", "(70 GB/s)"), ("95 GB/s", "(66.5 GB/s)")] {
        profile.limits = vec![rule(stated)];
        let found = only(&judged(&profile, &[measured("n1")])).2;
        assert!(found.ends_with(bound), "{found}");
    }
    // Of two limits of a latency the higher one is tighter.
    let mut case = case("n1", "node");
    let mut latency = metric(90.0, (89.0, 91.0), limit(80.0));
    (latency.better, latency.unit) = (Better::Lower, Unit::Nanosecond);
    latency.limit.chain[0].value = "80 ns".parse().unwrap();
    case.metrics.insert("bandwidth".to_owned(), latency);
    let mut profile = super::profile(Bounds::AtMost(Bar::PercentOfLimit(120.0)));
    profile.limits = vec![rule("85 ns")];
    let found = only(&judged(&profile, &[case]));
    assert_eq!((found.0, found.2.as_str()), (Verdict::Pass, "at most 120 % of the limit (102 ns)"));
}

#[test]
fn nothing_judged_comes_with_a_profile_to_copy() {
    let profile = of_limit(70.0);
    let judgement = judged(&profile, &[without_limit("n1")]);
    assert!(!judgement.has_judged_something());
    assert_eq!(judgement.verdict, Some(Verdict::Unknown));
    let advice = judgement.advice(&profile, "site").expect("there is advice");
    let file = advice.split_once(":\n\n").expect("a file to copy").1;
    assert_eq!(
        file,
        "  extends = [\"site\"]\n\n  [[limit]]\n  test = \"memory\"\n  metric = \"bandwidth\"\n  \
         value = \"... GB/s\"\n  source = \"where it is known from\"\n"
    );
    assert!(advice.contains("permission denied; run as root"), "{advice}");
    assert_eq!(judged(&profile, &[measured("n1")]).advice(&profile, "site"), None);
    let nothing = judged(&Profile::default(), &[]);
    assert_eq!((nothing.verdict, nothing.verdicts.len()), (None, 0));
    assert!(nothing.advice(&profile, "site").is_some_and(|advice| !advice.contains("[[limit]]")));
}

#[test]
fn skips_alone_judge_nothing() {
    let mut case = case("n1", "node");
    case.outcome = seatrial_model::Outcome::Skipped;
    let profile = of_limit(70.0);
    let judgement = judged(&profile, &[case]);
    assert_eq!(judgement.verdict, Some(Verdict::Skip));
    assert!(!judgement.has_judged_something() && judgement.advice(&profile, "site").is_some());
}

#[test]
fn a_fleet_is_three_nodes_and_its_median_includes_the_one_judged() {
    let record = |node: &str, median: f64| {
        let mut case = case(node, "node");
        case.metrics.insert("bandwidth".to_owned(), metric(median, (median - 0.5, median + 0.5), no_limit()));
        case
    };
    let profile = profile(Bounds::AtLeast(Bar::PercentOfFleetMedian(95.0)));
    let two = judged(&profile, &[record("n1", 100.0), record("n2", 80.0)]);
    assert_eq!(two.verdict, Some(Verdict::Unknown));
    assert_eq!(
        two.verdicts[0].reason.as_deref(),
        Some("a fleet median needs 3 nodes that measured this; there are 2")
    );
    let fleet = [record("n1", 100.0), record("n2", 80.0), record("n3", 102.0), record("n4", 103.0)];
    let found = judged(&profile, &fleet);
    let verdicts: Vec<_> = found.verdicts.iter().map(|record| record.verdict).collect();
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Fail, Verdict::Pass, Verdict::Pass]);
    // The median of 80, 100, 102 and 103 is 101.
    assert_eq!(found.verdicts[0].bound, "at least 95 % of the fleet median (95.95 GB/s)");
    // Beside a load all nodes are as slow as each other.
    let beside = |percent: u32, median: f64| {
        let of =
            Beside { test: "memory".to_owned(), load: "bulk".to_owned(), percent, number: 0, is_load: false };
        ["n1", "n2", "n3"].map(|node| {
            let mut record = record(node, median);
            record.case = format!("{}#beside.{percent}", record.case).parse().expect("an id");
            record.origin.beside = Some(of.clone());
            record
        })
    };
    let loaded = judged(&profile, &[beside(0, 100.0), beside(100, 50.0)].concat());
    assert!(loaded.verdicts.iter().all(|record| record.verdict == Verdict::Pass), "{:?}", lines(&loaded));
    let mut other = fleet.to_vec();
    other[3].params = params(&[("kernel", "read")]);
    assert_eq!(judged(&profile, &other).verdicts[0].bound, "at least 95 % of the fleet median (95 GB/s)");
}

#[test]
fn a_reference_is_the_same_thing_or_a_golden_node() {
    let profile = profile(Bounds::AtLeast(Bar::PercentOfReference(95.0)));
    let nodes = Assignment::new(&profile, &["n1".to_owned()], &BTreeMap::new());
    let records = [measured("n1")];
    let against =
        |reference: Option<&[CaseRecord]>| only(&judge(&profile, &inputs(&nodes, &records, reference)));
    assert_eq!(against(None).3, "no reference run was given; --reference RUN names one");
    assert_eq!(against(Some(&[])).3, "the reference run has no case like it");
    let reference = |node: &str, median: f64| {
        let mut case = case(node, "node");
        case.metrics.insert("bandwidth".to_owned(), metric(median, (median, median), no_limit()));
        case
    };
    let same = against(Some(&[reference("n1", 90.0), reference("n2", 200.0)]));
    assert_eq!((same.0, same.2.as_str()), (Verdict::Pass, "at least 95 % of the reference (85.5 GB/s)"));
    assert_eq!(against(Some(&[reference("gold", 100.0)])).0, Verdict::Fail);
    assert_eq!(
        against(Some(&[reference("a", 90.0), reference("b", 90.0)])).3,
        "the reference run has no case like it"
    );
    let mut newer = reference("n1", 90.0);
    newer.version = 2;
    assert!(against(Some(&[newer])).3.contains("version 2 of mem.bandwidth, this one with version 1"));
    assert_eq!(against(Some(&[case("n1", "node")])).3, "the reference run did not measure it");
}

#[test]
fn bars_that_contradict_each_other_are_unknown() {
    let bounds = Bounds::Within(bar("85 GB/s"), Bar::PercentOfLimit(80.0));
    let found = only(&judged(&profile(bounds), &[measured("n1")]));
    assert_eq!(found.0, Verdict::Unknown);
    assert_eq!(found.3, "nothing lies from 85 GB/s to 80 GB/s: the two bounds contradict each other");
}
