//! The cases of a benchmark: a row per case, a column per metric, and after the headline its limit.

use std::borrow::Cow;
use std::collections::HashMap;

use seatrial_analysis::is_of_factors;
use seatrial_model::record::{CaseRecord, Document, MetricRecord};
use seatrial_model::{Outcome, Verdict, node_names};

use super::table::{Builder, Cell, Column, Table};
use crate::labels::{self, Label};
use crate::number::{decimals, plus_minus, whole_percent};
use crate::words::{Badge, count, tone, unit};

/// Limits of one metric that are listed below a table; with more there is one per case.
const MOST_LIMITS: usize = 6;

/// The heaviest verdict on every judged case, by its id.
pub type Verdicts<'a> = HashMap<&'a str, Verdict>;

pub fn verdicts(document: &Document) -> Verdicts<'_> {
    let mut heaviest: Verdicts<'_> = HashMap::new();
    for record in &document.verdicts {
        let Some(case) = record.case.as_deref() else { continue };
        let known = heaviest.entry(case).or_insert(record.verdict);
        *known = record.verdict.max(*known);
    }
    heaviest
}

pub fn by_id(document: &Document) -> HashMap<&str, &CaseRecord> {
    document.results.iter().map(|record| (record.case.as_str(), record)).collect()
}

/// The cases without those of a study of factors, which have their own table, and those that load another test.
pub fn without_added(results: &[CaseRecord]) -> Cow<'_, [CaseRecord]> {
    let is_other = |case: &CaseRecord| is_of_factors(case) || case.origin.is_load();
    if results.iter().any(is_other) {
        results.iter().filter(|case| !is_other(case)).cloned().collect()
    } else {
        // Avoids copies: fleets have many cases.
        results.into()
    }
}

/// Cases of one benchmark with the same metrics, in the order of the first of each. Cases without numbers join the
/// first group of their benchmark.
pub fn groups<'a>(results: &[&'a CaseRecord]) -> Vec<(&'a str, Vec<&'a CaseRecord>)> {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    let (measured, others): (Vec<usize>, Vec<usize>) =
        (0..results.len()).partition(|at| !results[*at].metrics.is_empty());
    for at in measured.into_iter().chain(others) {
        let case = results[at];
        let fits = |(bench, cases): &&mut (&str, Vec<usize>)| {
            let is_same = || results[cases[0]].metrics.keys().eq(case.metrics.keys());
            *bench == case.bench && (case.metrics.is_empty() || is_same())
        };
        match groups.iter_mut().find(fits) {
            Some((_, cases)) => cases.push(at),
            None => groups.push((&case.bench, vec![at])),
        }
    }
    let in_order = |(bench, mut places): (_, Vec<usize>)| {
        places.sort_unstable();
        (bench, places.into_iter().map(|at| results[at]).collect())
    };
    groups.into_iter().map(in_order).collect()
}

/// The headline of the first of `cases` that has numbers.
pub fn headline<'a>(cases: &[&'a CaseRecord]) -> Option<&'a str> {
    cases.iter().find_map(|case| case.headline()).map(|(name, _)| name)
}

/// The metrics of `cases` in the order of their columns: the headline first.
pub fn metrics<'a>(cases: &[&'a CaseRecord]) -> Vec<&'a str> {
    let mut names: Vec<&str> = headline(cases).into_iter().collect();
    for name in cases.iter().flat_map(|case| case.metrics.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// The metric whose limit is shown: the first that has one.
fn limited<'a>(cases: &[&'a CaseRecord]) -> Option<&'a str> {
    let has_limit = |name: &&str| metrics_called(cases, name).any(|metric| metric.limit.value.is_some());
    metrics(cases).into_iter().find(has_limit)
}

fn metrics_called<'a>(cases: &[&'a CaseRecord], name: &str) -> impl Iterator<Item = &'a MetricRecord> {
    cases.iter().filter_map(move |case| case.metrics.get(name))
}

pub fn table(cases: &[&CaseRecord], verdicts: &Verdicts<'_>) -> Table {
    let all: Vec<Label> = cases.iter().map(|case| Label::of_case(case)).collect();
    let labels = Builder::new(title(cases), cases).labels(&all);
    let labels = if cases.len() > 1 {
        labels
    } else {
        labels.column(Column::words("subject").label().detail(), |case| Cell::from(case.subject.as_str()))
    };
    let verdict = |case: &CaseRecord| verdicts.get(case.case.as_str()).copied();
    let head = if cases.iter().any(|case| verdict(case).is_some()) { "verdict" } else { "outcome" };
    let mut table = labels.words(head, |case| ended(case, verdict(case)));
    let limited = limited(cases);
    for (at, name) in metrics(cases).into_iter().enumerate() {
        let metric = |case: &&CaseRecord| case.metrics.get(name).cloned();
        let column = Column::quantities(name, metrics_called(cases, name).map(|metric| metric.unit).next());
        let digits = decimals(metrics_called(cases, name).map(|metric| metric.median));
        let median = |metric: MetricRecord| {
            Cell::number(Some(metric.median), digits).remark(plus_minus(metric.median, metric.ci95))
        };
        // The outcome of the case stays beside the headline.
        let column = if at == 0 { column.joined() } else { column };
        table = table.column(column, |case| metric(case).map(median).unwrap_or_default());
        if Some(name) == limited {
            // If the limit is not that of the headline, the head names its metric.
            let head = if at == 0 { "limit".to_owned() } else { format!("limit of {name}") };
            let limit = |case: &&CaseRecord| metric(case)?.limit.value;
            let digits = decimals(cases.iter().filter_map(limit));
            let share = |case: &&CaseRecord| Some(whole_percent(metric(case)?.percent_of_limit()?));
            let nominal = |case: &&CaseRecord| metric(case)?.limit.nominal;
            let of_nominal = |case: &&CaseRecord| Some(whole_percent(metric(case)?.percent_of_nominal()?));
            table = table
                .column(Column::numbers(head).joined(), |case| Cell::number(limit(case), digits))
                .column(Column::numbers("of it").joined(), share)
                .column(Column::numbers("nominal").detail(), |case| Cell::number(nominal(case), digits))
                .column(Column::numbers("of nominal").detail(), of_nominal);
        }
        if at == 0 {
            let samples = |case: &&CaseRecord| metric(case).map(|metric| metric.n.to_string());
            table = table.column(Column::numbers("n").detail(), samples);
        }
    }
    let table = table.about(|case, row| {
        row.nodes.clone_from(&case.nodes);
        row.tone = verdict(case).or(Some(tone(case.outcome)));
        if let Some(first) = row.cells.first_mut() {
            first.case = Some(case.case.to_string());
        }
    });
    Table { forms: "CSV and JSON forms", pieces: usize::MAX, ..table.finish() }
}

/// Every metric of `case` with its spread, one row each.
pub fn in_full(case: &CaseRecord) -> Table {
    let metrics: Vec<(&String, &MetricRecord)> = case.metrics.iter().collect();
    let number = |metric: &MetricRecord, value: Option<f64>| {
        let all = [Some(metric.median), Some(metric.min), Some(metric.max), metric.limit.value, metric.p99];
        Cell::number(value, decimals(all.into_iter().flatten()))
    };
    let title = "Every metric: median, half the width of its 95 % interval, spread";
    Builder::new(title, &metrics)
        .words("metric", |(name, _)| name.as_str())
        .words("in", |(_, metric)| unit(metric.unit).trim().to_owned())
        .numbers("median", |(_, metric)| number(metric, Some(metric.median)))
        .numbers("95 %", |(_, metric)| plus_minus(metric.median, metric.ci95))
        .numbers("limit", |(_, metric)| number(metric, metric.limit.value))
        .numbers("of it", |(_, metric)| metric.percent_of_limit().map(whole_percent))
        .numbers("nominal", |(_, metric)| number(metric, metric.limit.nominal))
        .numbers("of nominal", |(_, metric)| metric.percent_of_nominal().map(whole_percent))
        .numbers("n", |(_, metric)| metric.n.to_string())
        .numbers("trials", |(_, metric)| metric.trials.to_string())
        .numbers("smallest", |(_, metric)| number(metric, Some(metric.min)))
        .numbers("largest", |(_, metric)| number(metric, Some(metric.max)))
        .numbers("MAD", |(_, metric)| number(metric, Some(metric.mad)))
        .numbers("p99", |(_, metric)| number(metric, metric.p99))
        .words("remark", |(_, metric)| if metric.converged { "" } else { "did not converge" })
        .finish()
}

fn title(cases: &[&CaseRecord]) -> String {
    let shared = |text: fn(&CaseRecord) -> String| {
        let first = text(cases[0]);
        cases.iter().all(|case| text(case) == first).then_some(first)
    };
    let subject = shared(|case| case.subject.to_string());
    let nodes = shared(|case| node_names(&case.nodes));
    let place = match (subject, nodes) {
        (Some(subject), Some(nodes)) => Some(format!("{subject} of {nodes}")),
        (subject, nodes) => subject.or(nodes),
    };
    let named = labels::shared_params(cases);
    let parts = [Some(cases[0].bench.clone()), place, (!named.is_empty()).then_some(named)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The verdict on a case, or its outcome and the reason if it was not measured.
fn ended(case: &CaseRecord, verdict: Option<Verdict>) -> Cell {
    match (case.outcome, &case.retry_of) {
        (Outcome::Measured, Some(lost)) => Cell {
            text: "again".to_owned(),
            ..Cell::from(verdict.map(Badge::from))
                .notes([format!("measured in place of {lost}, in which the partner failed")])
        },
        (Outcome::Measured, None) => verdict.map(Badge::from).into(),
        (outcome, _) => Cell::from(Badge::from(outcome)).notes(case.reason.clone()),
    }
}

/// How the shown limit was derived, or why there is none.
pub fn limits(cases: &[&CaseRecord]) -> Vec<String> {
    let Some(name) = limited(cases).or_else(|| headline(cases)) else { return Vec::new() };
    let mut notes: Vec<String> =
        metrics_called(cases, name).filter_map(|metric| limit(name, metric)).collect();
    notes.sort();
    notes.dedup();
    let more = notes.len().saturating_sub(MOST_LIMITS);
    notes.truncate(MOST_LIMITS);
    if more > 0 {
        notes.push(format!("… and {} of {name}; each case has its own", count(more, "other limit")));
    }
    notes
}

fn limit(name: &str, metric: &MetricRecord) -> Option<String> {
    match (&metric.limit.formula, &metric.limit.reason) {
        (Some(formula), _) => {
            let provenance = metric.limit.provenance.as_deref().unwrap_or("of unknown source");
            Some(format!("limit of {name}: {formula} ({provenance})"))
        }
        (None, Some(reason)) => Some(format!("no limit of {name}: {reason}")),
        (None, None) => None,
    }
}
