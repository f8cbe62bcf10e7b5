//! `did-not-converge`: a case that ended with its interval wider than asked for.

use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Finding, Severity, Unit};

use super::{Rule, about};
use crate::number::quantity;

pub(super) const RULE: Rule = Rule {
    kind: "did-not-converge",
    doc: "The trials were used up before the 95 % interval of a median was as narrow as asked for.",
    find,
};

/// One finding a case, over all of its metrics: they come from the same trials.
fn find(records: &[CaseRecord]) -> Vec<Finding> {
    records.iter().filter_map(of_case).collect()
}

fn of_case(case: &CaseRecord) -> Option<Finding> {
    let wide: Vec<(&String, &MetricRecord)> =
        case.metrics.iter().filter(|(_, metric)| !metric.converged).collect();
    let trials = wide.iter().map(|(_, metric)| metric.trials).max()?;
    let names: Vec<&str> = wide.iter().map(|(name, _)| name.as_str()).collect();
    // Without the widths, which stand beside the medians, so that cases that share the trouble share the sentence.
    let text = format!(
        "after {trials} trials the 95 % interval of {} is still wider than asked for: raise -p max_trials=, or look \
         for what disturbs the machine",
        names.join(", ")
    );
    let widest = wide.iter().filter_map(|(_, metric)| half_width_percent(metric)).reduce(f64::max);
    let finding = Finding::new(RULE.kind, Severity::Warning, case.subject.clone(), text);
    let evidence = wide.iter().map(|(name, _)| (*name).clone()).collect();
    let value = widest.and_then(|percent| quantity(percent, Unit::Percent));
    Some(about(case, Finding { value, evidence, ..finding }))
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
            "after 3 trials the 95 % interval of all, best, few is still wider than asked for: raise -p max_trials=, or \
             look for what disturbs the machine"
        );
    }
}
