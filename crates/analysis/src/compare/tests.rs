//! Comparisons of records made by hand, with exact numbers.

use proptest::collection::vec;
use proptest::prelude::*;
use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Better, Outcome};
use seatrial_stats::Verdict;

use super::*;
use crate::judge::fixture::{measured, params};

/// A case whose trials have these medians, three samples each.
fn with_trials(node: &str, medians: &[f64]) -> CaseRecord {
    let mut case = measured(node);
    let record = case.metrics.get_mut("bandwidth").unwrap();
    record.samples = Some(medians.iter().map(|median| vec![*median; 3]).collect());
    record.median = medians[medians.len() / 2];
    case
}

fn compare(a: &[CaseRecord], b: &[CaseRecord], same_within: Option<f64>) -> Comparison {
    super::compare(&ComparedCases::all(a), &ComparedCases::all(b), same_within)
}

fn only(comparison: &Comparison) -> &Difference {
    let [difference] = comparison.differences.as_slice() else { panic!("{comparison:#?}") };
    difference
}

#[test]
fn a_difference_has_percent_interval_and_verdict() {
    let (a, b) = (with_trials("n1", &[99.0, 100.0, 101.0]), with_trials("n1", &[119.0, 120.0, 121.0]));
    let found = compare(&[a], &[b], None);
    let difference = only(&found);
    assert_eq!((difference.metric.as_str(), difference.better), ("bandwidth", Better::Higher));
    let value = |side: &Side| side.value.unwrap();
    assert!((value(&difference.a) - 100.0).abs() < 0.01 && (value(&difference.b) - 120.0).abs() < 0.01);
    let change = difference.change.as_ref().unwrap();
    assert_eq!(change.verdict, Verdict::Better);
    let percent = change.percent.unwrap();
    assert!((percent - 20.0).abs() < 0.01, "{change:?}");
    let (low, high) = change.interval.unwrap();
    assert!(low > 15.0 && low < percent && percent < high && high < 25.0, "{change:?}");
    assert!(change.smallest_percent.unwrap() > 0.5, "{change:?}");
}

#[test]
fn the_direction_of_the_metric_decides() {
    let latency = |medians: &[f64]| {
        let mut case = with_trials("n1", medians);
        case.metrics.get_mut("bandwidth").unwrap().better = Better::Lower;
        case
    };
    let found = compare(&[latency(&[99.0, 100.0, 101.0])], &[latency(&[119.0, 120.0, 121.0])], None);
    assert_eq!(only(&found).change.as_ref().unwrap().verdict, Verdict::Worse);
    let none = |case: CaseRecord| {
        let mut case = case;
        case.metrics.get_mut("bandwidth").unwrap().better = Better::None;
        case
    };
    let found = compare(&[none(measured("n1"))], &[none(measured("n1"))], None);
    assert_eq!(only(&found).change, Err("neither more nor less is better".to_owned()));
}

#[test]
fn same_needs_a_margin_or_equal_counts() {
    let (a, b) = (with_trials("n1", &[99.9, 100.0, 100.1]), with_trials("n1", &[100.0, 100.1, 100.2]));
    let verdict = |same_within| {
        let found = compare(std::slice::from_ref(&a), std::slice::from_ref(&b), same_within);
        only(&found).change.as_ref().unwrap().verdict
    };
    assert_eq!((verdict(None), verdict(Some(0.01))), (Verdict::CannotTell, Verdict::Same));
    let zero = with_trials("n1", &[0.0, 0.0, 0.0]);
    let found = compare(std::slice::from_ref(&zero), std::slice::from_ref(&zero), None);
    let change = only(&found).change.as_ref().unwrap();
    assert_eq!((change.verdict, change.percent, change.interval), (Verdict::Same, Some(0.0), None));
    let some = compare(&[zero], &[with_trials("n1", &[0.0, 1.0, 1.0])], None);
    assert!(
        only(&some).change.as_ref().unwrap_err().contains("relative difference needs medians above zero")
    );
}

/// A case whose metric is the better the less it is, as retransmits are.
fn counting(kernel: usize, medians: &[f64]) -> CaseRecord {
    let mut case = with_trials("n1", medians);
    case.params = params(&[("kernel", &kernel.to_string())]);
    case.metrics.get_mut("bandwidth").unwrap().better = Better::Lower;
    case
}

#[test]
fn what_was_zero_in_every_trial_and_is_in_none_is_worse_without_a_percentage() {
    let (none, many) = (counting(0, &[0.0; 3]), counting(0, &[4800.0, 5000.0, 5100.0]));
    let between =
        |a: &CaseRecord, b: &CaseRecord| compare(std::slice::from_ref(a), std::slice::from_ref(b), None);
    let found = between(&none, &many);
    let change = only(&found).change.as_ref().unwrap();
    assert_eq!((change.verdict, change.percent, change.interval), (Verdict::Worse, None, None));
    assert!(found.is_worse() && !found.may_be_worse());
    assert_eq!(only(&found).a.value, Some(0.0));
    let found = between(&many, &none);
    let change = only(&found).change.as_ref().unwrap();
    assert_eq!((change.verdict, change.percent), (Verdict::Better, Some(-100.0)));
    assert!(!found.is_worse() && !found.may_be_worse());
}

#[test]
fn a_split_at_zero_that_is_not_called_worse_may_be() {
    let verdict = |found: &Comparison| found.differences[0].change.as_ref().unwrap().verdict;
    let (none, some) = (counting(0, &[0.0; 2]), counting(0, &[3.0, 4.0]));
    let found = compare(std::slice::from_ref(&none), std::slice::from_ref(&some), None);
    assert_eq!((verdict(&found), found.is_worse(), found.may_be_worse()), (Verdict::CannotTell, false, true));
    let found = compare(&[some], &[none], None);
    assert_eq!((verdict(&found), found.may_be_worse()), (Verdict::CannotTell, false), "it is less");
    // Among many comparisons, chance does this too.
    let run = |medians: &[f64]| {
        let others = (1..9).map(|kernel| counting(kernel, &[9.0, 10.0, 11.0]));
        std::iter::once(counting(0, medians)).chain(others).collect::<Vec<_>>()
    };
    let found = compare(&run(&[0.0; 3]), &run(&[3.0, 4.0, 5.0]), None);
    let change = found.differences[0].change.as_ref().unwrap();
    assert_eq!((change.verdict, change.may_be_chance), (Verdict::CannotTell, true));
    assert!(!found.is_worse() && found.may_be_worse());
    // A rate that breaks down to nothing.
    let rate = |medians: &[f64]| [with_trials("n1", medians)];
    assert!(compare(&rate(&[9.0, 10.0, 11.0]), &rate(&[0.0; 3]), None).is_worse());
    assert!(compare(&rate(&[9.0]), &rate(&[0.0]), None).may_be_worse());
}

#[test]
fn one_trial_cannot_tell() {
    let found = compare(&[with_trials("n1", &[100.0])], &[with_trials("n1", &[200.0])], None);
    let change = only(&found).change.as_ref().unwrap();
    assert_eq!((change.verdict, change.interval, change.smallest_percent), (Verdict::CannotTell, None, None));
    assert!((change.percent.unwrap() - 100.0).abs() < 1e-9);
}

#[test]
fn cases_without_a_partner_are_listed_both_ways() {
    let case = |node: &str, kernel: &str| {
        let mut case = with_trials(node, &[100.0, 100.0]);
        case.params = params(&[("kernel", kernel)]);
        case.case = format!("{kernel}@{node}").parse().unwrap();
        case
    };
    let a = [case("n1", "read"), case("n1", "copy"), case("n2", "copy")];
    let b = [case("n2", "copy"), case("n1", "triad"), case("n1", "read"), case("n1", "read")];
    let found = compare(&a, &b, None);
    let pairs: Vec<_> = found.differences.iter().map(|it| (it.a.case.as_str(), it.b.case.as_str())).collect();
    assert_eq!(pairs, [("read@n1", "read@n1"), ("copy@n2", "copy@n2")]);
    assert_eq!(
        (found.only_a, found.only_b),
        (vec!["copy@n1".to_owned()], vec!["triad@n1".to_owned(), "read@n1".to_owned()])
    );
}

#[test]
fn a_parameter_that_keeps_all_cases_apart_is_named_with_its_values() {
    let case = |time: &str, kernel: &str| {
        let mut case = with_trials("n1", &[100.0, 100.0]);
        case.params = params(&[("kernel", kernel), ("time", time)]);
        case
    };
    let found = compare(&[case("1 s", "read"), case("1 s", "copy")], &[case("500 ms", "read")], None);
    let [differing] = found.differing.as_slice() else { panic!("{:?}", found.differing) };
    assert_eq!((differing.bench.as_str(), differing.name.as_str()), ("mem.bandwidth", "time"));
    assert_eq!((&differing.a, &differing.b), (&vec!["1 s".to_owned()], &vec!["500 ms".to_owned()]));
    // A case that was added to a later run differs in nothing that keeps the others apart.
    let more = compare(&[case("1 s", "read")], &[case("1 s", "read"), case("1 s", "copy")], None);
    assert!(more.differing.is_empty(), "{:?}", more.differing);
}

#[test]
fn the_headline_of_a_case_is_known() {
    let mut case = with_trials("n1", &[100.0, 100.0]);
    case.metrics.insert("fairness".to_owned(), case.metrics["bandwidth"].clone());
    case.headline = Some("fairness".to_owned());
    let found = compare(std::slice::from_ref(&case), std::slice::from_ref(&case), None);
    let headlines: Vec<_> =
        found.differences.iter().map(|row| (row.metric.as_str(), row.is_headline)).collect();
    assert_eq!(headlines, [("bandwidth", false), ("fairness", true)]);
}

#[test]
fn a_renumbered_device_is_found_by_its_key() {
    let disk = |name: &str, key: &str| {
        let mut case = with_trials("n1", &[100.0, 100.0]);
        case.subject = name.parse().unwrap();
        case.key = Some(key.to_owned());
        case
    };
    let found =
        compare(&[disk("disk:sda", "wwn-1"), disk("disk:sdb", "wwn-2")], &[disk("disk:sda", "wwn-2")], None);
    assert_eq!(only(&found).subject.as_str(), "disk:sda");
    assert_eq!(found.only_a.len(), 1);
}

#[test]
fn two_single_machines_are_held_against_each_other() {
    let found = compare(&[with_trials("n1", &[100.0, 100.0])], &[with_trials("n2", &[100.0, 100.0])], None);
    assert_eq!(
        (only(&found).a.nodes.join(""), only(&found).b.nodes.join("")),
        ("n1".to_owned(), "n2".to_owned())
    );
    let cluster = [with_trials("n1", &[100.0, 100.0]), with_trials("n3", &[100.0, 100.0])];
    assert!(compare(&cluster, &[with_trials("n2", &[100.0, 100.0])], None).differences.is_empty());
}

#[test]
fn what_cannot_be_compared_says_why() {
    let why = |change: fn(&mut CaseRecord)| {
        let (a, mut b) = (with_trials("n1", &[100.0, 100.0]), with_trials("n1", &[100.0, 100.0]));
        change(&mut b);
        only(&compare(&[a], &[b], None)).change.clone().unwrap_err()
    };
    assert!(
        why(|case| case.version = 2).starts_with("measured with version 1 and version 2 of mem.bandwidth")
    );
    let failed = why(|case| {
        case.outcome = Outcome::Failed;
        case.reason = Some("the worker hung".to_owned());
    });
    assert_eq!(failed, "the second run has no numbers: the worker hung");
    let edit = |case: &mut CaseRecord, file: Option<&str>| {
        let record = case.metrics.get_mut("bandwidth").unwrap();
        *record = MetricRecord { samples: None, samples_file: file.map(str::to_owned), ..record.clone() };
    };
    let (a, mut b) = (with_trials("n1", &[100.0, 100.0]), with_trials("n1", &[100.0, 100.0]));
    edit(&mut b, Some("samples/x.json"));
    let found = compare(std::slice::from_ref(&a), std::slice::from_ref(&b), None);
    assert_eq!(
        only(&found).change.clone().unwrap_err(),
        "the samples of the second run are in samples/x.json, which is missing"
    );
    edit(&mut b, None);
    assert_eq!(only(&compare(&[b], &[a], None)).change.clone().unwrap_err(), "the first run kept no samples");
}

#[test]
fn among_many_comparisons_a_difference_that_chance_makes_is_not_called() {
    let case = |kernel: usize, medians: &[f64]| {
        let mut case = with_trials("n1", medians);
        case.params = params(&[("kernel", &kernel.to_string())]);
        case
    };
    let noisy = [99.0, 100.0, 101.0];
    // This one alone differs: t = 3.0 with four degrees of freedom is beyond 2.78.
    let shifted = [101.5, 102.5, 103.5];
    let alone = compare(&[case(0, &noisy)], &[case(0, &shifted)], None);
    assert_eq!(only(&alone).change.as_ref().unwrap().verdict, Verdict::Better);
    let a: Vec<_> = (0..40).map(|kernel| case(kernel, &noisy)).collect();
    let mut b = a.clone();
    b[7] = case(7, &shifted);
    let found = compare(&a, &b, None);
    let change = found.differences[7].change.as_ref().unwrap();
    assert_eq!((change.verdict, change.may_be_chance), (Verdict::CannotTell, true));
    assert!(change.interval.unwrap().0 > 0.0 && change.p.unwrap() < 0.05, "{change:?}");
    assert!(!found.is_worse());
    b[7] = case(7, &[60.0, 60.1, 60.2]);
    let found = compare(&a, &b, None);
    assert_eq!(found.differences[7].change.as_ref().unwrap().verdict, Verdict::Worse);
    assert!(found.is_worse());
}

#[test]
fn a_case_that_was_not_verified_is_compared_with_none_that_was_and_full_is_what_earlier_versions_did() {
    let verified = |word: Option<&str>| {
        let mut case = with_trials("n1", &[100.0, 100.0]);
        word.into_iter().for_each(|word| case.params.set("verify", word));
        [case]
    };
    for earlier in [None, Some("full")] {
        let found = compare(&verified(earlier), &verified(Some("none")), None);
        assert!(found.differences.is_empty() && found.is_incomplete());
        let [differing] = found.differing.as_slice() else { panic!("{:?}", found.differing) };
        assert_eq!(
            (differing.name.as_str(), &differing.a[..], &differing.b[..]),
            ("verify", &["full".to_owned()][..], &["none".to_owned()][..])
        );
    }
    let same = compare(&verified(None), &verified(Some("full")), None);
    assert!(!same.differences.is_empty() && same.differing.is_empty() && !same.is_incomplete());
}

#[test]
fn a_case_that_fails_now_is_worse_and_one_that_could_not_be_looked_at_is_not_known() {
    let ended = |outcome| {
        let mut case = with_trials("n1", &[100.0, 100.0]);
        case.outcome = outcome;
        case.reason = Some("the worker hung".to_owned());
        case.metrics.clear();
        [case]
    };
    let good = [with_trials("n1", &[100.0, 100.0])];
    let broken = compare(&good, &ended(Outcome::Failed), None);
    assert!(broken.is_worse() && broken.broken[0].reason == "the worker hung");
    let mended = compare(&ended(Outcome::Failed), &good, None);
    assert!(!mended.is_worse() && mended.mended.len() == 1);
    for outcome in [Outcome::Unmeasured, Outcome::Skipped] {
        let other = with_trials("n2", &[100.0, 100.0]);
        let [lacking] = ended(outcome);
        let open = compare(&[good[0].clone(), other.clone()], &[lacking, other], None);
        assert!(!open.is_worse() && open.is_incomplete() && open.unmeasured.len() == 1, "{outcome:?}");
    }
    let same = compare(&good, &good, None);
    assert!(!same.is_worse() && !same.is_incomplete());
    assert!(compare(&good, &[], None).is_incomplete());
}

proptest! {
    /// What a reader can check: the change leads from one shown value to the other, and lies in its interval.
    #[test]
    fn the_change_follows_from_the_two_values_beside_it(
        before in vec(vec(0.5..500.0_f64, 1..9), 1..7), after in vec(vec(0.5..500.0_f64, 1..9), 1..7),
    ) {
        let case = |trials: Vec<Vec<f64>>| {
            let mut case = measured("n1");
            let record = case.metrics.get_mut("bandwidth").unwrap();
            let mut all = trials.concat();
            all.sort_by(f64::total_cmp);
            (record.median, record.samples) = (all[all.len() / 2], Some(trials));
            case
        };
        let found = compare(&[case(before)], &[case(after)], None);
        let row = only(&found);
        let (change, before, after) =
            (row.change.as_ref().unwrap(), row.a.value.unwrap(), row.b.value.unwrap());
        let follows = 100.0 * (after / before - 1.0);
        let slack = 1e-6 * (100.0 + follows.abs());
        prop_assert!((change.percent.unwrap() - follows).abs() <= slack, "{row:?}");
        if let Some((low, high)) = change.interval {
            prop_assert!(low <= follows + slack && follows <= high + slack, "{row:?}");
        }
    }
}
