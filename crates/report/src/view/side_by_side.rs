//! Several sides of a comparison in one table: a column per side.

use seatrial_analysis::{Comparison, Difference, Side};

use super::differences::{Call, digits, label, metric, percent, title};
use super::table::{Builder, Cell, Column, Table};
use crate::labels::Label;
use crate::words::Badge;

/// The differences of one case and metric, with the position of the side that each is of.
struct Row<'a> {
    of: Vec<(usize, &'a Difference)>,
}

/// The headline metrics of all sides, a table per metric; `names` are those of the sides, the baseline first. No table
/// for two sides.
pub fn tables(comparisons: &[Comparison], names: &[String]) -> Vec<Table> {
    if comparisons.len() < 2 {
        return Vec::new();
    }
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (at, comparison) in comparisons.iter().enumerate() {
        for difference in comparison.differences.iter().filter(|row| row.is_headline) {
            let is_same = |row: &&mut Row<'_>| {
                let (_, known) = row.of[0];
                known.a.case == difference.a.case && metric(known) == metric(difference)
            };
            match rows.iter_mut().find(is_same) {
                Some(row) => row.of.push((at + 1, difference)),
                None => rows.push(Row { of: vec![(at + 1, difference)] }),
            }
        }
    }
    let mut groups: Vec<Vec<Row<'_>>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| metric(group[0].of[0].1) == metric(row.of[0].1)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.iter().map(|rows| table(rows, names)).collect()
}

fn table(rows: &[Row<'_>], names: &[String]) -> Table {
    let labels: Vec<Label> = rows.iter().map(|row| label(row.of[0].1)).collect();
    let all = || rows.iter().flat_map(|row| &row.of);
    let digits = all().map(|(_, row)| digits(row)).max().unwrap_or_default();
    let number = |side: &Side| Cell::number(side.value, digits);
    let mut table = Builder::new(title(rows[0].of[0].1), rows).labels(&labels);
    for (side, name) in names.iter().enumerate() {
        table = table.column(Column::numbers(name), |row: &Row<'_>| match side {
            0 => number(&row.of[0].1.a),
            _ => row.of.iter().find(|(at, _)| *at == side).map_or(Cell::default(), |(_, row)| {
                let by = row.change.as_ref().map_or(String::new(), percent);
                Cell { badge: sign(row), ..number(&row.b).remark(by) }
            }),
        });
    }
    Table { pieces: usize::MAX, ..table.finish() }
}

/// The sign of a clear difference, without its word.
fn sign(row: &Difference) -> Option<Badge> {
    let call = Call::of(row);
    matches!(call, Call::Worse | Call::Better).then_some(Badge { word: "", ..call.badge() })
}
