//! Series under their cases: over one axis a row a case, over two a matrix a case, over more a list.

use std::collections::BTreeSet;

use seatrial_model::record::{CaseRecord, SeriesRecord, SeriesRow};
use seatrial_model::{Unit, Value};

use crate::grid::{self, Column};
use crate::ink::Ink;
use crate::labels::{self, Label};
use crate::number::{self, decimals};
use crate::words::{clean, count};

/// Series of more cases are not shown: they would bury the table they belong to.
const MOST_CASES: usize = 24;

/// The series of `cases`, each with its title.
pub fn text(cases: &[&CaseRecord], width: u16) -> String {
    let names: BTreeSet<&String> = cases.iter().flat_map(|case| case.series.keys()).collect();
    let mut text = String::new();
    for name in names {
        let with: Vec<_> = cases.iter().filter_map(|case| Some((*case, case.series.get(name)?))).collect();
        let Some((_, first)) = with.first() else { continue };
        text += &format!("\n{}\n", Ink::Strong.on(&title(name, first)));
        text += &match first.axes.len() {
            _ if with.len() > MOST_CASES => {
                format!(" {}, in the CSV and JSON forms\n", count(with.len(), "case"))
            }
            1 if with.len() == 1 => named(with[0].0, cases.len()) + &over_one_axis(&with, width),
            1 => over_one_axis(&with, width),
            2 => with.iter().map(|(case, series)| matrix(case, series, cases.len(), width)).collect(),
            _ => with.iter().map(|(case, series)| list(case, series, cases.len(), width)).collect(),
        };
    }
    text
}

/// `by_threads · GB/s over threads`.
fn title(name: &str, series: &SeriesRecord) -> String {
    let axes: Vec<String> = series
        .axes
        .iter()
        .map(|axis| match axis.unit {
            Unit::Count => clean(&axis.name),
            unit => format!("{} ({unit})", clean(&axis.name)),
        })
        .collect();
    format!("{} · {} over {}", clean(name), series.unit, axes.join(" and "))
}

/// Values of one axis, in the order they first appear.
fn places(rows: &[&SeriesRow], axis: &str) -> Vec<Value> {
    let mut places: Vec<Value> = Vec::new();
    for value in rows.iter().filter_map(|row| row.at.get(axis)) {
        if !places.contains(value) {
            places.push(value.clone());
        }
    }
    places
}

fn over_one_axis(with: &[(&CaseRecord, &SeriesRecord)], width: u16) -> String {
    let axis = &with[0].1.axes[0].name;
    let rows: Vec<&SeriesRow> = with.iter().flat_map(|(_, series)| &series.rows).collect();
    let decimals = decimals(rows.iter().map(|row| row.summary.median));
    let all_labels: Vec<Label> = with.iter().map(|(case, _)| Label::of_case(case)).collect();
    let labels = labels::columns(&all_labels);
    let mut pieces = vec![labels.clone()];
    for place in places(&rows, axis) {
        let cell = |(_, series): &(&CaseRecord, &SeriesRecord)| {
            let row = series.rows.iter().find(|row| row.at.get(axis) == Some(&place));
            row.map_or(String::new(), |row| format!("{:.decimals$}", row.summary.median))
        };
        let column = Column::numbers(clean(&place.to_string()), with.iter().map(cell).collect());
        let Some(last) = pieces.last_mut() else { break };
        last.push(column.clone());
        if grid::width(last) > width && last.len() > labels.len() + 1 {
            last.pop();
            pieces.push(labels.iter().cloned().chain([column]).collect());
        }
    }
    pieces.iter().map(|piece| grid::fitted(piece, width)).collect()
}

/// The outer axis goes down, the inner one across.
fn matrix(case: &CaseRecord, series: &SeriesRecord, cases: usize, width: u16) -> String {
    let rows: Vec<&SeriesRow> = series.rows.iter().collect();
    let (down, across) = (&series.axes[0].name, &series.axes[1].name);
    let decimals = decimals(rows.iter().map(|row| row.summary.median));
    let starts = places(&rows, down);
    let names = starts.iter().map(|value| clean(&value.to_string())).collect();
    let mut columns = vec![Column::numbers(format!("{} ↓  {} →", clean(down), clean(across)), names)];
    for column in places(&rows, across) {
        let cell = |start: &Value| {
            let at =
                |row: &&&SeriesRow| row.at.get(down) == Some(start) && row.at.get(across) == Some(&column);
            rows.iter().find(at).map_or(String::new(), |row| format!("{:.decimals$}", row.summary.median))
        };
        columns.push(Column::numbers(clean(&column.to_string()), starts.iter().map(cell).collect()));
    }
    named(case, cases) + &grid::fitted(&columns, width)
}

fn list(case: &CaseRecord, series: &SeriesRecord, cases: usize, width: u16) -> String {
    let rows = &series.rows;
    let decimals = decimals(rows.iter().map(|row| row.summary.median));
    let mut columns: Vec<Column> = Vec::new();
    for axis in &series.axes {
        let value = |row: &SeriesRow| {
            row.at.get(&axis.name).map(|value| clean(&value.to_string())).unwrap_or_default()
        };
        columns.push(Column::numbers(clean(&axis.name), rows.iter().map(value).collect()));
    }
    let median = |row: &SeriesRow| format!("{:.decimals$}", row.summary.median);
    let spread = |row: &SeriesRow| number::spread(row.summary.median, row.summary.ci95);
    columns.push(Column::numbers("median", rows.iter().map(median).collect()));
    columns.push(Column::numbers("", rows.iter().map(spread).collect()));
    named(case, cases) + &grid::fitted(&columns, width)
}

/// The case, when it is not the only one.
fn named(case: &CaseRecord, cases: usize) -> String {
    if cases == 1 { String::new() } else { format!(" {}\n", clean(case.case.as_str())) }
}
