//! `limit-exceeded`: a result beyond what its hardware can deliver.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Severity, Unit};

use super::{Rule, about};
use crate::believable::{BELIEVABLE_PERCENT, is_beyond};
use crate::number::{in_unit, quantity, significant};

pub(super) const RULE: Rule = Rule {
    kind: "limit-exceeded",
    doc: "The median of a metric lies beyond 101 % of its limit, so one of the two is wrong.",
    find,
};

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for case in records {
        for (name, metric) in &case.metrics {
            let Some(limit) = metric.limit.value else { continue };
            if !is_beyond(metric.median, limit, metric.better) {
                continue;
            }
            let percent = 100.0 * metric.median / limit;
            let text = format!(
                "{name} is {}, which is {} % of its limit {} ({}): the derived limit is wrong, or the data \
                 took a shortcut such as a cache; results above {BELIEVABLE_PERCENT} % are not judged",
                in_unit(metric.median, metric.unit),
                significant(percent),
                in_unit(limit, metric.unit),
                metric.limit.formula.as_deref().unwrap_or("no formula"),
            );
            let finding = Finding::new(RULE.kind, Severity::Problem, case.subject.clone(), text);
            let evidence = vec![name.clone(), format!("{name}.limit")];
            findings
                .push(about(case, Finding { value: quantity(percent, Unit::Percent), evidence, ..finding }));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::{limit, measured, metric, no_limit};

    #[test]
    fn finds_what_is_beyond_the_limit_and_nothing_else() {
        let mut case = measured("n1");
        for (median, limit, found) in
            [(102.0, limit(100.0), true), (101.0, limit(100.0), false), (500.0, no_limit(), false)]
        {
            case.metrics.insert("bandwidth".to_owned(), metric(median, (median, median), limit));
            assert_eq!(find(std::slice::from_ref(&case)).len(), usize::from(found), "{median}");
        }
        case.metrics.insert("bandwidth".to_owned(), metric(125.0, (124.0, 126.0), limit(100.0)));
        let finding = find(&[case]).remove(0);
        assert_eq!(finding.value.map(|value| value.to_string()).as_deref(), Some("125 %"));
        assert!(finding.text.starts_with("bandwidth is 125 GB/s, which is 125 % of its limit 100 GB/s"));
    }
}
