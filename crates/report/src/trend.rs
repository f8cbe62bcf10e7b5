//! The history of a benchmark's numbers over runs, as text and as JSON.

use seatrial_analysis::{FEWEST_RUNS, Point, Trend, TrendStep};
use seatrial_model::Verdict;
use serde_json::{Value, json};

use crate::TextStyle;
use crate::grid;
use crate::ink::{Ink, render_colors};
use crate::labels::Label;
use crate::notes::Notes;
use crate::number::{change, decimals};
use crate::terminal::table as text_table;
use crate::view::table::{Builder, Cell, Column, Table};
use crate::words::{Badge, count, direction, in_unit, unit};

/// Runs in a sparkline; of more the last ones.
const MOST_SIGNS: usize = 24;

/// Rows without a change; more are counted.
const MOST_QUIET: usize = 20;

/// A sparkline spans at least this share of its middle, so that the noise of a steady number does not fill it.
const LEAST_SPAN: f64 = 0.05;

const SIGNS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The trends as text for a terminal: a table per metric, changes first.
pub fn render(trends: &[Trend], style: TextStyle) -> String {
    let mut notes = Notes::default();
    let width = style.width();
    let mut blocks: Vec<String> = Vec::new();
    for rows in tables(trends) {
        let (changed, quiet): (Vec<&Trend>, Vec<&Trend>) =
            rows.iter().partition(|trend| !trend.steps.is_empty());
        let left_out = quiet.len().saturating_sub(MOST_QUIET);
        let shown: Vec<&Trend> = changed.into_iter().chain(quiet.into_iter().take(MOST_QUIET)).collect();
        let mut table = table(&shown);
        if left_out > 0 {
            table.remarks.push(format!("and {left_out} more without a change"));
        }
        blocks.push(text_table::block(table, usize::MAX, &mut notes, width));
    }
    if trends.iter().any(|trend| trend.points.len() < FEWEST_RUNS) {
        let text = format!("a change shows in a series of {FEWEST_RUNS} runs or more");
        blocks.push(grid::paragraphs(&[(Ink::Faint.on("·"), text)], width));
    }
    blocks.retain(|block| !block.is_empty());
    render_colors(&blocks.join("\n"), style.style)
}

/// One table per benchmark, version, metric and unit, in the order of the first of each.
fn tables(trends: &[Trend]) -> Vec<Vec<&Trend>> {
    let mut tables: Vec<Vec<&Trend>> = Vec::new();
    for trend in trends {
        let is_of = |rows: &&mut Vec<&Trend>| {
            let first = rows[0];
            first.bench == trend.bench
                && first.version == trend.version
                && first.metric == trend.metric
                && first.unit == trend.unit
        };
        match tables.iter_mut().find(is_of) {
            Some(rows) => rows.push(trend),
            None => tables.push(vec![trend]),
        }
    }
    tables
}

fn title(trend: &Trend) -> String {
    let version = if trend.version == 1 { String::new() } else { format!(" (version {})", trend.version) };
    let metric = format!("{}{}{}", trend.metric, in_unit(trend.unit), direction(trend.better));
    format!("{}{version} · {metric}", trend.bench)
}

fn table(rows: &[&Trend]) -> Table {
    let labels: Vec<Label> =
        rows.iter().map(|trend| Label::new(&trend.nodes, &trend.subject, &trend.params)).collect();
    let shown = |trend: &Trend| trend.points[trend.points.len().saturating_sub(MOST_SIGNS)..].to_vec();
    let decimals = 1 + decimals(rows.iter().flat_map(|trend| shown(trend)).map(|point| point.median));
    let number = |point: Option<&Point>| Cell::number(point.map(|point| point.median), decimals);
    Builder::new(rows.first().map_or(String::new(), |trend| title(trend)), rows)
        .labels(&labels)
        .numbers("runs", |trend| trend.points.len().to_string())
        .numbers("from", |trend| number(shown(trend).first()))
        .column(Column::words("trend").unbroken(), |trend| sparkline(&shown(trend)))
        .numbers("to", |trend| number(trend.points.last()))
        .column(Column::words("changed").unbroken(), |trend| changed(trend))
        .finish()
}

/// One sign per run, its height between the smallest and the largest number.
fn sparkline(points: &[Point]) -> String {
    let values = points.iter().map(|point| point.median);
    let (low, high) = values
        .clone()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let middle = low.midpoint(high);
    let half = (high - low).max(LEAST_SPAN * middle.abs()) / 2.0;
    let sign = |value: f64| {
        let place = if half > 0.0 { (value - (middle - half)) / (2.0 * half) } else { 0.5 };
        let steps = SIGNS.len() as f64;
        SIGNS[(place * steps).floor().clamp(0.0, steps - 1.0) as usize]
    };
    values.map(sign).collect()
}

/// The last change, with a note about all.
fn changed(trend: &Trend) -> Cell {
    let Some(last) = trend.steps.last() else { return Cell::default() };
    let sign = if last.levels.1 > last.levels.0 { '▲' } else { '▼' };
    let (word, tone) = match last.is_better {
        Some(true) => ("better", Verdict::Pass),
        Some(false) => ("worse", Verdict::Fail),
        None => ("", Verdict::Unknown),
    };
    let told: Vec<String> = trend.steps.iter().rev().map(|step| in_words(step, trend)).collect();
    let badge = Badge { sign, word, tone };
    Cell { badge: Some(badge), ..Cell::from(last.percent.map(change)) }.notes([told.join("; ")])
}

fn in_words(step: &TrendStep, trend: &Trend) -> String {
    let unit = unit(trend.unit);
    let decimals = 1 + decimals([step.levels.0, step.levels.1]);
    let size = match (step.percent, step.interval) {
        (Some(percent), Some((low, high))) => {
            format!(", {} (95 % interval {} … {})", change(percent), change(low), change(high))
        }
        _ => String::new(),
    };
    format!(
        "since run {}: from {:.decimals$} to {:.decimals$}{unit}{size}; {} before, {} since, p = {:.4}",
        step.run,
        step.levels.0,
        step.levels.1,
        count(step.runs.0, "run"),
        step.runs.1,
        step.p
    )
}

/// The trends as one JSON value, with units.
pub fn value(trends: &[Trend]) -> Value {
    trends.iter().map(trend).collect()
}

fn trend(trend: &Trend) -> Value {
    json!({
        "bench": trend.bench,
        "version": trend.version,
        "subject": trend.subject,
        "key": trend.key,
        "nodes": trend.nodes,
        "params": trend.params,
        "metric": trend.metric,
        "unit": trend.unit,
        "better": trend.better,
        "points": trend.points.iter().map(point).collect::<Vec<_>>(),
        "changes": trend.steps.iter().map(step).collect::<Vec<_>>(),
    })
}

fn point(point: &Point) -> Value {
    json!({ "run": point.run, "started": point.started, "median": point.median, "ci95": point.interval })
}

fn step(step: &TrendStep) -> Value {
    json!({
        "run": step.run,
        "runs_before": step.runs.0,
        "runs_since": step.runs.1,
        "before": step.levels.0,
        "since": step.levels.1,
        "percent": step.percent,
        "ci95_percent": step.interval,
        "p": step.p,
        "better": step.is_better,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(values: &[f64]) -> String {
        let point = |median: &f64| Point {
            run: String::new(),
            started: jiff::Timestamp::UNIX_EPOCH,
            median: *median,
            interval: None,
        };
        sparkline(&values.iter().map(point).collect::<Vec<_>>())
    }

    #[test]
    fn the_smallest_number_has_the_lowest_sign_and_the_largest_the_highest() {
        assert_eq!(line(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), "▁▂▃▄▅▆▇█");
        assert_eq!(line(&[200.0, 100.0]), "█▁");
    }

    #[test]
    fn a_steady_number_stays_in_the_middle() {
        assert_eq!(line(&[100.0, 100.0, 100.0]), "▅▅▅");
        assert_eq!(line(&[100.0, 100.4, 99.8]), "▄▅▄");
        assert_eq!(line(&[0.0, 0.0]), "▅▅");
    }
}
