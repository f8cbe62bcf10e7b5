//! The series of cases: over one axis a row per case, over two a matrix, over more a list.

use std::cmp::Ordering;

use seatrial_model::record::{Axis, CaseRecord, SeriesColumn, SeriesRecord, SeriesRow};
use seatrial_model::{Unit, Value};

use super::matrix::{Matrix, MatrixValue};
use super::table::{Builder, Cell, Column, Table};
use crate::labels::Label;
use crate::number::{decimals, percentage, plus_minus};

/// Rows of a series by the values of one axis, in the order in which the values first appear.
pub fn split<'a>(
    rows: impl IntoIterator<Item = &'a SeriesRow>,
    axis: &str,
) -> Vec<(String, Vec<&'a SeriesRow>)> {
    let mut parts: Vec<(String, Vec<&SeriesRow>)> = Vec::new();
    for row in rows {
        let name = row.at.get(axis).map_or(String::new(), Value::to_string);
        match parts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rows)) => rows.push(row),
            None => parts.push((name, vec![row])),
        }
    }
    parts
}

/// The name of an axis, with its unit.
pub fn axis_title(axis: &Axis) -> String {
    match axis.unit {
        Unit::Count => axis.name.clone(),
        unit => format!("{} ({unit})", axis.name),
    }
}

/// `by_threads · GB/s over threads`.
pub fn title(name: &str, series: &SeriesRecord, axes: &[Axis]) -> String {
    let axes: Vec<String> = axes.iter().map(axis_title).collect();
    format!("{name} · {} over {}", series.unit, axes.join(" and "))
}

/// Columns of a series over time.
const MOST_TIMES: usize = 20;

/// Values of an axis of time at equal distances, of the series that lasts longest; all values of other axes. Also a remark on what
/// is left out.
fn places(axis: &Axis, with: &[(&CaseRecord, &SeriesRecord)]) -> (Vec<String>, Option<String>) {
    let values = |series: &SeriesRecord| -> Vec<String> {
        split(&series.rows, &axis.name).into_iter().map(|(place, _)| place).collect()
    };
    let last = |series: &SeriesRecord| match series.rows.last()?.at.get(&axis.name)? {
        Value::Number(time) => Some(*time),
        Value::Count(time) => Some(*time as f64),
        _ => None,
    };
    let all = with.iter().map(|(_, series)| *series);
    let longest = all.max_by(|one, other| last(one).partial_cmp(&last(other)).unwrap_or(Ordering::Equal));
    let times = longest.filter(|_| axis.unit == Unit::Second).map(values).unwrap_or_default();
    if times.len() <= MOST_TIMES {
        let rows = with.iter().flat_map(|(_, series)| &series.rows);
        return (split(rows, &axis.name).into_iter().map(|(place, _)| place).collect(), None);
    }
    let every = times.len().div_ceil(MOST_TIMES);
    let remark = format!("one in {every} of {} times; all are in the CSV and JSON forms", times.len());
    (times.into_iter().step_by(every).collect(), Some(remark))
}

/// A series over one axis of several cases: a row per case, a column per value of the axis.
pub fn over_one_axis(name: &str, with: &[(&CaseRecord, &SeriesRecord)]) -> Table {
    let Some((_, first)) = with.first() else { return Table::default() };
    let axis = &first.axes[0].name;
    let rows = || with.iter().flat_map(|(_, series)| &series.rows);
    let (places, left_out) = places(&first.axes[0], with);
    let decimals = decimals(rows().map(|row| row.summary.median));
    let labels: Vec<Label> = with.iter().map(|(case, _)| Label::of_case(case)).collect();
    let mut table = Builder::new(title(name, first, &first.axes), with).labels(&labels);
    for place in places {
        let is_there = |row: &&SeriesRow| row.at.get(axis).is_some_and(|value| value.to_string() == place);
        table = table.column(Column::numbers(&place), |(_, series)| {
            Cell::number(series.rows.iter().find(is_there).map(|row| row.summary.median), decimals)
        });
    }
    Table { pieces: usize::MAX, remarks: left_out.into_iter().collect(), ..table.finish() }
}

/// A series over two axes: the outer axis in rows, the inner axis in columns.
pub fn matrix(title: String, series: &SeriesRecord, axes: (&Axis, &Axis), rows: &[&SeriesRow]) -> Matrix {
    let (down, across) = axes;
    let names = |axis: &Axis| {
        split(rows.iter().copied(), &axis.name).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    let (downs, acrosses) = (names(down), names(across));
    let at = |row: &SeriesRow, names: &[String], axis: &Axis| {
        let name = row.at.get(&axis.name)?.to_string();
        names.iter().position(|known| *known == name)
    };
    let value = |row: &&SeriesRow| {
        let place = (at(row, &downs, down)?, at(row, &acrosses, across)?);
        let spread = plus_minus(row.summary.median, row.summary.ci95);
        let more = format!("{spread} from {} samples", row.summary.n);
        Some((place, MatrixValue { value: row.summary.median, more, case: None }))
    };
    Matrix {
        title,
        names: (down.name.clone(), across.name.clone()),
        values: rows.iter().filter_map(value).collect(),
        missing: Default::default(),
        rows: downs,
        columns: acrosses,
        unit: series.unit,
        better: series.better,
        note: format!("{} by {}.", down.name, across.name),
    }
}

/// The columns of the table that series of one case share over their only axis, by place.
fn shared_columns(case: &CaseRecord) -> Vec<(&SeriesColumn, &SeriesRecord)> {
    let mut columns: Vec<_> =
        case.series.values().filter_map(|series| Some((series.column.as_ref()?, series))).collect();
    columns.sort_by_key(|(column, _)| column.place);
    let Some((_, first)) = columns.first().copied().filter(|(_, first)| first.axes.len() == 1) else {
        return Vec::new();
    };
    columns.retain(|(_, series)| series.axes == first.axes);
    columns
}

/// One table of all series of a case that have a column: a row per value of their axis. A rate that has the name of a metric
/// with a limit is told with its interval and its share of the limit.
pub fn shared(case: &CaseRecord) -> Option<Table> {
    /// As nccl-tests prints times and rates.
    const DECIMALS: usize = 2;
    let columns = shared_columns(case);
    let (_, first) = columns.first()?;
    let axis = &first.axes[0];
    let at = |series: &'_ SeriesRecord, row: &SeriesRow| {
        let is_it = |other: &&SeriesRow| other.at == row.at;
        series.rows.iter().find(is_it).map(|row| (row.summary.median, row.summary.ci95))
    };
    let size = Column::quantities(&axis.name, None);
    let mut table = Builder::new(format!("over {}", axis.name), &first.rows)
        .column(size, |row| row.at.get(&axis.name).map(Value::to_string))
        .words("type", |_| case.params.text("type").ok().map(str::to_owned));
    for (column, series) in &columns {
        let decimals = if series.unit == Unit::Count { 0 } else { DECIMALS };
        let unit = (series.unit != Unit::Count).then_some(series.unit);
        table = table.column(Column::quantities(&column.title, unit), |row| {
            Cell::number(at(series, row).map(|(median, _)| median), decimals)
        });
        let limit = case.metrics.get(&column.title).and_then(|metric| metric.limit.value);
        if let Some(limit) = limit.filter(|limit| *limit > 0.0) {
            table = table
                .numbers("95 %", |row| at(series, row).map(|(median, interval)| plus_minus(median, interval)))
                .numbers("of limit", |row| {
                    at(series, row).map(|(median, _)| percentage(100.0 * median / limit))
                });
        }
    }
    Some(table.finish())
}

/// A row per row of the series.
pub fn list(title: &str, series: &SeriesRecord, axes: &[Axis], rows: &[&SeriesRow]) -> Table {
    let decimals = decimals(rows.iter().map(|row| row.summary.median));
    let mut table = Builder::new(title, rows);
    for axis in axes {
        let column = Column::quantities(&axis.name, (axis.unit != Unit::Count).then_some(axis.unit));
        table = table.column(column, |row| row.at.get(&axis.name).map(Value::to_string));
    }
    let table = table
        .column(Column::quantities("median", Some(series.unit)), |row| {
            Cell::number(Some(row.summary.median), decimals)
        })
        .numbers("95 %", |row| plus_minus(row.summary.median, row.summary.ci95))
        .column(Column::numbers("n").detail(), |row| row.summary.n.to_string());
    Table { forms: "CSV and JSON forms", ..table.finish() }
}
