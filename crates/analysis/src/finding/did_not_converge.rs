//! `did-not-converge`: a case whose interval stayed wider than demanded.

use seatrial_model::record::{CaseRecord, MetricRecord, NotMade};
use seatrial_model::{Dimension, Fact, Finding, Severity, Unit};

use super::{Rule, about, is_of_factors};
use crate::number::quantity;

pub(super) const RULE: Rule = Rule {
    kind: "did-not-converge",
    doc: "The trials ended before the 95 % interval of a median was as narrow as asked for.",
    find,
};

/// One finding per case, over all its metrics: they come from the same trials.
fn find(records: &[CaseRecord]) -> Vec<Finding> {
    // A study of factors repeats cases of one trial; its intervals are those of the gains.
    records.iter().filter(|case| !is_of_factors(case)).filter_map(of_case).collect()
}

fn of_case(case: &CaseRecord) -> Option<Finding> {
    let wide: Vec<(&String, &MetricRecord)> =
        case.metrics.iter().filter(|(_, metric)| !metric.converged && !is_resolved(metric)).collect();
    let trials = wide.iter().map(|(_, metric)| metric.trials).max()?;
    let names: Vec<&str> = wide.iter().map(|(name, _)| name.as_str()).collect();
    let has_had_its_time =
        NotMade::of(&case.evidence).is_some_and(|not_made| not_made.planned > 0 || not_made.precision);
    let remedy = match most_trials(case) {
        _ if has_had_its_time => "give the run more time by --time-budget",
        Some(most) if case.metrics.values().all(|metric| metric.trials < most) => {
            "the first metric alone decides how many trials are made: raise the parameter trials for the others"
        }
        _ => "raise the parameter max_trials",
    };
    // Without the widths, which are shown with the medians, so that cases with the same trouble share the sentence.
    let text = format!(
        "after {} the 95 % interval of {} is missing or wider than requested: the numbers are medians of what was \
         measured, and another run may find any others in their intervals, so no small difference counts; {remedy}, or \
         look for what disturbs the machine",
        if trials == 1 { "1 trial".to_owned() } else { format!("{trials} trials") },
        names.join(", ")
    );
    let widest = wide.iter().filter_map(|(_, metric)| half_width_percent(metric)).reduce(f64::max);
    let finding = Finding::new(RULE.kind, Severity::Warning, case.subject.clone(), text);
    let evidence = wide.iter().map(|(name, _)| (*name).clone()).collect();
    let value = widest.and_then(|percent| quantity(percent, Unit::Percent));
    Some(about(case, Finding { value, evidence, ..finding }))
}

/// The largest number of trials that the case could have had: `max_trials`, or twice `trials`.
fn most_trials(case: &CaseRecord) -> Option<u64> {
    let count = |name: &str| case.params.count(name).ok();
    count("max_trials").or_else(|| Some(2 * count("trials")?))
}

/// Whether the interval is narrow in absolute terms. A width relative to the number says nothing for numbers near
/// zero: a share of 0.02 %, or zero or one event.
fn is_resolved(metric: &MetricRecord) -> bool {
    let (low, high) = metric.ci95.unwrap_or((metric.min, metric.max));
    let half_width = 0.5 * (high - low) * metric.unit.factor();
    match metric.unit.dimension() {
        // Percentage points: a share is relative already.
        Dimension::Share => half_width <= 1.0,
        // Bytes and events are counted in whole numbers.
        Dimension::Size => half_width <= 1.0,
        Dimension::Count => half_width <= 1.0,
        _ => false,
    }
}

/// Half the width of the interval, in percent of the median.
fn half_width_percent(metric: &MetricRecord) -> Option<f64> {
    let (low, high) = metric.ci95?;
    let percent = 100.0 * 0.5 * (high - low) / metric.median.abs();
    percent.is_finite().then_some(percent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::{limit, measured, metric};

    #[test]
    fn what_makes_more_trials_is_named_whether_they_were_used_up_or_not() {
        let text = |trials: u64, most: Option<u64>| {
            let mut case = measured("n1");
            case.params.set("trials", 3_u64);
            most.into_iter().for_each(|most| case.params.set("max_trials", most));
            let wide = metric(80.0, (70.0, 90.0), limit(1e3));
            let wide = MetricRecord { converged: false, trials, ..wide };
            case.metrics.insert("latency".to_owned(), wide);
            find(&[case]).remove(0).text
        };
        assert!(text(3, None).contains("raise the parameter trials for the others"), "three of six");
        assert!(text(6, None).contains("raise the parameter max_trials, or"));
        assert!(text(3, Some(3)).contains("raise the parameter max_trials, or"));
    }

    #[test]
    fn numbers_near_zero_are_known_well_enough() {
        let wide = |unit, median, low, high| MetricRecord {
            unit,
            converged: false,
            ..metric(median, (low, high), limit(1e3))
        };
        let named = |metric: MetricRecord| {
            let mut case = measured("n1");
            case.metrics.insert("late".to_owned(), metric);
            find(&[case]).len()
        };
        assert_eq!(named(wide(Unit::Percent, 0.02, 0.0, 0.3)), 0);
        assert_eq!(named(wide(Unit::Ratio, 0.002, 0.0, 0.01)), 0);
        assert_eq!(named(wide(Unit::Count, 0.0, 0.0, 2.0)), 0);
        assert_eq!(named(wide(Unit::Byte, 1504.0, 1504.0, 1504.0)), 0, "the same packet in every search");
        assert_eq!(named(wide(Unit::Byte, 1504.0, 1492.0, 1504.0)), 1);
        assert_eq!(named(wide(Unit::Percent, 20.0, 10.0, 30.0)), 1);
        assert_eq!(named(wide(Unit::Ratio, 0.2, 0.1, 0.3)), 1);
        assert_eq!(named(wide(Unit::Nanosecond, 0.5, 0.3, 0.7)), 1, "a time has no such floor");
    }

    #[test]
    fn one_finding_names_every_wide_metric_and_the_widest_interval() {
        let mut case = measured("n1");
        let wide =
            |median, low, high| MetricRecord { converged: false, ..metric(median, (low, high), limit(1e3)) };
        case.metrics.insert("all".to_owned(), wide(80.0, 76.0, 84.0));
        case.metrics.insert("best".to_owned(), wide(100.0, 90.0, 110.0));
        case.metrics.insert("few".to_owned(), MetricRecord { ci95: None, n: 4, ..wide(1.0, 1.0, 1.0) });
        let found = find(&[case, measured("n2")]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.evidence, ["all", "best", "few"]);
        assert_eq!(finding.value.map(seatrial_model::Quantity::value), Some(10.0));
        assert_eq!(
            finding.text,
            "after 3 trials the 95 % interval of all, best, few is missing or wider than requested: the numbers are \
             medians of what was measured, and another run may find any others in their intervals, so no small difference \
             counts; raise the parameter max_trials, or look for what disturbs the machine"
        );
    }
}
