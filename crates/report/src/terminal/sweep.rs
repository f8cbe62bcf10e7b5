//! Sweeps as a person draws them: the load goes down, another parameter across, a table for each way to set the rest.

use seatrial_analysis::{Cell, Table};
use seatrial_model::record::Document;
use seatrial_model::{Outcome, Unit};

use crate::grid::{self, Column};
use crate::ink::Ink;
use crate::notes::Notes;
use crate::number::{decimals, half_width};
use crate::words::{clean, count};

/// Things that are shown as tables; of more, a row a case says it better.
const MOST_TABLES: usize = 8;

/// Columns of a terminal beyond which a table is no overview.
const WIDEST: u16 = 100;

/// Before the best number of a table.
const PEAK: &str = "*";

/// The tables of `document`, and the names of the cases that stand in them. A sweep is shown whole or not at all: where
/// one of its tables is too wide, or where they are too many, its cases keep their rows.
pub fn blocks(document: &Document, notes: &mut Notes, width: u16) -> (Vec<String>, Vec<String>) {
    let tables = seatrial_analysis::tables(&document.results);
    let is_of = |one: &Table, other: &Table| {
        (&one.group, &one.bench, &one.nodes, &one.subject)
            == (&other.group, &other.bench, &other.nodes, &other.subject)
    };
    if tables.len() > MOST_TABLES {
        return Default::default();
    }
    let fits = |table: &Table| grid::width(&columns(table, &mut Notes::default())) <= width.min(WIDEST);
    let shown: Vec<&Table> =
        tables.iter().filter(|table| tables.iter().filter(|other| is_of(table, other)).all(&fits)).collect();
    let cases = shown.iter().flat_map(|table| table.cells.values().map(|cell| cell.case.clone())).collect();
    let texts = shown.iter().map(|table| text(table, notes, width) + &notes.flush(width)).collect();
    (texts, cases)
}

fn text(table: &Table, notes: &mut Notes, width: u16) -> String {
    let unit = if table.unit == Unit::Count { String::new() } else { format!(" in {}", table.unit) };
    let fixed = table.fixed.iter().map(|(name, value)| format!(" · {name}={value}")).collect::<String>();
    let place = format!("{} of {}", table.subject, table.nodes.join("+"));
    let title = format!("{} · {place}{fixed} · {}{unit}", table.bench, table.metric);
    let mut text = format!("{}\n", Ink::Strong.on(&clean(&title)));
    text += &grid::fitted(&columns(table, notes), width);
    let mut remarks = Vec::new();
    if table.peak().is_some() {
        remarks.push(format!("{PEAK} the best"));
    }
    let widths = table.cells.values().filter_map(|cell| {
        let (value, ci) = (cell.value?, cell.ci95?);
        Some(((ci.1 - ci.0).abs() / value.abs(), half_width(value, ci)))
    });
    if let Some((_, widest)) = widths.reduce(|most, next| if next.0 > most.0 { next } else { most }) {
        remarks.push(format!("medians, the least certain {widest}"));
    }
    let without = table.cells.values().filter(|cell| cell.value.is_some() && cell.ci95.is_none()).count();
    if without > 0 {
        remarks.push(format!("{} without an interval", count(without, "number")));
    }
    remarks.push("other metrics in the CSV and JSON forms".to_owned());
    text + &grid::wrapped(&Ink::Faint.on(&remarks.join("; ")), width)
}

/// A row a load; what nobody asked for is blank.
fn columns(table: &Table, notes: &mut Notes) -> Vec<Column> {
    let decimals = decimals(table.cells.values().filter_map(|cell| cell.value));
    let peak = table.peak().map(|(at, _)| at);
    let rows = table.down.1.iter().map(|value| clean(&value.to_string())).collect();
    let corner = format!("{} ↓  {} →", clean(&table.down.0), clean(&table.across.0));
    let mut columns = vec![Column::numbers(corner, rows)];
    for (at, value) in table.across.1.iter().enumerate() {
        let mut cell = |row: usize| match table.cells.get(&(row, at)) {
            None => String::new(),
            Some(Cell { value: Some(value), .. }) => {
                let mark = if peak == Some((row, at)) { PEAK } else { "" };
                let number = format!("{mark}{value:.decimals$}");
                if mark.is_empty() { number } else { Ink::Strong.on(&number) }
            }
            Some(cell) => without_number(cell, notes),
        };
        let cells = (0..table.down.1.len()).map(&mut cell).collect();
        columns.push(Column::numbers(clean(&value.to_string()), cells));
    }
    columns
}

/// How a case ended, with the kind of it: `FAIL hang [1]`, `? denied [2]`, `- not tried [3]`.
fn without_number(cell: &Cell, notes: &mut Notes) -> String {
    let kind = cell.cause.map(seatrial_analysis::cause_word).unwrap_or_default();
    let note = cell.reason.as_deref().map(|reason| format!(" {}", notes.refer(reason))).unwrap_or_default();
    match cell.outcome {
        Outcome::Failed => Ink::Bad.on(&clean(&format!("FAIL {kind}"))) + &note,
        Outcome::Skipped => Ink::Faint.on("– skipped") + &note,
        Outcome::Measured | Outcome::Unmeasured => Ink::Doubt.on(&clean(&format!("? {kind}"))) + &note,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use seatrial_model::{Better, Cause, Params, Subject, Value};

    use super::*;
    use crate::Style;
    use crate::ink::render_colors;

    fn cell(value: Result<f64, Cause>) -> Cell {
        Cell {
            case: String::new(),
            outcome: value.as_ref().err().map_or(Outcome::Measured, |cause| cause.outcome()),
            cause: value.as_ref().err().copied(),
            reason: value.as_ref().err().map(|_| "it did not answer".to_owned()),
            value: value.as_ref().ok().copied(),
            ci95: value.ok().map(|value| (0.98 * value, 1.02 * value)),
        }
    }

    /// Random access of the third machine of the NCSA brief, in part.
    fn mercury() -> Table {
        let hang = Err(Cause::Hang);
        let rows: [[Option<Result<f64, Cause>>; 3]; 5] = [
            [Some(Ok(2.99)), Some(Ok(17.3)), Some(Ok(61.6))],
            [Some(Ok(91.5)), Some(Ok(402.5)), Some(Ok(83.3))],
            [None, None, Some(Ok(98.9))],
            [Some(Ok(95.0)), Some(Ok(517.9)), Some(hang)],
            [Some(Ok(102.9)), Some(hang), Some(Err(Cause::NotTried))],
        ];
        let mut cells = BTreeMap::new();
        for (row, values) in rows.iter().enumerate() {
            for (column, value) in values.iter().enumerate() {
                if let Some(value) = value {
                    cells.insert((row, column), cell(*value));
                }
            }
        }
        Table {
            group: "storage.file".to_owned(),
            bench: "storage.file".to_owned(),
            nodes: vec!["mercury".to_owned()],
            subject: "fs:/gpfs".parse().unwrap_or_else(|_| Subject::node()),
            fixed: [("pattern".to_owned(), Value::from("random"))].into_iter().collect::<Params>(),
            metric: "throughput".to_owned(),
            unit: Unit::MegabytesPerSecond,
            better: Better::Higher,
            down: ("threads".to_owned(), [1_u64, 40, 50, 60, 80].map(Value::from).into()),
            across: ("block".to_owned(), ["64 KiB", "1 MiB", "4 MiB"].map(Value::from).into()),
            cells,
        }
    }

    #[test]
    fn threads_go_down_and_blocks_across_with_failures_in_their_places_and_the_best_marked() {
        let mut notes = Notes::default();
        let shown = text(&mercury(), &mut notes, 80) + &notes.flush(80);
        let expected = "\
storage.file · fs:/gpfs of mercury · pattern=random · throughput in MB/s
 threads ↓  block →  64 KiB          1 MiB            4 MiB
───────────────────────────────────────────────────────────
                  1    2.99          17.30            61.60
                 40   91.50         402.50            83.30
                 50                                   98.90
                 60   95.00        *517.90    FAIL hang [1]
                 80  102.90  FAIL hang [1]  ? not tried [1]
 * the best; medians, the least certain ±2.0%; other metrics in the CSV and
 JSON forms
 [1]  it did not answer
";
        assert_eq!(render_colors(&shown, Style::Plain), expected);
    }
}
