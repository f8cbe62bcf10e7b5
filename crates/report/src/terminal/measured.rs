//! The numbers: one table a benchmark, a row a case, a column a metric, beside its limit.

use std::collections::BTreeMap;

use seatrial_model::record::{CaseRecord, Document, MetricRecord};
use seatrial_model::{CaseId, Outcome, Unit, Verdict};

use super::nodes::is_fleet;
use super::{fleet, series};
use crate::grid::{self, Column};
use crate::ink::Ink;
use crate::labels::{self, Label};
use crate::notes::Notes;
use crate::number::{self, decimals, whole_share};
use crate::words;

/// Of more cases only the first piece of a table is shown.
const MOST_CASES: usize = 24;

/// One block a table: title, numbers, notes, series.
pub fn blocks(document: &Document, notes: &mut Notes, width: u16) -> Vec<String> {
    let verdicts = verdict_by_case(document);
    tables(&document.results)
        .into_iter()
        .map(|(bench, cases)| {
            if cases.len() > MOST_CASES && is_fleet(document) {
                note_limits(&cases, notes);
                return fleet::text(bench, &cases, width) + &notes.flush(width);
            }
            let unit = common_unit(&cases);
            let mut text = format!("{}\n", Ink::Strong.on(&title(bench, unit, &cases)));
            let pieces = fitting(&cases, &verdicts, notes, width);
            let shown = if cases.len() > MOST_CASES { 1 } else { pieces.len() };
            for piece in &pieces[..shown] {
                text += &grid::fitted(piece, width);
            }
            if shown < pieces.len() {
                text += " more metrics in a wider terminal, and in the CSV and JSON forms\n";
            }
            note_limits(&cases, notes);
            text + &notes.flush(width) + &series::text(&cases, width)
        })
        .collect()
}

/// Cases of one benchmark that report the same metrics, in the order of the first of each. Cases without numbers go
/// with the first table of their benchmark.
pub(crate) fn tables(results: &[CaseRecord]) -> Vec<(&str, Vec<&CaseRecord>)> {
    let mut tables: Vec<(&str, Vec<&String>, Vec<usize>)> = Vec::new();
    let (measured, others): (Vec<_>, Vec<_>) =
        results.iter().enumerate().partition(|(_, case)| !case.metrics.is_empty());
    for (at, case) in measured.into_iter().chain(others) {
        let fits = |(bench, metrics, _): &&mut (&str, Vec<&String>, Vec<usize>)| {
            *bench == case.bench
                && (case.metrics.is_empty() || metrics.iter().copied().eq(case.metrics.keys()))
        };
        match tables.iter_mut().find(fits) {
            Some((_, _, cases)) => cases.push(at),
            None => tables.push((&case.bench, case.metrics.keys().collect(), vec![at])),
        }
    }
    let in_order = |(bench, _, mut places): (_, Vec<&String>, Vec<usize>)| {
        places.sort_unstable();
        (bench, places.into_iter().map(|at| &results[at]).collect())
    };
    tables.into_iter().map(in_order).collect()
}

/// The unit of every metric, when it is one.
fn common_unit(cases: &[&CaseRecord]) -> Option<Unit> {
    let mut units = cases.iter().flat_map(|case| case.metrics.values()).map(|metric| metric.unit);
    let first = units.next()?;
    units.all(|unit| unit == first).then_some(first)
}

/// The benchmark, and what all of its cases share.
fn title(bench: &str, unit: Option<Unit>, cases: &[&CaseRecord]) -> String {
    let shared = |text: fn(&CaseRecord) -> String| {
        let first = text(cases[0]);
        cases.iter().all(|case| text(case) == first).then_some(first)
    };
    let subject = shared(|case| case.subject.to_string());
    let nodes = shared(|case| case.nodes.join("+"));
    let place = match (subject, nodes) {
        (Some(subject), Some(nodes)) => Some(format!("{subject} of {nodes}")),
        (subject, nodes) => subject.or(nodes),
    };
    let named = labels::shared_params(cases);
    let unit = unit.filter(|unit| *unit != Unit::Count).map(|unit| format!("in {unit}"));
    let parts = [Some(bench.to_owned()), place, (!named.is_empty()).then_some(named), unit];
    words::clean(&parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
}

fn verdict_by_case(document: &Document) -> BTreeMap<&str, Verdict> {
    let mut verdicts = BTreeMap::new();
    for record in &document.verdicts {
        let Some(case) = record.case.as_deref() else { continue };
        let heaviest = verdicts.entry(case).or_insert(record.verdict);
        *heaviest = record.verdict.max(*heaviest);
    }
    verdicts
}

/// The table in one piece, or where the width does not allow it with further metrics in further pieces, whose rows
/// carry the same labels. The first piece holds the first metric, its limit, and how each case came out.
fn fitting(
    cases: &[&CaseRecord],
    verdicts: &BTreeMap<&str, Verdict>,
    notes: &mut Notes,
    width: u16,
) -> Vec<Vec<Column>> {
    let all_labels: Vec<Label> = cases.iter().map(|case| Label::of_case(case)).collect();
    let labels = labels::columns(&all_labels);
    let mut ends = end_columns(cases, verdicts, notes);
    let mut pieces = Vec::new();
    let mut piece = labels.clone();
    for group in number_columns(cases) {
        let whole: Vec<Column> = piece.iter().chain(&group).chain(&ends).cloned().collect();
        if grid::width(&whole) > width && piece.len() > labels.len() {
            piece.append(&mut ends);
            pieces.push(std::mem::replace(&mut piece, labels.clone()));
        }
        piece.extend(group);
    }
    piece.append(&mut ends);
    pieces.push(piece);
    pieces
}

/// The metrics of `cases` in the order of their columns: what cases are compared by first.
fn in_order<'a>(cases: &[&'a CaseRecord]) -> Vec<&'a str> {
    let Some(case) = cases.iter().find(|case| !case.metrics.is_empty()) else { return Vec::new() };
    let mut names: Vec<&str> = case.metrics.keys().map(String::as_str).collect();
    let first = case.headline().map(|(name, _)| name);
    names.sort_by_key(|name| Some(*name) != first);
    names
}

/// The metric whose limit is shown: the first that has one.
fn limited<'a>(cases: &[&'a CaseRecord]) -> Option<&'a str> {
    let has_limit = |name: &&str| {
        let metrics = cases.iter().filter_map(|case| case.metrics.get(*name));
        metrics.into_iter().any(|metric| metric.limit.value.is_some())
    };
    in_order(cases).into_iter().find(has_limit)
}

/// Columns that must stay together: a metric, and behind the first one that has a limit, the limit.
fn number_columns(cases: &[&CaseRecord]) -> Vec<Vec<Column>> {
    let names = in_order(cases);
    let limited = limited(cases);
    let mut groups = Vec::new();
    let units_differ = common_unit(cases).is_none();
    for (at, name) in names.into_iter().enumerate() {
        let metrics: Vec<Option<&MetricRecord>> = cases.iter().map(|case| case.metrics.get(name)).collect();
        let unit =
            if units_differ { metrics.iter().flatten().map(|metric| metric.unit).next() } else { None };
        let mut group = vec![metric_column(name, &metrics, unit)];
        if Some(name) == limited {
            // Where it is not that of the metric that everybody reads first, its head says of which.
            group.extend(limit_columns(&metrics, if at == 0 { "" } else { name }));
        }
        groups.push(group);
    }
    groups
}

/// Median and half-width, both lined up, since they stand in one column.
fn metric_column(name: &str, metrics: &[Option<&MetricRecord>], unit: Option<Unit>) -> Column {
    let decimals = decimals(metrics.iter().flatten().map(|metric| metric.median));
    let spread = |metric: &MetricRecord| number::spread(metric.median, metric.ci95);
    let longest = metrics.iter().flatten().map(|metric| spread(metric).chars().count()).max().unwrap_or(0);
    let cell = |metric: &Option<&MetricRecord>| match metric {
        Some(metric) => format!("{:.decimals$} {:>longest$}", metric.median, spread(metric)),
        None => String::new(),
    };
    let unit = unit.filter(|unit| *unit != Unit::Count).map(|unit| format!("\n{unit}")).unwrap_or_default();
    Column::numbers(words::clean(name) + &unit, metrics.iter().map(cell).collect())
}

fn limit_columns(metrics: &[Option<&MetricRecord>], of: &str) -> [Column; 2] {
    let values = || metrics.iter().map(|metric| metric.and_then(|metric| metric.limit.value));
    let decimals = decimals(values().flatten());
    let limits = values().map(|limit| limit.map_or(String::new(), |limit| format!("{limit:.decimals$}")));
    let shares = metrics.iter().map(|metric| metric.and_then(MetricRecord::percent_of_limit));
    let shares = shares.map(|share| share.map_or(String::new(), whole_share));
    let head = if of.is_empty() { "limit".to_owned() } else { format!("limit of\n{}", words::clean(of)) };
    [Column::numbers(head, limits.collect()), Column::numbers("of it", shares.collect())]
}

/// How the case ended where it was not measured, and how it was judged.
fn end_columns(cases: &[&CaseRecord], verdicts: &BTreeMap<&str, Verdict>, notes: &mut Notes) -> Vec<Column> {
    let mut outcome = |case: &&CaseRecord| {
        if case.outcome == Outcome::Measured {
            let again = |lost: &CaseId| {
                let note = notes.refer(&format!("stands in for {lost}, which lost its partner"));
                format!("again {note}")
            };
            return case.retry_of.as_ref().map_or(String::new(), again);
        }
        let note = case.reason.as_deref().map(|reason| format!(" {}", notes.refer(reason)));
        words::outcome(case.outcome) + &note.unwrap_or_default()
    };
    let outcomes = Column::words("outcome", cases.iter().map(&mut outcome).collect());
    let judged =
        |case: &&CaseRecord| verdicts.get(case.case.as_str()).copied().map_or(String::new(), words::verdict);
    let judged = Column::words("verdict", cases.iter().map(judged).collect());
    [outcomes, judged].into_iter().filter(|column| !column.is_empty()).collect()
}

/// How the limit that is shown was derived, or why there is none, unless a verdict said so already.
fn note_limits(cases: &[&CaseRecord], notes: &mut Notes) {
    let Some(name) = limited(cases).or_else(|| in_order(cases).first().copied()) else { return };
    for metric in cases.iter().filter_map(|case| case.metrics.get(name)) {
        let limit = &metric.limit;
        match (&limit.formula, &limit.reason) {
            (Some(formula), _) => {
                let provenance = limit.provenance.as_deref().unwrap_or("of unknown source");
                notes.remark(&format!("limit of {name}: {formula} ({provenance})"));
            }
            (None, Some(reason)) if !notes.tell(reason) => {
                notes.remark(&format!("no limit of {name}: {reason}"));
            }
            (None, _) => {}
        }
    }
}
