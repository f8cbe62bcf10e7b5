//! Limits and bounds as lines in plots.

use seatrial_model::Better;
use seatrial_model::record::{CaseRecord, MetricRecord};

use super::plot::Mark;
use super::shown::Shown;
use super::words::quantity;
use crate::view::values::bar;

/// The limit of `metric`, and the bounds that the profile holds it against.
pub fn of_metric(shown: &Shown<'_>, case: &CaseRecord, metric: &MetricRecord) -> Vec<Mark> {
    let limit = metric.limit.value;
    let limit = limit.map(|limit| Mark::Across(limit, format!("limit {}", quantity(limit, metric.unit))));
    let words = if metric.better == Better::Lower { "at most" } else { "at least" };
    let bound = |bound: f64| Mark::Bound(bound, format!("{words} {}", quantity(bound, metric.unit)));
    limit.into_iter().chain(bounds(shown, case, metric).into_iter().map(bound)).collect()
}

pub fn bounds(shown: &Shown<'_>, case: &CaseRecord, metric: &MetricRecord) -> Vec<f64> {
    let mut bounds: Vec<f64> =
        shown.judgements(case).iter().filter_map(|record| bar(record, metric)).collect();
    bounds.sort_by(f64::total_cmp);
    // Bounds of two criteria, computed in two ways, may differ in the last digits.
    bounds.dedup_by(|one, other| quantity(*one, metric.unit) == quantity(*other, metric.unit));
    bounds
}

/// The lines of the metric `name` that all of `cases` share.
pub fn shared<'a>(
    shown: &Shown<'_>,
    cases: impl IntoIterator<Item = &'a CaseRecord>,
    name: &str,
) -> Vec<Mark> {
    let of = |case: &'a CaseRecord| Some(of_metric(shown, case, case.metrics.get(name)?));
    let mut all = cases.into_iter().filter_map(of);
    let first = all.next().unwrap_or_default();
    let is_same = |one: &Mark, other: &Mark| one.name() == other.name();
    all.fold(first, |kept, other| {
        kept.into_iter().filter(|line| other.iter().any(|own| is_same(line, own))).collect()
    })
}
