//! Where a metric loses what it lacks of its limit: a line for each bound and cause, and the largest loss in a sentence.

use seatrial_analysis::{Fall, FallKind, Waterfall, holds_of};
use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Better, Hold};

use super::table::{Builder, Cell, Table};
use crate::number::{decimals, whole_percent};
use crate::words::quantity;

/// The largest loss.
pub fn largest(found: &Waterfall, metric: &MetricRecord) -> String {
    let Some((before, after)) = found.largest(metric.better) else {
        return "What was measured reaches the limit.".to_owned();
    };
    let lost = metric.better.loss(before.value, after.value);
    let share = match before.value {
        0.0 => String::new(),
        value => format!(" ({})", whole_percent(100.0 * lost / value.abs())),
    };
    let word = if metric.better == Better::Lower { "addition" } else { "loss" };
    let at = match (before.kind, after.kind) {
        (_, FallKind::Held) => format!(": {}", after.name),
        (FallKind::Held, FallKind::Measured) => ": no counter explains it".to_owned(),
        (_, FallKind::Measured) => format!(", between {} and what was measured", before.name),
        _ => format!(", between {} and {}", before.name, after.name),
    };
    format!("The largest {word} is {}{share}{at}.", quantity(lost, metric.unit))
}

/// The change from the value `before`, with its sign; `None` for the first.
pub fn step(before: Option<f64>, value: f64) -> Option<String> {
    let before = before.filter(|before| *before != 0.0)?;
    let change = 100.0 * (value - before) / before.abs();
    let sign = if change >= 0.0 { "+" } else { "−" };
    Some(format!("{sign}{}", whole_percent(change.abs())))
}

/// The waterfall of the case's headline where it says more than the limit; without a limit, what held the rate back.
pub fn table(case: &CaseRecord) -> Option<Table> {
    let (name, metric) = case.headline()?;
    let Some(found) = Waterfall::of(case, name, metric) else { return held_back(case) };
    if found.falls.len() <= 2 {
        return None;
    }
    let title = format!("{} · where {name} is lost · {}", case.subject, metric.unit);
    let decimals = decimals(found.falls.iter().map(|fall| fall.value));
    let rows: Vec<(Option<f64>, &Fall)> =
        found.falls.iter().enumerate().map(|(at, fall)| (before(&found, at), fall)).collect();
    let table = Builder::new(title, &rows)
        .words("by", |(_, fall)| fall.name.as_str())
        .numbers("left", |(_, fall)| Cell::number(Some(fall.value), decimals))
        .numbers("step", |(before, fall)| step(*before, fall.value))
        .words("derived from", |(_, fall)| fall.formula.as_str())
        .finish();
    Some(Table { remarks: vec![largest(&found, metric)], ..table })
}

/// The value above the one at `at`.
pub fn before(found: &Waterfall, at: usize) -> Option<f64> {
    at.checked_sub(1).map(|at| found.falls[at].value)
}

fn held_back(case: &CaseRecord) -> Option<Table> {
    // Without a limit nobody knows what the data need of the time.
    let holds: Vec<Hold> = holds_of(case).into_iter().filter(|hold| hold.share > 0.0).collect();
    let (name, _) = case.headline()?;
    let table = Builder::new(format!("{} · what held {name} back", case.subject), &holds)
        .words("by", |hold| hold.what.as_str())
        .numbers("of the time", |hold| whole_percent(100.0 * hold.share))
        .words("derived from", |hold| hold.source.as_str())
        .finish();
    (!holds.is_empty()).then_some(table)
}
