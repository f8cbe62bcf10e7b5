//! Sweeps as curves: over two parameters from the tables of the analysis, over one from the cases themselves.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_analysis::Table as Sweep;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Value, node_names};

use super::curve::{FEWEST_POINTS, Figure, MOST_CURVES, axis_name, height, place, scale};
use super::lines;
use super::plot::{Curve, Mark, Plot, Point};
use super::shown::Shown;
use super::table::PageTable;
use super::words::{fixed, number, quantity, text};
use crate::view::cases::headline;
use crate::view::sweep as view;
use crate::words::{Badge, unit};

/// Sweeps at most; the cases of others have rows.
const MOST: usize = 12;

pub struct SweepView {
    /// The curves; `None` where the loads are words.
    pub figure: Option<Figure>,
    pub table: Option<PageTable>,
}

pub fn of_bench(shown: &Shown<'_>, sweeps: &[Sweep], bench: &str, cases: &[&CaseRecord]) -> Vec<SweepView> {
    let names: BTreeSet<&str> = cases.iter().map(|case| case.case.as_str()).collect();
    let is_of = |table: &&Sweep| {
        table.bench == bench && table.cells.values().any(|cell| names.contains(cell.case.as_str()))
    };
    let own: Vec<&Sweep> = sweeps.iter().filter(is_of).collect();
    if own.is_empty() {
        return over_one(shown, cases)
            .into_iter()
            .map(|figure| SweepView { figure: Some(figure), table: None })
            .collect();
    }
    let view = |table: &&Sweep| SweepView {
        figure: over_two(shown, table),
        table: Some(PageTable::of_run(&view::table(table), usize::MAX, shown)),
    };
    own.iter().take(MOST).map(view).collect()
}

fn over_two(shown: &Shown<'_>, table: &Sweep) -> Option<Figure> {
    let places: Vec<(f64, bool)> =
        table.down.1.iter().map(|value| place(value, seatrial_model::Unit::Count)).collect::<Option<_>>()?;
    if places.len() < FEWEST_POINTS || table.across.1.len() > MOST_CURVES {
        return None;
    }
    let mut marks = Vec::new();
    let mut curves = Vec::new();
    for (column, value) in table.across.1.iter().enumerate() {
        let name = format!("{}={value}", table.across.0);
        let mut points = Vec::new();
        for (row, at) in places.iter().enumerate() {
            let Some(cell) = table.cells.get(&(row, column)) else { continue };
            let load = format!("{name} · {} {}", table.down.0, table.down.1[row]);
            match cell.value {
                Some(value) => points.push(Point {
                    x: at.0,
                    y: value,
                    band: cell.ci95,
                    tip: text(&format!("{load}: {}", quantity(value, table.unit))),
                }),
                None => {
                    let why = cell.reason.as_deref().unwrap_or("without a number");
                    let badge = Badge::from(cell.outcome).word;
                    let cause = cell.cause.map(seatrial_analysis::cause_word).unwrap_or_default();
                    marks.push(Mark::Failed(at.0, text(&format!("{load}: {badge} {cause} – {why}"))));
                }
            }
        }
        curves.push(Curve { name, points });
    }
    let cases: BTreeSet<&str> = table.cells.values().map(|cell| cell.case.as_str()).collect();
    marks.extend(knees(shown, &cases));
    marks.extend(shared(shown, &cases, &table.metric));
    let name = axis_name(&table.down.0, table.down.1.first()?);
    draw(&view::title(table), (&name, places.as_slice()), table.unit, curves, marks)
}

fn knees(shown: &Shown<'_>, cases: &BTreeSet<&str>) -> Vec<Mark> {
    let is_knee = |finding: &&Finding| {
        finding.kind == "knee" && finding.case.as_deref().is_some_and(|case| cases.contains(case))
    };
    let mut loads: BTreeMap<u64, ()> = BTreeMap::new();
    for finding in shown.document.findings.iter().filter(is_knee) {
        loads.extend(finding.value.map(|value| (value.value().to_bits(), ())));
    }
    loads
        .into_keys()
        .map(f64::from_bits)
        .map(|load| Mark::At(load, format!("knee {}", plain(load))))
        .collect()
}

/// The limit and the bounds that the cases of a sweep share.
fn shared(shown: &Shown<'_>, cases: &BTreeSet<&str>, metric: &str) -> Vec<Mark> {
    let own = shown.document.results.iter().filter(|case| cases.contains(case.case.as_str()));
    lines::shared(shown, own, metric)
}

fn plain(load: f64) -> String {
    if load.fract() == 0.0 { fixed(load, 0) } else { number(load) }
}

fn draw(
    title: &str,
    (axis, places): (&str, &[(f64, bool)]),
    of: seatrial_model::Unit,
    curves: Vec<Curve>,
    marks: Vec<Mark>,
) -> Option<Figure> {
    let has_failed = marks.iter().any(|mark| matches!(mark, Mark::Failed(..)));
    let has_band = curves.iter().flat_map(|curve| &curve.points).any(|point| point.band.is_some());
    let notes = [
        has_band.then_some("Bands are 95 % intervals of the median."),
        has_failed.then_some("A cross on the axis is a case that has no number."),
    ];
    let plot = Plot {
        label: text(title),
        across: scale(places),
        across_name: text(axis),
        up: height(curves.iter().flat_map(|curve| &curve.points).map(|point| point.y)),
        curves,
        marks,
    };
    Figure::new(title, unit(of).trim(), &notes.into_iter().flatten().collect::<Vec<_>>().join(" "), &plot)
}

/// One curve per combination of the other parameters, where a single number differs between cases of a node and a
/// subject.
fn over_one(shown: &Shown<'_>, cases: &[&CaseRecord]) -> Option<Figure> {
    let first = cases.first()?;
    let differs = |name: &&str| cases.iter().any(|case| case.params.get(name) != first.params.get(name));
    let names: Vec<&str> = first.params.iter().map(|(name, _)| name).filter(differs).collect();
    let axis = names.iter().copied().find(|name| {
        let values: Option<Vec<f64>> = cases.iter().map(|case| numeric(case.params.get(name)?)).collect();
        let distinct: Option<BTreeSet<u64>> =
            values.map(|values| values.into_iter().map(f64::to_bits).collect());
        distinct.is_some_and(|distinct| distinct.len() >= FEWEST_POINTS)
    })?;
    let metric = headline(cases)?;
    let mut curves: Vec<(String, Curve, BTreeSet<&str>)> = Vec::new();
    let (mut places, mut marks, mut of) = (Vec::new(), Vec::new(), None);
    for case in cases {
        let value = case.params.get(axis)?;
        let at = place(value, seatrial_model::Unit::Count)?;
        places.push(at);
        let rest: Vec<String> = names
            .iter()
            .filter(|name| **name != axis)
            .filter_map(|name| Some(format!("{name}={}", case.params.get(name)?)))
            .collect();
        let key = format!("{:?}{rest:?}", (&case.nodes, case.subject.as_str()));
        let position = curves.iter().position(|(known, ..)| *known == key).unwrap_or_else(|| {
            let name = [node_names(&case.nodes), rest.join(" ")].join(" ");
            curves.push((key, Curve { name: name.trim().to_owned(), points: Vec::new() }, BTreeSet::new()));
            curves.len() - 1
        });
        let (_, curve, known) = &mut curves[position];
        known.insert(case.case.as_str());
        match case.metrics.get(metric) {
            Some(found) => {
                of = Some(found.unit);
                curve.points.push(Point {
                    x: at.0,
                    y: found.median,
                    band: found.ci95,
                    tip: text(&format!(
                        "{} · {axis} {value}: {}",
                        curve.name,
                        quantity(found.median, found.unit)
                    )),
                });
            }
            None => {
                let why = case.reason.as_deref().unwrap_or("without a number");
                marks.push(Mark::Failed(at.0, text(&format!("{axis} {value}: {why}"))));
            }
        }
    }
    curves.retain(|(_, curve, _)| curve.points.len() >= FEWEST_POINTS);
    if curves.is_empty() || curves.len() > MOST_CURVES {
        return None;
    }
    let known: BTreeSet<&str> = curves.iter().flat_map(|(_, _, known)| known.iter().copied()).collect();
    marks.extend(knees(shown, &known));
    marks.extend(shared(shown, &known, metric));
    let mut curves: Vec<Curve> = curves.into_iter().map(|(_, curve, _)| curve).collect();
    for curve in &mut curves {
        curve.points.sort_by(|one, other| one.x.total_cmp(&other.x));
    }
    if let [only] = curves.as_mut_slice() {
        only.name = String::new();
    }
    let name = axis_name(axis, first.params.get(axis)?);
    draw(&format!("{metric} over {axis}"), (&name, places.as_slice()), of?, curves, marks)
}

fn numeric(value: &Value) -> Option<f64> {
    place(value, seatrial_model::Unit::Count).map(|(at, _)| at)
}
