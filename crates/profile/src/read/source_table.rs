//! `[[table]]`: a table of the document that the profile was made from.

use seatrial_model::Value;
use seatrial_model::profile::FlowClass;

use crate::Diagnostics;
use crate::diagnostic::At;
use crate::layer::{AxisEntry, CellEntry, SourceTableEntry};
use crate::read::choice::named;
use crate::read::criterion::statistic;
use crate::read::pairs::{name, pairs};
use crate::table::{Cell, Table};

pub(super) fn source_table(mut table: Table<'_>, found: &mut Diagnostics) -> Option<SourceTableEntry> {
    let id = table.required_text("id", found);
    let title = table.required_text("title", found);
    let source = table.required_text("source", found);
    let shared = cell(&mut table, found);
    let rows = table.take("rows");
    if rows.is_none() {
        found.error(table.at, "[[table]] needs 'rows'");
    }
    let rows = rows.and_then(|cell| axis(&cell, found));
    let columns = table.take("columns");
    // A table whose columns could not be read is no list.
    let columns = columns.map(|cell| axis(&cell, found));
    let values = table.take("values");
    let values_at = values.map_or(table.at, |cell| cell.at);
    let values = values.and_then(|cell| cell.array(found)).unwrap_or_default();
    let values = values.iter().map(Cell::one_or_more);
    let values = values.map(|row| row.iter().filter_map(|cell| cell.scalar(found)).collect()).collect();
    table.finish(found);
    Some(SourceTableEntry {
        id: id?,
        title: title?.value,
        source: source?.value,
        shared,
        rows: rows?,
        columns: match columns {
            Some(columns) => Some(columns?),
            None => None,
        },
        values,
        values_at,
    })
}

/// `{ threads = [1, 5] }`, or one table per row or column.
fn axis(cell: &Cell<'_>, found: &mut Diagnostics) -> Option<AxisEntry> {
    if !cell.is_table() {
        let errors_before = found.count();
        let cells = cell.array(found)?;
        let cells = cells.iter().filter_map(|cell| labelled(cell, found)).collect();
        return (found.count() == errors_before).then_some(AxisEntry::Cells(cells));
    }
    let table = cell.table(found)?;
    let mut entries = table.entries();
    let (Some(only), None) = (entries.next(), entries.next()) else {
        let advice = "for several, write a list: one { name = \"...\" } each";
        let title = format!("'{}' as a table has one parameter or coordinate with its values", cell.key);
        found.error(cell.at, title).help(advice);
        return None;
    };
    let values = only.array(found)?.iter().filter_map(|value| value.scalar(found)).collect();
    Some(AxisEntry::Values { name: name(&only), values })
}

fn labelled(of: &Cell<'_>, found: &mut Diagnostics) -> Option<CellEntry> {
    let mut table = of.table(found)?.called(format!("an entry of '{}'", of.key));
    let name = table.required_text("name", found);
    let value = table.take("value").and_then(|cell| cell.scalar(found));
    let entry = cell(&mut table, found);
    table.finish(found);
    Some(CellEntry { name: Some(name?), value, ..entry })
}

fn cell(table: &mut Table<'_>, found: &mut Diagnostics) -> CellEntry {
    CellEntry {
        at: table.at,
        name: None,
        value: None,
        test: table.text("test", found),
        metric: table.text("metric", found),
        cases: pairs(table, "where", found),
        axes: pairs(table, "at", found),
        on: pairs(table, "on", found),
        roles: table.texts("roles", found),
        step: table.take("step").and_then(|cell| Some(At { value: cell.count(found)?, at: cell.at })),
        class: named(table, "class", &FlowClass::ALL, found),
        of: statistic(table, found),
        unit: table.text("unit", found).and_then(|unit| {
            unit.value.parse().map_err(|error| found.error(unit.at, format!("'unit': {error}"))).ok()
        }),
        factor: table.take("factor").and_then(|cell| factor(&cell, found)),
        not_measured: table.text("not_measured", found).map(|why| why.value),
    }
}

fn factor(cell: &Cell<'_>, found: &mut Diagnostics) -> Option<f64> {
    let factor = match cell.scalar(found)?.value {
        Value::Count(count) => count as f64,
        Value::Number(number) => number,
        _ => 0.0,
    };
    if factor <= 0.0 {
        found.error(cell.at, "'factor' is a number above 0");
    }
    (factor > 0.0).then_some(factor)
}
