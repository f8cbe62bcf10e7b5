//! Sweeps as tables, where they fit; otherwise their cases have rows.

use seatrial_analysis::Table;
use seatrial_model::Value;
use seatrial_model::record::Document;

use super::table;
use crate::grid;
use crate::notes::Notes;
use crate::view::{cases, sweep};

/// With more tables, rows per case are clearer.
const MOST_TABLES: usize = 8;

/// Width in terminal columns beyond which a table is no overview.
const WIDEST: u16 = 100;

/// The tables of `document`, and the names of the cases in them. A sweep is shown whole or not at all: if one of its
/// tables is too wide, or if there are too many, its cases keep their rows. So do judged cases, whose rows have the
/// verdict, unless a number in the rows of the table orders them.
pub fn blocks(document: &Document, notes: &mut Notes, width: u16) -> (Vec<String>, Vec<String>) {
    let tables = seatrial_analysis::tables(&document.results);
    let is_of = |one: &Table, other: &Table| {
        (&one.group, &one.bench, &one.nodes, &one.subject)
            == (&other.group, &other.bench, &other.nodes, &other.subject)
    };
    if tables.len() > MOST_TABLES {
        return Default::default();
    }
    let fits = |table: &Table| {
        let columns = table::columns(&sweep::table(table).without_details(), &mut Notes::default());
        grid::width(&columns) <= width.min(WIDEST)
    };
    let verdicts = cases::verdicts(document);
    let is_judged =
        |table: &Table| table.cells.values().any(|cell| verdicts.contains_key(cell.case.as_str()));
    let has_numbers = |table: &Table| matches!(table.down.1.first(), Some(Value::Count(_)));
    let fits = |table: &Table| fits(table) && (has_numbers(table) || !is_judged(table));
    let shown: Vec<&Table> =
        tables.iter().filter(|table| tables.iter().filter(|other| is_of(table, other)).all(&fits)).collect();
    let cases = shown.iter().flat_map(|table| table.cells.values().map(|cell| cell.case.clone())).collect();
    (shown.iter().map(|table| block(table, notes, width)).collect(), cases)
}

fn block(sweep: &Table, notes: &mut Notes, width: u16) -> String {
    let mut table = sweep::table(sweep);
    table.remarks.push("other metrics in the CSV and JSON forms".to_owned());
    table::block(table, usize::MAX, notes, width)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use seatrial_analysis::Cell;
    use seatrial_model::{Better, Cause, Outcome, Params, Subject, Unit, Value};

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
        let shown = block(&mercury(), &mut notes, 80);
        let expected = "\
storage.file · fs:/gpfs of mercury · pattern=random · throughput over threads
 · in MB/s
 threads ↓  block →  64 KiB              1 MiB              4 MiB
─────────────────────────────────────────────────────────────────
                  1    2.99              17.30              61.60
                 40   91.50             402.50              83.30
                 50                                         98.90
                 60   95.00            *517.90  ✗ failed hang [1]
                 80  102.90  ✗ failed hang [1]    ? not tried [1]
 * the best; medians, the least certain ±2.0%; other metrics in the CSV and
 JSON forms
 [1]  it did not answer
";
        assert_eq!(render_colors(&shown, Style::Plain), expected);
    }
}
