//! Numbers against plain bars.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use seatrial_model::profile::{Bounds, Statistic};
use seatrial_model::record::{Axis, MetricRecord, SeriesRecord, SeriesRow};
use seatrial_model::{Better, Cause, Finding, Reason, Severity, Subject, Unit, Verdict};

use super::*;
use crate::judge::fixture::{case, limit, measured, metric, no_limit, params, summary};

fn of(median: f64, ci95: (f64, f64)) -> CaseRecord {
    let mut case = case("n1", "node");
    case.metrics.insert("bandwidth".to_owned(), metric(median, ci95, no_limit()));
    case
}

#[test]
fn a_pass_shows_number_interval_bound_and_margin() {
    let judgement = judged(&profile(at_least("80 GB/s")), &[measured("n1")]);
    let record = &judgement.verdicts[0];
    assert_eq!((record.verdict, judgement.verdict), (Verdict::Pass, Some(Verdict::Pass)));
    assert_eq!(
        (record.criterion.as_str(), record.test.as_str(), record.node.as_deref()),
        ("fast", "memory", Some("n1"))
    );
    assert_eq!(record.case.as_deref(), Some("memory:mem.bandwidth@n1/node"));
    assert_eq!(record.measured.unwrap().to_string(), "90 GB/s");
    let (low, high) = record.interval.unwrap();
    assert_eq!((low.to_string(), high.to_string()), ("89 GB/s".to_owned(), "91 GB/s".to_owned()));
    assert_eq!(
        (record.bound.as_str(), record.margin_percent, &record.reason),
        ("at least 80 GB/s", Some(12.5), &None)
    );
}

#[test]
fn bounds_of_every_form_judge_in_the_unit_they_were_given_in() {
    for (bounds, verdict, measured, bound) in [
        (at_least("800 Gbit/s"), Verdict::Fail, "720 Gbit/s", "at least 800 Gbit/s"),
        (Bounds::AtMost(bar("95 GB/s")), Verdict::Pass, "90 GB/s", "at most 95 GB/s"),
        (Bounds::Equals(bar("80 GB/s")), Verdict::Fail, "90 GB/s", "exactly 80 GB/s"),
        (
            Bounds::Within(bar("80000 MB/s"), bar("95 GB/s")),
            Verdict::Pass,
            "90000 MB/s",
            "from 80000 MB/s to 95 GB/s",
        ),
    ] {
        let found = only(&judged(&profile(bounds), &[super::super::fixture::measured("n1")]));
        assert_eq!((found.0, found.1.as_str(), found.2.as_str()), (verdict, measured, bound));
    }
}

#[test]
fn a_criterion_may_warn_where_it_would_fail_or_be_noise() {
    let of = |bounds, missed| {
        let mut profile = profile(bounds);
        profile.criteria[0].missed = missed;
        only(&judged(&profile, &[measured("n1")])).0
    };
    assert_eq!(of(at_least("95 GB/s"), Missed::Fail), Verdict::Fail);
    assert_eq!(of(at_least("95 GB/s"), Missed::Warn), Verdict::Warn);
    assert_eq!(of(at_least("90.5 GB/s"), Missed::Fail), Verdict::Unknown);
    assert_eq!(of(at_least("90.5 GB/s"), Missed::Warn), Verdict::Warn);
    assert_eq!(of(at_least("80 GB/s"), Missed::Warn), Verdict::Pass);
}

#[test]
fn a_bound_inside_the_interval_is_noise() {
    let (verdict, _, _, reason) = only(&judged(&profile(at_least("89.5 GB/s")), &[measured("n1")]));
    assert_eq!(verdict, Verdict::Warn);
    assert_eq!(reason, "met, but too close to tell: the wanted value lies inside the 95 % interval");
    let (verdict, _, _, reason) = only(&judged(&profile(at_least("90.5 GB/s")), &[measured("n1")]));
    assert_eq!(verdict, Verdict::Unknown);
    assert_eq!(reason, "missed, but too close to tell: the wanted value lies inside the 95 % interval");
}

#[test]
fn without_an_interval_all_values_stand_for_it() {
    let mut case = of(90.0, (90.0, 90.0));
    let record = case.metrics.get_mut("bandwidth").unwrap();
    *record = MetricRecord { n: 3, min: 85.0, max: 95.0, ci95: None, ..record.clone() };
    let verdict = |bound: &str| only(&judged(&profile(at_least(bound)), std::slice::from_ref(&case)));
    assert_eq!(verdict("84 GB/s").0, Verdict::Pass);
    assert_eq!(verdict("96 GB/s").0, Verdict::Fail);
    let (found, _, _, reason) = verdict("88 GB/s");
    assert_eq!(found, Verdict::Warn);
    assert!(reason.contains("too close to tell: 3 values are too few for an interval"), "{reason}");
    assert_eq!(verdict("92 GB/s").0, Verdict::Unknown);
}

#[test]
fn other_statistics_have_no_interval() {
    let mut case = of(90.0, (89.0, 91.0));
    case.metrics.get_mut("bandwidth").unwrap().p99 = Some(90.8);
    for (of, measured) in [
        (Statistic::Median, "90 GB/s"),
        (Statistic::P99, "90.8 GB/s"),
        (Statistic::Max, "92 GB/s"),
        (Statistic::Min, "88 GB/s"),
        (Statistic::Worst, "88 GB/s"),
    ] {
        let mut profile = profile(at_least("90.5 GB/s"));
        profile.criteria[0].of = of;
        let judgement = judged(&profile, std::slice::from_ref(&case));
        assert_eq!(only(&judgement).1, measured);
        let is_median = of == Statistic::Median;
        assert_eq!(judgement.verdicts[0].interval.is_some(), is_median);
        assert_eq!(only(&judgement).0 == Verdict::Unknown, is_median, "{of}");
    }
}

#[test]
fn the_worst_latency_is_the_largest() {
    let mut case = of(90.0, (89.0, 91.0));
    let record = case.metrics.get_mut("bandwidth").unwrap();
    *record = MetricRecord { better: Better::Lower, unit: Unit::Nanosecond, ..record.clone() };
    let mut profile = profile(Bounds::AtMost(bar("0.1 us")));
    profile.criteria[0].of = Statistic::Worst;
    let found = only(&judged(&profile, &[case]));
    assert_eq!((found.0, found.1.as_str()), (Verdict::Pass, "0.092 us"));
}

#[test]
fn a_percentile_of_too_few_samples_is_unknown() {
    let mut profile = profile(at_least("1 GB/s"));
    profile.criteria[0].of = Statistic::P99;
    let (verdict, _, _, reason) = only(&judged(&profile, &[measured("n1")]));
    assert_eq!(
        (verdict, reason.as_str()),
        (Verdict::Unknown, "no 99th percentile: 10 samples are fewer than 100")
    );
}

#[test]
fn what_did_not_converge_says_so_and_keeps_its_verdict() {
    let mut case = measured("n1");
    case.metrics.get_mut("bandwidth").unwrap().converged = false;
    let (verdict, _, _, reason) = only(&judged(&profile(at_least("80 GB/s")), &[case]));
    assert_eq!(
        (verdict, reason.as_str()),
        (Verdict::Pass, "did not converge: the interval is wider than asked for")
    );
}

#[test]
fn what_was_not_verified_says_so_and_keeps_its_verdict() {
    let mut case = measured("n1");
    case.params.set("verify", "none");
    let (verdict, _, _, reason) = only(&judged(&profile(at_least("80 GB/s")), &[case]));
    assert_eq!((verdict, reason.as_str()), (Verdict::Pass, "contents were not checked (verify=none)"));
}

#[test]
fn outcomes_without_numbers_have_their_verdicts() {
    for (cause, verdict) in [
        (Cause::Hang, Verdict::Fail),
        (Cause::CorruptData, Verdict::Fail),
        (Cause::Denied, Verdict::Unknown),
        (Cause::PartnerLost, Verdict::Unknown),
        (Cause::Inapplicable, Verdict::Skip),
    ] {
        let mut case = case("n1", "node");
        let reason = Reason::new(cause, "because");
        (case.outcome, case.cause, case.reason) = (reason.cause.outcome(), Some(cause), Some(reason.text));
        let found = only(&judged(&profile(at_least("80 GB/s")), &[case]));
        assert_eq!((found.0, found.3.as_str()), (verdict, "because"), "{cause:?}");
    }
}

#[test]
fn beyond_101_percent_of_the_limit_nothing_is_believed() {
    for (median, verdict) in [(101.0, Verdict::Pass), (101.5, Verdict::Unknown)] {
        let mut case = case("n1", "node");
        case.metrics.insert("bandwidth".to_owned(), metric(median, (median, median), limit(100.0)));
        let judgement = judged(&profile(at_least("80 GB/s")), std::slice::from_ref(&case));
        assert_eq!(only(&judgement).0, verdict);
        // A missed bound is not believed either.
        let missed = judged(&profile(Bounds::AtMost(bar("50 GB/s"))), &[case]);
        assert_eq!(only(&missed).0 == Verdict::Unknown, verdict == Verdict::Unknown);
    }
    // The smallest value may be below the limit while the case as a whole is not believable.
    let mut smallest = profile(at_least("80 GB/s"));
    smallest.criteria[0].of = Statistic::Min;
    let mut case = case("n1", "node");
    case.metrics.insert("bandwidth".to_owned(), metric(105.0, (99.0, 106.0), limit(100.0)));
    assert_eq!(only(&judged(&smallest, std::slice::from_ref(&case))).0, Verdict::Unknown);
    case.metrics.insert("bandwidth".to_owned(), metric(150.0, (149.0, 151.0), limit(100.0)));
    assert_eq!(
        only(&judged(&profile(at_least("80 GB/s")), &[case])).3,
        "limit or measurement wrong: 150 GB/s is 150 % of the limit 100 GB/s (8 channels x 25.6 GB/s, dmi)"
    );
}

#[test]
fn a_metric_that_the_case_lacks_is_unknown() {
    let found = only(&judged(&profile(at_least("80 GB/s")), &[case("n1", "node")]));
    assert_eq!((found.0, found.3.as_str()), (Verdict::Unknown, "the case has no 'bandwidth'"));
}

#[test]
fn of_a_series_the_heaviest_row_speaks() {
    let row = |size: &str, median: f64| SeriesRow {
        at: params(&[("size", size)]),
        summary: summary(median, Some((median, median))),
    };
    let mut case = case("n1", "node");
    let axes = vec![Axis { name: "size".to_owned(), unit: Unit::Byte }];
    let rows = vec![row("64 KiB", 90.0), row("1 MiB", 60.0), row("4 MiB", 50.0)];
    let series =
        SeriesRecord { unit: Unit::GigabytesPerSecond, better: Better::Higher, axes, rows, column: None };
    case.series.insert("bandwidth".to_owned(), series);
    let judged = |at: &[(&str, &str)]| {
        let mut profile = profile(at_least("80 GB/s"));
        profile.criteria[0].at = params(at);
        only(&judged(&profile, std::slice::from_ref(&case)))
    };
    assert_eq!(judged(&[("size", "65536 B")]).0, Verdict::Pass);
    let worst = judged(&[]);
    assert_eq!((worst.0, worst.1.as_str(), worst.3.as_str()), (Verdict::Fail, "50 GB/s", "at size=4 MiB"));
    assert_eq!(judged(&[("size", "2 MiB")]).3, "series 'bandwidth' has no row at size=2 MiB");
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_unit_of_a_bound_changes_nothing(
        median in 1.0..1e3f64, half in 0.0..5.0f64, bound in 1.0..1e3f64, unit in 0..Unit::ALL.len(), is_met in any::<bool>(),
    ) {
        // Half of the bounds are met exactly: rounding errors would show there.
        let bound = if is_met { median } else { bound };
        let plain = format!("{bound} GB/s").parse::<seatrial_model::Quantity>().unwrap();
        if let Ok(other) = plain.to(Unit::ALL[unit]) {
            let record = of(median, (median - half, median + half));
            let judge = |bar| judged(&profile(Bounds::AtLeast(Bar::Absolute(bar))), std::slice::from_ref(&record));
            prop_assert_eq!(judge(plain).verdict, judge(other).verdict);
        }
    }

    #[test]
    fn the_roll_up_is_the_heaviest_verdict_in_any_order(medians in prop::collection::vec(70.0..110.0f64, 1..6)) {
        let record = |(number, median): (usize, &f64)| {
            let mut case = case(&format!("n{number}"), "node");
            case.metrics.insert("bandwidth".to_owned(), metric(*median, (median - 5.0, median + 5.0), no_limit()));
            case
        };
        let mut records: Vec<_> = medians.iter().enumerate().map(|(number, median)| record((number + 1, median))).collect();
        let profile = profile(at_least("90 GB/s"));
        let whole = judged(&profile, &records);
        let heaviest = whole.verdicts.iter().map(|record| record.verdict).max();
        prop_assert_eq!(whole.verdict, heaviest);
        records.reverse();
        prop_assert_eq!(judged(&profile, &records).verdict, heaviest);
    }
}

#[test]
fn a_failed_number_comes_with_what_was_found_in_its_case() {
    let mut low = of(80.0, (79.0, 81.0));
    let found =
        |kind: &str, severity| Finding::new(kind, severity, Subject::node(), "what it says: all; what to do");
    low.findings.extend([found("cache-resident", Severity::Warning), found("pages", Severity::Info)]);
    let (verdict, _, _, reason) = only(&judged(&profile(at_least("89.5 GB/s")), &[low]));
    assert_eq!((verdict, reason.as_str()), (Verdict::Fail, "cache-resident: what it says: all"));
}
