//! The series of cases: a curve where an axis is a number, a matrix over two axes, else a table.

use std::collections::HashMap;

use seatrial_model::record::{Axis, CaseRecord, SeriesRecord, SeriesRow};
use seatrial_model::{Unit, Value};

use super::curve::{FEWEST_POINTS, Figure, MOST_CURVES, height, place, scale};
use super::heat::{self, Heat};
use super::plot::{Curve, Plot, Point};
use super::table::{Cell, Head, Row, Table};
use super::words::{fixed, quantity, text, unit};
use crate::number::{decimals, spread};

/// Rows of a table of a series at most; the CSV and JSON forms have all.
const MOST_ROWS: usize = 128;

/// Rows or columns of a matrix at most.
const MOST_CELLS: usize = 64;

/// One picture or table of a series.
pub enum SeriesView {
    Figure(Figure),
    Heat(Heat),
    Table(Table),
}

/// All series of one case.
pub fn of_case(case: &CaseRecord) -> Vec<SeriesView> {
    let of = |(name, series): (&String, &SeriesRecord)| {
        let rows: Vec<&SeriesRow> = series.rows.iter().collect();
        views(name, "", series, &series.axes, &rows)
    };
    case.series.iter().flat_map(of).collect()
}

/// A series over one number that several cases have, as one figure: what differs between them is a curve.
pub fn together(name: &str, with: &[(String, &SeriesRecord)]) -> Option<Figure> {
    let (_, first) = with.first()?;
    let [axis] = first.axes.as_slice() else { return None };
    if with.len() < 2 || with.len() > MOST_CURVES {
        return None;
    }
    let curves: Vec<(String, Vec<&SeriesRow>)> =
        with.iter().map(|(name, series)| (name.clone(), series.rows.iter().collect())).collect();
    figure(&caption(name, "", axis), first, axis, &curves)
}

fn views(name: &str, of: &str, series: &SeriesRecord, axes: &[Axis], rows: &[&SeriesRow]) -> Vec<SeriesView> {
    match axes {
        [axis] => {
            let curve = [(String::new(), rows.to_vec())];
            let figure = figure(&caption(name, of, axis), series, axis, &curve);
            vec![
                figure.map_or_else(
                    || SeriesView::Table(table(name, of, series, axes, rows)),
                    SeriesView::Figure,
                ),
            ]
        }
        [down, across] => {
            let curves: Vec<(String, Vec<&SeriesRow>)> = split(rows, &down.name);
            let is_few = curves.len() <= MOST_CURVES;
            let drawn = is_few.then(|| figure(&caption(name, of, across), series, across, &curves)).flatten();
            let is_matrix = curves.len() > 1 && curves.len() <= MOST_CELLS;
            match drawn {
                // Numbers of nodes and devices are names.
                Some(figure) if !is_name(across) => vec![SeriesView::Figure(figure)],
                _ if is_matrix => vec![SeriesView::Heat(matrix(name, of, series, (down, across), rows))],
                _ => vec![SeriesView::Table(table(name, of, series, axes, rows))],
            }
        }
        [first, rest @ ..] if rest.len() == 2 => split(rows, &first.name)
            .into_iter()
            .flat_map(|(place, rows)| {
                views(name, &format!("{of} · {} {place}", first.name), series, rest, &rows)
            })
            .collect(),
        _ => vec![SeriesView::Table(table(name, of, series, axes, rows))],
    }
}

/// Whether the values of an axis are names, though they may be numbers.
fn is_name(axis: &Axis) -> bool {
    axis.name.contains("node") || ["gpu", "from", "to", "disk", "flow", "rail"].contains(&axis.name.as_str())
}

fn caption(name: &str, of: &str, axis: &Axis) -> String {
    format!("{name}{of} over {}", axis.name)
}

/// Rows by the values of one axis, in the order they first appear.
fn split<'a>(rows: &[&'a SeriesRow], axis: &str) -> Vec<(String, Vec<&'a SeriesRow>)> {
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

fn figure(
    caption: &str,
    series: &SeriesRecord,
    axis: &Axis,
    curves: &[(String, Vec<&SeriesRow>)],
) -> Option<Figure> {
    let at = |row: &SeriesRow| place(row.at.get(&axis.name)?, axis.unit);
    let places: Vec<(f64, bool)> =
        curves.iter().flat_map(|(_, rows)| rows).map(|row| at(row)).collect::<Option<_>>()?;
    let longest = curves.iter().map(|(_, rows)| rows.len()).max()?;
    if longest < FEWEST_POINTS {
        return None;
    }
    let across = scale(&places);
    let bare = |row: &SeriesRow| row.at.get(&axis.name).map_or(String::new(), Value::to_string);
    let point = |name: &str, row: &SeriesRow| {
        let spread = spread(row.summary.median, row.summary.ci95);
        let name = if name.is_empty() { String::new() } else { format!("{name} · ") };
        let value = quantity(row.summary.median, series.unit);
        Some(Point {
            x: at(row)?.0,
            y: row.summary.median,
            band: row.summary.ci95,
            tip: text(&format!("{name}{} {}: {value} {spread}, n {}", axis.name, bare(row), row.summary.n)),
        })
    };
    let curve = |(name, rows): &(String, Vec<&SeriesRow>)| {
        let mut points: Vec<Point> = rows.iter().filter_map(|row| point(name, row)).collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        Curve { name: name.clone(), points }
    };
    let curves: Vec<Curve> = curves.iter().map(curve).collect();
    let up = height(curves.iter().flat_map(|curve| &curve.points).map(|point| point.y));
    let of_axis =
        if axis.unit == Unit::Count || matches!(across, super::plot::Scale::Doubling { bytes: true }) {
            axis.name.clone()
        } else {
            format!("{} ({})", axis.name, axis.unit)
        };
    let has_band = curves.iter().flat_map(|curve| &curve.points).any(|point| point.band.is_some());
    let note = if has_band { "The band is the 95 % interval of the median." } else { "" };
    let plot = Plot {
        label: text(&format!(
            "{caption}, {} points; the numbers stand in the CSV and JSON forms",
            places.len()
        )),
        across,
        across_name: text(&of_axis),
        up,
        curves,
        marks: Vec::new(),
    };
    Figure::new(caption, unit(series.unit).trim(), note, &plot)
}

fn matrix(name: &str, of: &str, series: &SeriesRecord, axes: (&Axis, &Axis), rows: &[&SeriesRow]) -> Heat {
    let (down, across) = axes;
    let names = |axis: &Axis| split(rows, &axis.name).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let (downs, acrosses) = (names(down), names(across));
    let mut values = HashMap::new();
    for row in rows {
        let at = |names: &[String], axis: &Axis| {
            let name = row.at.get(&axis.name)?.to_string();
            names.iter().position(|known| *known == name)
        };
        let (Some(one), Some(other)) = (at(&downs, down), at(&acrosses, across)) else { continue };
        let spread = spread(row.summary.median, row.summary.ci95);
        let more = format!("{spread} from {} samples", row.summary.n);
        values.insert((one, other), heat::Value { value: row.summary.median, more, to: String::new() });
    }
    let heat = Heat::new(
        (down.name.as_str(), across.name.as_str()),
        &downs,
        &acrosses,
        &values,
        (series.unit, series.better),
    );
    let caption = text(&format!("{name}{of},{}", unit(series.unit)));
    Heat { caption, note: format!("{} by {}.", down.name, across.name), ..heat }
}

fn table(name: &str, of: &str, series: &SeriesRecord, axes: &[Axis], rows: &[&SeriesRow]) -> Table {
    let decimals = decimals(rows.iter().map(|row| row.summary.median));
    let mut heads: Vec<Head> = axes
        .iter()
        .map(|axis| match axis.unit {
            Unit::Count => Head::words(text(&axis.name)),
            unit => Head { unit: unit.to_string(), ..Head::words(text(&axis.name)) },
        })
        .collect();
    heads.push(Head::numbers("median", unit(series.unit).trim()));
    heads.push(Head::numbers("95 %", ""));
    heads.push(Head::numbers("n", ""));
    let row = |row: &&SeriesRow| {
        let at = axes
            .iter()
            .map(|axis| row.at.get(&axis.name).map_or(String::new(), |value| text(&value.to_string())));
        let mut cells: Vec<Cell> = at.map(Cell::new).collect();
        cells.push(Cell::new(fixed(row.summary.median, decimals)));
        cells.push(Cell::new(spread(row.summary.median, row.summary.ci95)));
        cells.push(Cell::new(row.summary.n.to_string()));
        Row { cells, ..Row::default() }
    };
    let mut notes = Vec::new();
    if rows.len() > MOST_ROWS {
        notes
            .push((String::new(), format!("{} more rows in the CSV and JSON forms", rows.len() - MOST_ROWS)));
    }
    Table {
        caption: text(&format!("{name}{of}")),
        heads,
        rows: rows.iter().take(MOST_ROWS).map(row).collect(),
        notes,
        ..Table::default()
    }
}
