//! The bisections among records: the whole, the groups measured so far, and what the search makes of them.

use std::collections::BTreeSet;

use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Better, Outcome};
use seatrial_stats::student_quantile;

use super::matrix::{allowed, shortfall};
use super::speeds::{FEWEST_PARTNERS, speeds};
use crate::bisect::{Group, GroupResult, Next, Search};

/// More suspects than this point to something that they share.
const MOST_SUSPECTS: usize = 3;

/// The axis of a series with one value a node.
const NODE_AXIS: &str = "node";

/// A case over all nodes, and the groups that a study compares to find what holds the case back.
#[derive(Clone, Debug)]
pub struct Bisection<'a> {
    pub whole: &'a CaseRecord,
    /// The nodes that positions in groups stand for: those of the whole that were not lost.
    pub nodes: Vec<&'a str>,
    pub next: Next,
    /// The measured cases with their groups, in the order of the steps.
    pub(super) cases: Vec<(&'a CaseRecord, Group)>,
    pub(super) metric: &'a str,
}

/// One for each case over all nodes whose groups are to be compared.
pub fn bisections(records: &[CaseRecord]) -> Vec<Bisection<'_>> {
    let is_whole = |case: &&CaseRecord| case.origin.isolates_by.is_some() && !case.origin.is_group();
    let mut found: Vec<Bisection> = Vec::new();
    for whole in records.iter().filter(is_whole) {
        // Of several devices of the same nodes, groups are measured over the first.
        if !found.iter().any(|earlier| is_same(earlier.whole, whole)) {
            found.extend(Bisection::of(whole, records));
        }
    }
    found
}

fn is_same(one: &CaseRecord, other: &CaseRecord) -> bool {
    (&one.group, &one.bench, &one.params) == (&other.group, &other.bench, &other.params)
}

impl<'a> Bisection<'a> {
    fn of(whole: &'a CaseRecord, records: &'a [CaseRecord]) -> Option<Self> {
        let metric = whole.origin.isolates_by.as_deref()?;
        let lost: BTreeSet<&str> = records.iter().flat_map(|case| &case.lost).map(String::as_str).collect();
        let nodes: Vec<&str> =
            whole.nodes.iter().map(String::as_str).filter(|node| !lost.contains(node)).collect();
        let place = |name: &String| nodes.iter().position(|node| node == name);
        let groups = records.iter().filter(|case| case.origin.is_group() && is_same(whole, case));
        let mut own: Vec<(&CaseRecord, Group)> = std::iter::once(whole)
            .chain(groups)
            .filter(|case| case.lost.is_empty())
            .map(|case| {
                let mut group: Group = case.nodes.iter().filter_map(place).collect();
                group.sort_unstable();
                (case, group)
            })
            .collect();
        own.sort_by(|(one, group), (other, other_group)| {
            (one.origin.step, group).cmp(&(other.origin.step, other_group))
        });
        let (mut results, mut without_value, mut cases) = (Vec::new(), Vec::new(), Vec::new());
        for (case, group) in own {
            match result(case, metric, &group) {
                Some(result) => {
                    results.push(result);
                    cases.push((case, group));
                }
                None => without_value.push(group),
            }
        }
        let mut suspects: Vec<usize> = suspects(whole, records).iter().filter_map(place).collect();
        if suspects.len() > MOST_SUSPECTS {
            suspects.clear();
        }
        let search = Search {
            nodes: nodes.len(),
            suspects: &suspects,
            results: &results,
            without_value: &without_value,
        };
        let next = search.next();
        Some(Self { whole, nodes, next, cases, metric })
    }

    /// The steps to measure next, by the names of nodes; empty when the search is over.
    pub fn steps(&self) -> Vec<Vec<Vec<String>>> {
        let Next::Measure(steps) = &self.next else { return Vec::new() };
        let names = |group: &Group| group.iter().map(|at| self.nodes[*at].to_owned()).collect();
        steps.iter().map(|groups| groups.iter().map(names).collect()).collect()
    }
}

/// The logarithm of a value of which more is better.
pub(super) fn log(value: f64, better: Better) -> f64 {
    if better == Better::Lower { -value.ln() } else { value.ln() }
}

fn result(case: &CaseRecord, metric: &str, group: &Group) -> Option<GroupResult> {
    let metric = case.metrics.get(metric).filter(|_| case.outcome == Outcome::Measured)?;
    let log_rate = log(metric.median, metric.better);
    log_rate.is_finite().then(|| GroupResult { nodes: group.clone(), log_rate, error: error(metric) })
}

/// The standard error that the interval of `metric` states, as a share of the median.
fn error(metric: &MetricRecord) -> f64 {
    let Some((low, high)) = metric.ci95 else { return 0.0 };
    // The interval of one trial comes from its samples, see [`seatrial_stats::median_interval`].
    let values = if metric.trials == 1 { metric.n } else { metric.trials };
    let freedom = values.saturating_sub(1).max(1) as f64;
    let error = (high - low) / 2.0 / student_quantile(0.975, freedom) / metric.median;
    if error.is_finite() { error } else { 0.0 }
}

/// The nodes that other measurements name: values of single nodes in the case of the whole, the same benchmark on each
/// node by itself, and pairs.
fn suspects(whole: &CaseRecord, records: &[CaseRecord]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for series in whole.series.values().filter(|series| series.better != Better::None) {
        if let [axis] = series.axes.as_slice()
            && axis.name == NODE_AXIS
        {
            let value = |at: &seatrial_model::Params| at.get(NODE_AXIS).map(ToString::to_string);
            let values = series.rows.iter().filter_map(|row| Some((value(&row.at)?, row.summary.median)));
            found.extend(behind(&values.collect::<Vec<_>>(), series.better));
        }
    }
    let single = records
        .iter()
        .filter(|case| case.nodes.len() == 1 && (&case.bench, &case.params) == (&whole.bench, &whole.params));
    let mut better = Better::None;
    let values: Vec<(String, f64)> = single
        .filter_map(|case| {
            let (_, metric) = case.headline()?;
            better = metric.better;
            Some((case.nodes[0].clone(), metric.median))
        })
        .collect();
    found.extend(behind(&values, better));
    for matrix in speeds(records) {
        found.extend(
            matrix.slow_nodes(FEWEST_PARTNERS).iter().map(|slow| matrix.nodes[slow.nodes[0]].clone()),
        );
    }
    found
}

/// The nodes whose value is worse than the median by more than is sound.
fn behind(values: &[(String, f64)], better: Better) -> Vec<String> {
    let numbers: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    let Some((centre, allowed)) = allowed(&numbers) else { return Vec::new() };
    let is_behind = |value: f64| better != Better::None && shortfall(better, value, centre) > allowed;
    values.iter().filter(|(_, value)| is_behind(*value)).map(|(node, _)| node.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::{metric as fixture, no_limit};

    #[test]
    fn the_error_is_that_of_the_values_which_the_interval_comes_from() {
        let of = |trials, n| {
            let mut metric = fixture(100.0, (98.0, 102.0), no_limit());
            (metric.trials, metric.n) = (trials, n);
            error(&metric)
        };
        // Student's t for 97.5 % with 2 and with 199 degrees of freedom, from tables.
        assert!((of(3, 600) - 0.02 / 4.3027).abs() < 1e-6, "{}", of(3, 600));
        assert!((of(1, 200) - 0.02 / 1.9720).abs() < 1e-6, "{}", of(1, 200));
        assert!(of(1, 1).is_finite());
    }
}
