//! The series of cases: a curve over a numeric axis, a matrix over two axes, else a table.

use seatrial_model::record::{Axis, CaseRecord, SeriesRecord, SeriesRow};
use seatrial_model::{Better, Bytes, Dimension, Value};

use super::curve::{FEWEST_POINTS, Figure, MOST_CURVES, height, place, scale};
use super::heat::Heat;
use super::plot::{Curve, Mark, Plot, Point, Scale};
use super::table::PageTable;
use super::words::{quantity, text};
use crate::number::plus_minus;
use crate::view::series::{axis_title, list, matrix, split};
use crate::words::{in_unit, unit};

/// Rows of a table of a series at most; the CSV and JSON forms have all.
const MOST_ROWS: usize = 128;

const MOST_CELLS: usize = 64;

pub enum SeriesView {
    Figure(Figure),
    Heat(Heat),
    Table(PageTable),
}

/// The series of `case`; `lines` gives the lines that belong into the plot of a series.
pub fn of_case(case: &CaseRecord, lines: &dyn Fn(&SeriesRecord) -> Vec<Mark>) -> Vec<SeriesView> {
    let of = |(name, series): (&String, &SeriesRecord)| {
        let rows: Vec<&SeriesRow> = series.rows.iter().collect();
        views((name, ""), series, &series.axes, &rows, &lines(series))
    };
    case.series.iter().flat_map(of).collect()
}

/// A series over one number that several cases have, as one figure with a curve per case.
pub fn together(name: &str, with: &[(String, &SeriesRecord)], lines: &[Mark]) -> Option<Figure> {
    let (_, first) = with.first()?;
    let [axis] = first.axes.as_slice() else { return None };
    if with.len() < 2 || with.len() > MOST_CURVES {
        return None;
    }
    let curves: Vec<(String, Vec<&SeriesRow>)> =
        with.iter().map(|(name, series)| (name.clone(), series.rows.iter().collect())).collect();
    figure(&caption(name, "", axis), first, axis, &curves, lines)
}

/// The series of times and that of rates over the same axis, where a case has one of each: the time over the rate that a
/// load reached; over sizes the rate over the time, which is NetPIPE's signature graph.
pub fn time_and_rate(case: &CaseRecord) -> Option<Figure> {
    let of = |is_it: fn(&SeriesRecord) -> bool| {
        let mut found = case.series.iter().filter(|(_, series)| is_it(series) && series.axes.len() == 1);
        found.next().filter(|_| found.next().is_none())
    };
    let times = of(|series| series.unit.dimension() == Dimension::Time)?;
    let rates = of(|series| series.better == Better::Higher)?;
    let axis = &times.1.axes[0];
    let is_size = axis.unit.dimension() == Dimension::Size;
    let ((up_name, ups), (name, across)) = if is_size { (rates, times) } else { (times, rates) };
    let point = |row: &SeriesRow| {
        let load = row.at.get(&axis.name)?;
        let reached = across.rows.iter().find(|other| other.at.get(&axis.name) == Some(load))?.summary.median;
        let (y, band) = (row.summary.median, row.summary.ci95);
        let (own, reached_at) = (quantity(y, ups.unit), quantity(reached, across.unit));
        Some(Point {
            x: reached,
            y,
            band,
            tip: text(&format!("{} {load}: {own} at {reached_at}", axis.name)),
        })
    };
    let points: Vec<Point> = ups.rows.iter().filter_map(point).collect();
    if axis.name != across.axes[0].name || points.len() < FEWEST_POINTS {
        return None;
    }
    let limit = case.metrics.values().find(|metric| metric.unit == rates.1.unit)?.limit.value;
    let limit = limit.map(|limit| {
        let name = format!("limit {}", quantity(limit, rates.1.unit));
        if is_size { Mark::Across(limit, name) } else { Mark::AtLimit(limit, name) }
    });
    let (across_scale, up, note) = match is_size {
        true => {
            (Scale::Log, Scale::Linear, "A dot is a size. NetPIPE calls this the signature graph.".to_owned())
        }
        false => {
            let up = height(points.iter().map(|point| point.y));
            (Scale::Linear, up, format!("A dot is a step of {}.", axis.name))
        }
    };
    let caption = format!("{up_name} over {name}");
    let plot = Plot {
        label: text(&format!("{caption}, {} points by {}", points.len(), axis.name)),
        across: across_scale,
        across_name: text(&format!("{name}{}", in_unit(across.unit))),
        up,
        curves: vec![Curve { name: String::new(), points }],
        marks: limit.into_iter().collect(),
    };
    Figure::new(&caption, unit(ups.unit).trim(), &note, &plot)
}

fn views(
    (name, of): (&str, &str),
    series: &SeriesRecord,
    axes: &[Axis],
    rows: &[&SeriesRow],
    lines: &[Mark],
) -> Vec<SeriesView> {
    let title = || format!("{name}{of}{}", in_unit(series.unit));
    let table = || SeriesView::Table(PageTable::new(&list(&title(), series, axes, rows), MOST_ROWS));
    match axes {
        [axis] => {
            let curve = [(String::new(), rows.to_vec())];
            let figure = figure(&caption(name, of, axis), series, axis, &curve, lines);
            vec![figure.map_or_else(table, SeriesView::Figure)]
        }
        [down, across] => {
            let curves: Vec<(String, Vec<&SeriesRow>)> = split(rows.iter().copied(), &down.name);
            let is_few = curves.len() <= MOST_CURVES;
            let draw = || figure(&caption(name, of, across), series, across, &curves, lines);
            let drawn = is_few.then(draw).flatten();
            let is_matrix = curves.len() > 1 && curves.len() <= MOST_CELLS;
            match drawn {
                // Numbers of nodes and devices are names.
                Some(figure) if !is_name(across) => vec![SeriesView::Figure(figure)],
                _ if is_matrix => {
                    let found = matrix(title(), series, (down, across), rows);
                    vec![SeriesView::Heat(Heat::new(&found, |_| String::new()))]
                }
                _ => vec![table()],
            }
        }
        [first, rest @ ..] if rest.len() == 2 => split(rows.iter().copied(), &first.name)
            .into_iter()
            .flat_map(|(place, rows)| {
                views((name, &format!("{of} · {} {place}", first.name)), series, rest, &rows, lines)
            })
            .collect(),
        _ => vec![table()],
    }
}

fn is_name(axis: &Axis) -> bool {
    axis.name.contains("node") || ["gpu", "from", "to", "disk", "flow", "rail"].contains(&axis.name.as_str())
}

fn caption(name: &str, of: &str, axis: &Axis) -> String {
    format!("{name}{of} over {}", axis.name)
}

fn figure(
    caption: &str,
    series: &SeriesRecord,
    axis: &Axis,
    curves: &[(String, Vec<&SeriesRow>)],
    lines: &[Mark],
) -> Option<Figure> {
    let at = |row: &SeriesRow| place(row.at.get(&axis.name)?, axis.unit);
    let places: Vec<(f64, bool)> =
        curves.iter().flat_map(|(_, rows)| rows).map(|row| at(row)).collect::<Option<_>>()?;
    let longest = curves.iter().map(|(_, rows)| rows.len()).max()?;
    if longest < FEWEST_POINTS {
        return None;
    }
    let across = scale(&places);
    let bare = |row: &SeriesRow| match at(row) {
        Some((size, true)) => Bytes(size.round() as u64).to_string(),
        _ => row.at.get(&axis.name).map_or(String::new(), Value::to_string),
    };
    let point = |name: &str, row: &SeriesRow| {
        let spread = plus_minus(row.summary.median, row.summary.ci95);
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
    let has_units = matches!(across, Scale::Doubling { bytes: true });
    let of_axis = if has_units { axis.name.clone() } else { axis_title(axis) };
    let has_band = curves.iter().flat_map(|curve| &curve.points).any(|point| point.band.is_some());
    let note = if has_band { "The band is the 95 % interval of the median." } else { "" };
    let plot = Plot {
        label: text(&format!(
            "{caption}, {} points; the numbers are in the CSV and JSON forms",
            places.len()
        )),
        across,
        across_name: text(&of_axis),
        up,
        curves,
        marks: lines.to_vec(),
    };
    Figure::new(caption, unit(series.unit).trim(), note, &plot)
}
