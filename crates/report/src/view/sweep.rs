//! Sweeps as tables: the load in rows, another parameter in columns, a table per combination of the remaining
//! parameters.

use seatrial_analysis::{Cell as SweepCell, Table as Sweep};
use seatrial_model::{Outcome, node_names};

use super::table::{Builder, Cell, Column, Table};
use crate::number::{decimals, half_width, plus_minus};
use crate::words::{Badge, count, in_unit};

pub fn title(sweep: &Sweep) -> String {
    let fixed = sweep.fixed.iter().map(|(name, value)| format!(" · {name}={value}")).collect::<String>();
    let place = format!("{} of {}", sweep.subject, node_names(&sweep.nodes));
    format!("{} · {place}{fixed} · {} over {}", sweep.bench, sweep.metric, sweep.down.0)
}

/// A row per load; combinations that were not planned are blank.
pub fn table(sweep: &Sweep) -> Table {
    let decimals = decimals(sweep.cells.values().filter_map(|cell| cell.value));
    let peak = sweep.peak().map(|(at, _)| at);
    let rows: Vec<usize> = (0..sweep.down.1.len()).collect();
    let corner = Column::numbers(format!("{} ↓  {} →", sweep.down.0, sweep.across.0));
    let mut table = Builder::new(title(sweep) + &in_unit(sweep.unit).replacen(' ', " · ", 1), &rows)
        .column(corner, |row| sweep.down.1[*row].to_string());
    for (column, value) in sweep.across.1.iter().enumerate() {
        let cell = |row: &usize| match sweep.cells.get(&(*row, column)) {
            None => Cell::default(),
            Some(found) => Cell {
                is_best: peak == Some((*row, column)),
                ..match found.value {
                    Some(value) => Cell::number(Some(value), decimals).detail(plus_minus(value, found.ci95)),
                    None => without_number(found),
                }
            }
            .case(found.case.as_str()),
        };
        table = table.column(Column::numbers(value.to_string()), cell);
    }
    let mut remarks = Vec::new();
    let widths = sweep.cells.values().filter_map(|cell| {
        let (value, ci) = (cell.value?, cell.ci95?);
        Some(((ci.1 - ci.0).abs() / value.abs(), half_width(value, ci)))
    });
    if let Some((_, widest)) = widths.reduce(|most, next| if next.0 > most.0 { next } else { most }) {
        remarks.push(format!("medians, the least certain {widest}"));
    }
    let without = sweep.cells.values().filter(|cell| cell.value.is_some() && cell.ci95.is_none()).count();
    if without > 0 {
        remarks.push(format!("{} without an interval", count(without, "number")));
    }
    let remarks = if remarks.is_empty() { remarks } else { vec![remarks.join("; ")] };
    Table { remarks, ..table.finish() }
}

/// The outcome of a case without a number, with its cause: `✗ failed hang`, `? denied`, `– skipped`.
fn without_number(cell: &SweepCell) -> Cell {
    let kind = cell.cause.map(seatrial_analysis::cause_word).unwrap_or_default();
    let badge = Badge::from(cell.outcome);
    let (badge, text) = match cell.outcome {
        Outcome::Failed => (badge, kind),
        Outcome::Skipped => (badge, Default::default()),
        Outcome::Measured | Outcome::Unmeasured => {
            (Badge { word: "", ..Badge::from(Outcome::Unmeasured) }, kind)
        }
    };
    Cell { badge: Some(badge), ..Cell::from(text) }.notes(cell.reason.clone())
}
