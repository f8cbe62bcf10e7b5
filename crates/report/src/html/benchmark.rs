//! A benchmark: its cases compared, the limit drawn in; its sweeps, studies and series; the cases shown in full.

use askama::Template;
use seatrial_analysis::{AtOnce, Factors, Table as Sweep};
use seatrial_model::record::{CaseRecord, MetricRecord, SeriesRecord};
use seatrial_model::{Outcome, Unit};

use super::case::{Full, full};
use super::curve::Figure;
use super::plot::{Interval, intervals};
use super::shown::Shown;
use super::sweep::headline;
use super::table::{Cell, Head, Row, Table};
use super::words::{fixed, of_outcome, of_verdict, quantity, spread, text, unit};
use super::{factors, over_nodes, series, sweep};
use crate::labels::{self, Label};
use crate::number::{decimals, whole_share};
use crate::terminal::{columns_of_steps, tables};
use crate::words::count;

/// Cases of a table with a row a case; of more nodes have rows of their own.
const MOST_CASES: usize = 64;

/// Cases that are drawn beside each other.
const MOST_DRAWN: usize = 24;

/// A benchmark.
#[derive(Clone, Debug, Template)]
#[template(path = "benchmark.html")]
pub struct Benchmark {
    /// What links lead here by.
    pub id: String,
    /// `mem.bandwidth`.
    pub name: String,
    /// What it measures, in a few words.
    pub title: String,
    /// How many cases, and what all of them share.
    pub about: String,
    /// Figures.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
    /// How limits were derived, or why there is none.
    pub limits: Vec<String>,
    /// Cases in full.
    pub cases: Vec<Full>,
    /// Where the others are.
    pub rest: String,
}

/// What the analysis makes of all cases of the run.
struct Found {
    studies: Vec<Factors>,
    at_once: Vec<AtOnce>,
    sweeps: Vec<Sweep>,
}

/// The benchmarks of the run, in the order of their first case.
pub fn benchmarks(shown: &Shown<'_>, left: &mut usize) -> Vec<Benchmark> {
    let results = &shown.document.results;
    let found = Found {
        studies: seatrial_analysis::factors(results),
        at_once: seatrial_analysis::at_once(results),
        sweeps: seatrial_analysis::tables(results),
    };
    let mut names: Vec<&str> = Vec::new();
    for case in results {
        if !names.contains(&case.bench.as_str()) {
            names.push(&case.bench);
        }
    }
    let all = tables(results);
    let of = |(at, name): (usize, &&str)| {
        let groups: Vec<&Vec<&CaseRecord>> =
            all.iter().filter(|(bench, _)| bench == name).map(|(_, cases)| cases).collect();
        benchmark(shown, (at + 1, name), &groups, &found, left)
    };
    names.iter().enumerate().map(of).collect()
}

fn benchmark(
    shown: &Shown<'_>,
    (number, name): (usize, &str),
    groups: &[&Vec<&CaseRecord>],
    found: &Found,
    left: &mut usize,
) -> Benchmark {
    let cases: Vec<&CaseRecord> = groups.iter().flat_map(|cases| cases.iter().copied()).collect();
    let (mut figures, mut shown_tables) = (Vec::new(), Vec::new());
    for study in factors::of_bench(&found.studies, name) {
        figures.extend(study.figure);
        shown_tables.push(study.table);
    }
    for flows in found.at_once.iter().filter(|flows| flows.bench == name) {
        let caption =
            format!("{} · {}{} · flows at the same time", flows.pattern, flows.metric, unit(flows.unit));
        shown_tables.push(Table::of_columns(&caption, &columns_of_steps(flows, &flows.steps)));
    }
    let mut limits = Vec::new();
    for group in groups {
        let own: Vec<&CaseRecord> =
            group.iter().copied().filter(|case| !seatrial_analysis::is_of_factors(case)).collect();
        if own.is_empty() {
            continue;
        }
        if own.len() > MOST_CASES && shown.is_fleet() {
            shown_tables.push(over_nodes::table(shown, name, &own));
        } else {
            let sweeps = sweep::of_bench(shown, &found.sweeps, name, &own);
            let is_swept = sweeps.iter().any(|view| view.figure.is_some());
            for view in sweeps {
                figures.extend(view.figure);
                shown_tables.extend(view.table);
            }
            if !is_swept {
                figures.extend(compared(shown, &own));
            }
            figures.extend(together(&own));
            shown_tables.push(rows(shown, name, &own));
        }
        limits.extend(limit_notes(shown, &own));
    }
    limits.sort();
    limits.dedup();
    let in_full: Vec<&CaseRecord> =
        cases.iter().copied().filter(|case| !shown.place(case.case.as_str()).is_empty()).collect();
    let hidden = cases.len() - in_full.len();
    let rest = match hidden {
        0 => String::new(),
        some => {
            format!("{} stand in the tables above; the JSON form has them in full.", count(some, "more case"))
        }
    };
    let shared = labels::shared_params(&cases);
    let shared = if shared.is_empty() { shared } else { format!(" · {}", text(&shared)) };
    Benchmark {
        id: format!("bench-{number}"),
        name: text(name),
        title: shown.context.about(name).map_or(String::new(), |about| about.title.to_owned()),
        about: format!("{}{shared}", count(cases.len(), "case")),
        figures,
        tables: shown_tables,
        limits,
        cases: in_full.into_iter().map(|case| full(shown, case, left)).collect(),
        rest,
    }
}

/// What tells a case from the others, in one line.
fn names(cases: &[&CaseRecord]) -> Vec<String> {
    let all: Vec<Label> = cases.iter().map(|case| Label::of_case(case)).collect();
    let columns = labels::columns(&all);
    let name = |at: usize| {
        let cells: Vec<&str> = columns
            .iter()
            .map(|column| column.cells()[at].as_str())
            .filter(|cell| !cell.is_empty())
            .collect();
        if cells.is_empty() { cases[at].subject.to_string() } else { cells.join(" ") }
    };
    (0..cases.len()).map(|at| text(&name(at))).collect()
}

/// The headline of each case beside its limit.
fn compared(shown: &Shown<'_>, cases: &[&CaseRecord]) -> Option<Figure> {
    let name = headline(shown, cases)?;
    let with: Vec<(&CaseRecord, &MetricRecord, String)> = cases
        .iter()
        .zip(names(cases))
        .filter_map(|(case, label)| Some((*case, case.metrics.get(name)?, label)))
        .collect();
    if with.len() < 2 || with.len() > MOST_DRAWN {
        return None;
    }
    let row = |(case, metric, label): &(&CaseRecord, &MetricRecord, String)| Interval {
        name: label.clone(),
        median: metric.median,
        ci95: metric.ci95,
        ends: (metric.min, metric.max),
        limit: metric.limit.value,
        class: shown.class(case),
        tip: text(&format!(
            "{label}: {} {}, n {}{}",
            quantity(metric.median, metric.unit),
            spread(metric),
            metric.n,
            metric
                .limit
                .value
                .map(|limit| format!(", limit {}", quantity(limit, metric.unit)))
                .unwrap_or_default()
        )),
    };
    let rows: Vec<Interval> = with.iter().map(row).collect();
    let svg =
        intervals(&text(&format!("{name} of {} cases; the table below has the numbers", rows.len())), &rows)?;
    let has_limit = rows.iter().any(|row| row.limit.is_some());
    let note = "Dot: median. Bar: its 95 % interval. Line: smallest to largest sample.";
    Some(Figure {
        caption: text(name),
        unit: with[0].1.unit.to_string(),
        svg,
        legend: Vec::new(),
        note: if has_limit { format!("{note} Upright line: the limit.") } else { note.to_owned() },
    })
}

/// Series over a number that several cases have.
fn together(cases: &[&CaseRecord]) -> Vec<Figure> {
    let labels = names(cases);
    let mut series: Vec<&String> = cases.iter().flat_map(|case| case.series.keys()).collect();
    series.sort();
    series.dedup();
    let figure = |name: &&String| {
        let with: Vec<(String, &SeriesRecord)> = cases
            .iter()
            .zip(&labels)
            .filter_map(|(case, label)| Some((label.clone(), case.series.get(*name)?)))
            .collect();
        series::together(name, &with)
    };
    series.iter().filter_map(figure).collect()
}

/// A row a case.
fn rows(shown: &Shown<'_>, name: &str, cases: &[&CaseRecord]) -> Table {
    let all: Vec<Label> = cases.iter().map(|case| Label::of_case(case)).collect();
    let columns = labels::columns(&all);
    let first = headline(shown, cases);
    let mut metrics: Vec<&str> = Vec::new();
    metrics.extend(first);
    for case in cases {
        for name in case.metrics.keys() {
            if !metrics.contains(&name.as_str()) {
                metrics.push(name);
            }
        }
    }
    let of =
        |name: &str| cases.iter().map(|case| case.metrics.get(name)).collect::<Vec<Option<&MetricRecord>>>();
    let mut heads: Vec<Head> = Vec::new();
    if columns.is_empty() {
        heads.push(Head::words("subject"));
    }
    heads.extend(columns.iter().map(|column| Head::words(text(column.head()))));
    heads.push(Head::words("verdict"));
    for (at, name) in metrics.iter().enumerate() {
        let unit = of(name).into_iter().flatten().map(|metric| metric.unit).find(|unit| *unit != Unit::Count);
        let unit = unit.map(|unit| unit.to_string()).unwrap_or_default();
        heads.push(Head::numbers(text(name), unit));
        if at == 0 {
            heads.extend([Head::numbers("limit", ""), Head::numbers("of it", ""), Head::numbers("n", "")]);
        }
    }
    let digits: Vec<usize> = metrics
        .iter()
        .map(|name| decimals(of(name).into_iter().flatten().map(|metric| metric.median)))
        .collect();
    let row = |(at, case): (usize, &&CaseRecord)| {
        let to = shown.place(case.case.as_str());
        let mut cells: Vec<Cell> =
            columns.iter().map(|column| Cell::new(text(&column.cells()[at]))).collect();
        if cells.is_empty() {
            cells.push(Cell::new(text(case.subject.as_str())));
        }
        cells[0].to = to;
        let verdict = shown.verdict(case).map(of_verdict);
        cells.push(match (verdict, case.outcome) {
            (verdict, Outcome::Measured) => Cell::badge(verdict),
            (_, outcome) => Cell::badge(Some(of_outcome(outcome))),
        });
        for (at, name) in metrics.iter().enumerate() {
            let metric = case.metrics.get(*name);
            let number = |value: Option<f64>| value.map_or(String::new(), |value| fixed(value, digits[at]));
            let spread = metric.map(spread).unwrap_or_default();
            cells.push(Cell::new(number(metric.map(|metric| metric.median))).with(spread));
            if at == 0 {
                cells.push(Cell::new(number(metric.and_then(|metric| metric.limit.value))));
                let share = metric.and_then(MetricRecord::percent_of_limit);
                cells.push(Cell::new(share.map_or(String::new(), whole_share)));
                cells.push(Cell::new(metric.map_or(String::new(), |metric| metric.n.to_string())));
            }
        }
        Row { cells, filter: shown.filter(case), ..Row::default() }
    };
    let rows = cases.iter().enumerate().map(row).collect();
    let caption = format!("{} · {}", text(name), count(cases.len(), "case"));
    Table { caption, heads, rows, notes: Vec::new() }.tidy()
}

/// How limits were derived, or why there is none: the largest loss stands with each case.
fn limit_notes(shown: &Shown<'_>, cases: &[&CaseRecord]) -> Vec<String> {
    let Some(name) = headline(shown, cases) else { return Vec::new() };
    let note = |metric: &MetricRecord| match (&metric.limit.formula, &metric.limit.reason) {
        (Some(formula), _) => {
            let provenance = metric.limit.provenance.as_deref().unwrap_or("of unknown source");
            Some(text(&format!("Limit of {name}: {formula} ({provenance})")))
        }
        (None, Some(reason)) => Some(text(&format!("No limit of {name}: {reason}"))),
        (None, None) => None,
    };
    let mut notes: Vec<String> =
        cases.iter().filter_map(|case| case.metrics.get(name)).filter_map(note).collect();
    notes.sort();
    notes.dedup();
    let more = notes.len().saturating_sub(6);
    notes.truncate(6);
    if more > 0 {
        notes.push(format!("… and {} of {name}; each case has its own", count(more, "other limit")));
    }
    notes
}
