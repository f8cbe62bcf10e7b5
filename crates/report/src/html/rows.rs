//! Cases below each other: a row a case, a column a metric, and beside the first of them its limit.

use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Outcome, Unit};

use super::shown::Shown;
use super::sweep::headline;
use super::table::{Cell, Head, Row, Table};
use super::words::{arrows, fixed, of_outcome, of_verdict, text};
use crate::grid::{Column, Side};
use crate::labels::{self, Label};
use crate::number::{decimals, spread, whole_share};
use crate::words::count;

/// A metric that some of the cases have.
struct Measure<'a> {
    name: &'a str,
    unit: String,
    decimals: usize,
}

/// The table of `cases` of `bench`.
pub fn table(shown: &Shown<'_>, bench: &str, cases: &[&CaseRecord]) -> Table {
    let all: Vec<Label> = cases.iter().map(|case| Label::of_case(case)).collect();
    let labels = labels::columns(&all);
    let measures = measures(cases);
    let row = |(at, case): (usize, &&CaseRecord)| {
        let mut cells = names(shown, &labels, at, case);
        let verdict = shown.verdict(case).map(of_verdict);
        cells.push(match (verdict, case.outcome) {
            (verdict, Outcome::Measured) => Cell::badge(verdict),
            (_, outcome) => Cell::badge(Some(of_outcome(outcome))),
        });
        for (at, measure) in measures.iter().enumerate() {
            cells.extend(numbers(measure, case.metrics.get(measure.name), at == 0));
        }
        Row { cells, filter: shown.filter(case), ..Row::default() }
    };
    let caption = format!("{} · {}", text(bench), count(cases.len(), "case"));
    let rows = cases.iter().enumerate().map(row).collect();
    Table { caption, heads: heads(&labels, &measures), rows, ..Table::default() }.tidy()
}

/// The metrics of `cases`, the headline first.
fn measures<'a>(cases: &[&'a CaseRecord]) -> Vec<Measure<'a>> {
    let mut names: Vec<&str> = headline(cases).into_iter().collect();
    for name in cases.iter().flat_map(|case| case.metrics.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let measure = |name| {
        let of = || cases.iter().filter_map(|case| case.metrics.get(name));
        let unit = of().map(|metric| metric.unit).find(|unit| *unit != Unit::Count);
        Measure {
            name,
            unit: unit.map(|unit| unit.to_string()).unwrap_or_default(),
            decimals: decimals(of().map(|metric| metric.median)),
        }
    };
    names.into_iter().map(measure).collect()
}

fn heads(labels: &[Column], measures: &[Measure<'_>]) -> Vec<Head> {
    let head = |column: &Column| Head {
        is_number: column.side() == Side::Right,
        ..Head::words(text(column.head()))
    };
    let mut heads: Vec<Head> = labels.iter().map(head).collect();
    if heads.is_empty() {
        heads.push(Head::words("subject"));
    }
    heads.push(Head::words("verdict"));
    for (at, measure) in measures.iter().enumerate() {
        heads.push(Head::numbers(text(measure.name), &measure.unit));
        if at == 0 {
            heads.extend(["limit", "of it", "n"].map(|name| Head::numbers(name, "")));
        }
    }
    heads
}

/// What tells a case from the others; the first cell leads to where it is shown in full.
fn names(shown: &Shown<'_>, labels: &[Column], at: usize, case: &CaseRecord) -> Vec<Cell> {
    let cell = |column: &Column| match column.head() {
        "subject" => Cell::new(text(&arrows(&column.cells()[at]))),
        _ => Cell::new(text(&column.cells()[at])),
    };
    let mut cells: Vec<Cell> = labels.iter().map(cell).collect();
    if cells.is_empty() {
        cells.push(Cell::new(text(case.subject.as_str())));
    }
    cells[0].to = shown.place(case.case.as_str());
    cells
}

/// The median with its spread; of the first metric also the limit and how many samples there are.
fn numbers(measure: &Measure<'_>, metric: Option<&MetricRecord>, is_first: bool) -> Vec<Cell> {
    let number =
        |value: Option<f64>| Cell::new(value.map_or(String::new(), |value| fixed(value, measure.decimals)));
    let spread = metric.map(|metric| spread(metric.median, metric.ci95)).unwrap_or_default();
    let mut cells = vec![number(metric.map(|metric| metric.median)).with(spread)];
    if is_first {
        let share = metric.and_then(MetricRecord::percent_of_limit);
        cells.extend([
            number(metric.and_then(|metric| metric.limit.value)),
            Cell::new(share.map_or(String::new(), whole_share)),
            Cell::new(metric.map_or(String::new(), |metric| metric.n.to_string())),
        ]);
    }
    cells
}
