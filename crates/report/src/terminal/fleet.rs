//! The numbers of a fleet that is too large for a row a case: one row a question, over all nodes that answered it.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Better, Outcome, Unit};
use seatrial_stats::Sorted;

use crate::grid::{self, Column};
use crate::ink::Ink;
use crate::labels::{self, Label};
use crate::number::{decimals, signed_share};
use crate::words::{clean, count};

/// Questions at most; of more the first are shown.
const MOST_ROWS: usize = 24;

/// What one row is made of.
struct Row<'a> {
    label: Label,
    /// Values with their nodes, from the lowest.
    values: Vec<(f64, String)>,
    asked: usize,
    unit: Option<Unit>,
    better: Better,
    name: &'a str,
}

/// The cases of `bench` as one row a question: how many nodes answered, the lowest, the median, the highest.
pub fn text(bench: &str, cases: &[&CaseRecord], width: u16) -> String {
    let rows = rows(cases);
    let shown = &rows[..rows.len().min(MOST_ROWS)];
    let name = shown.iter().map(|row| row.name).find(|name| !name.is_empty()).unwrap_or("without numbers");
    let unit = shown.iter().find_map(|row| row.unit).filter(|unit| *unit != Unit::Count);
    let unit = unit.map(|unit| format!(" in {unit}")).unwrap_or_default();
    let shared = labels::shared_params(cases);
    let shared = if shared.is_empty() { shared } else { format!(" · {shared}") };
    let title = format!("{bench}{shared} · {name}{unit} over nodes");
    let mut text = format!("{}\n", Ink::Strong.on(&clean(&title)));
    text += &grid::fitted(&columns(shown), width);
    if rows.len() > shown.len() {
        text += &format!(" {} more, in the CSV and JSON forms\n", rows.len() - shown.len());
    }
    text += " each node and every metric: in the CSV and JSON forms\n";
    text
}

fn rows<'a>(cases: &[&'a CaseRecord]) -> Vec<Row<'a>> {
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut rows: Vec<Row<'a>> = Vec::new();
    for &case in cases {
        let label = Label::of_case(case).without_nodes(&case.nodes);
        let at = *places.entry((case.group.clone(), label.key())).or_insert_with(|| {
            rows.push(Row {
                label,
                values: Vec::new(),
                asked: 0,
                unit: None,
                better: Better::None,
                name: "",
            });
            rows.len() - 1
        });
        let row = &mut rows[at];
        row.asked += usize::from(case.outcome != Outcome::Skipped);
        if let Some((name, metric)) = case.headline() {
            (row.name, row.unit, row.better) = (name, Some(metric.unit), metric.better);
            row.values.push((metric.median, clean(&case.nodes.join("+"))));
        }
    }
    for row in &mut rows {
        row.values.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    rows
}

fn columns(rows: &[Row<'_>]) -> Vec<Column> {
    let all_labels: Vec<Label> = rows.iter().map(|row| row.label.clone()).collect();
    let mut columns = labels::columns(&all_labels);
    let ends = |row: &Row<'_>| Some((row.values.first()?.0, row.values.last()?.0));
    let decimals = decimals(rows.iter().filter_map(ends).flat_map(|(low, high)| [low, high]));
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.decimals$}"));
    let off = |row: &Row<'_>, value: f64| {
        let median = median(&row.values).filter(|median| *median != 0.0);
        median.map_or(String::new(), |median| signed_share(100.0 * (value - median) / median.abs()))
    };
    let cells = |text: &dyn Fn(&Row<'_>) -> String| rows.iter().map(text).collect::<Vec<_>>();
    let low = |row: &Row<'_>| row.values.first().cloned();
    let high = |row: &Row<'_>| row.values.last().cloned();
    // The end that is the bad one is shown with how far off it is.
    let is_low_bad = rows.iter().all(|row| row.better != Better::Lower);
    let share = |end: &dyn Fn(&Row<'_>) -> Option<(f64, String)>| {
        Column::numbers("off", cells(&|row| end(row).map_or(String::new(), |(value, _)| off(row, value))))
    };
    let node = |end: &dyn Fn(&Row<'_>) -> Option<(f64, String)>| {
        Column::words("on", cells(&|row| end(row).map_or(String::new(), |(_, node)| node)))
    };
    let measured = |row: &Row<'_>| match row.values.len() {
        all if all == row.asked => count(all, "case"),
        some => format!("{some} of {}", row.asked),
    };
    columns.push(Column::numbers("measured", cells(&measured)));
    columns.push(Column::numbers("lowest", cells(&|row| number(low(row).map(|(value, _)| value)))));
    if is_low_bad {
        columns.extend([share(&low), node(&low)]);
    }
    columns.push(Column::numbers("median", cells(&|row| number(median(&row.values)))));
    columns.push(Column::numbers("highest", cells(&|row| number(high(row).map(|(value, _)| value)))));
    if !is_low_bad {
        columns.extend([share(&high), node(&high)]);
    }
    columns.retain(|column| !column.is_empty());
    columns
}

fn median(values: &[(f64, String)]) -> Option<f64> {
    let values: Vec<f64> = values.iter().map(|(value, _)| *value).collect();
    Some(Sorted::new(&values).ok()?.median())
}
