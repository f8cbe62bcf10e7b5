//! Series of several sides over each other: one quantity over one axis, a curve of each side.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::record::{Axis, CaseRecord, SeriesRecord, SeriesRow};
use seatrial_model::{Params, Subject, Unit, Value, node_names};

use super::ComparedCases;
use crate::finding::is_number;
use crate::same::class_of;

/// Fewest values of a parameter for a curve.
const FEWEST_VALUES: usize = 3;

/// A quantity of a benchmark over one axis, as several sides measured it.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    pub bench: String,
    /// The series, or the headline metric of cases that differ in one parameter.
    pub name: String,
    /// Nodes, subject and parameters of the first curve.
    pub nodes: Vec<String>,
    pub subject: Subject,
    pub params: Params,
    /// The other axis of the series with the value that the curves have in common.
    pub at: Option<(String, Value)>,
    /// The position of a side, and its series over one axis.
    pub of_sides: Vec<(usize, SeriesRecord)>,
}

/// What makes the curves of two sides comparable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    bench: String,
    version: u32,
    nodes: String,
    subject: String,
    params: String,
    name: String,
    axis: String,
    at: String,
}

/// A case and the record that says what it measures.
type Asked<'a> = (&'a CaseRecord, &'a CaseRecord);

/// The curves that at least two sides have, in the order of the first side. Values of the parameters `apart` may
/// differ between the sides, see [`apart`](super::apart).
pub fn curves(sides: &[ComparedCases<'_>], apart: &BTreeSet<String>) -> Vec<Curves> {
    let is_of_one_node = |side: &ComparedCases<'_>| {
        side.cases.iter().flat_map(|case| &case.nodes).collect::<BTreeSet<_>>().len() == 1
    };
    let is_by_node = !sides.iter().all(is_of_one_node);
    let mut all: Vec<Curves> = Vec::new();
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    for (side, cases) in sides.iter().enumerate() {
        let questions = cases.questions();
        let asked: Vec<Asked<'_>> = cases.cases.iter().copied().zip(questions).collect();
        for (question, curve) in of_side(&asked) {
            let at = curve.at.as_ref().map_or(String::new(), |(name, value)| format!("{name}={value}"));
            let (_, series) = &curve.of_sides[0];
            let key = key(question, is_by_node, apart, (&curve.name, series, at));
            let place = *places.entry(key).or_insert(all.len());
            match all.get_mut(place) {
                Some(known) if known.of_sides.iter().all(|(other, _)| *other != side) => {
                    known.of_sides.extend(curve.of_sides.into_iter().map(|(_, series)| (side, series)));
                }
                // A repeat of the same case.
                Some(_) => {}
                None => all.push(Curves {
                    of_sides: curve.of_sides.into_iter().map(|(_, series)| (side, series)).collect(),
                    ..curve
                }),
            }
        }
    }
    all.retain(|curves| curves.of_sides.len() > 1);
    all
}

fn key(
    case: &CaseRecord,
    is_by_node: bool,
    apart: &BTreeSet<String>,
    (name, series, at): (&str, &SeriesRecord, String),
) -> Key {
    let axis = series.axes.first().map_or("", |axis| &axis.name);
    let params = case.params.iter().filter(|(name, _)| *name != axis && !apart.contains(*name));
    let params: Params = params.map(|(name, value)| (name.to_owned(), value.clone())).collect();
    Key {
        bench: case.bench.clone(),
        version: case.version,
        nodes: if is_by_node { node_names(&case.nodes) } else { String::new() },
        subject: class_of(case),
        params: params.to_string(),
        name: name.to_owned(),
        axis: axis.to_owned(),
        at,
    }
}

/// The curves of one side, as of side 0: of its series, and of cases that differ in one parameter.
fn of_side<'a>(asked: &[Asked<'a>]) -> Vec<(&'a CaseRecord, Curves)> {
    let mut found: Vec<(&CaseRecord, Curves)> = Vec::new();
    for (case, question) in asked {
        for (name, series) in &case.series {
            let pieces = pieces(series).into_iter().map(|(at, series)| curve(case, name, at, series));
            found.extend(pieces.map(|curve| (*question, curve)));
        }
    }
    found.extend(over_params(asked));
    found
}

fn curve(case: &CaseRecord, name: &str, at: Option<(String, Value)>, series: SeriesRecord) -> Curves {
    Curves {
        bench: case.bench.clone(),
        name: name.to_owned(),
        nodes: case.nodes.clone(),
        subject: case.subject.clone(),
        params: case.params.clone(),
        at,
        of_sides: vec![(0, series)],
    }
}

/// A series over one axis as it is; one over two axes by the values of the outer axis.
fn pieces(series: &SeriesRecord) -> Vec<(Option<(String, Value)>, SeriesRecord)> {
    match series.axes.as_slice() {
        [_] => vec![(None, series.clone())],
        [outer, inner] => {
            let mut values: Vec<&Value> = Vec::new();
            for value in series.rows.iter().filter_map(|row| row.at.get(&outer.name)) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            let rows = |value: &Value| {
                series.rows.iter().filter(|row| row.at.get(&outer.name) == Some(value)).cloned().collect()
            };
            let piece = |value: &Value| SeriesRecord {
                unit: series.unit,
                better: series.better,
                axes: vec![inner.clone()],
                rows: rows(value),
                column: None,
            };
            values
                .into_iter()
                .map(|value| (Some((outer.name.clone(), value.clone())), piece(value)))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Headline metrics over the parameter with most numbers, of each benchmark.
fn over_params<'a>(asked: &[Asked<'a>]) -> Vec<(&'a CaseRecord, Curves)> {
    let mut found: Vec<(&CaseRecord, Curves)> = Vec::new();
    let benches: BTreeSet<&str> = asked.iter().map(|(case, _)| case.bench.as_str()).collect();
    for bench in benches {
        let own = || asked.iter().filter(|(case, _)| case.bench == bench);
        let Some(axis) = axis(own().map(|(case, _)| *case)) else { continue };
        let mut places: BTreeMap<[String; 4], usize> = BTreeMap::new();
        for (case, question) in own() {
            let Some((name, metric)) = case.headline() else { continue };
            let Some(value) = question.params.get(&axis) else { continue };
            let row = SeriesRow {
                at: [(axis.clone(), value.clone())].into_iter().collect(),
                summary: metric.summary(),
            };
            let mut rest = question.params.clone();
            rest.remove(&axis);
            let key = [
                node_names(&question.nodes),
                question.subject.to_string(),
                rest.to_string(),
                name.to_owned(),
            ];
            let place = *places.entry(key).or_insert(found.len());
            if let Some((_, curve)) = found.get_mut(place) {
                curve.of_sides[0].1.rows.push(row);
                continue;
            }
            let series = SeriesRecord {
                unit: metric.unit,
                better: metric.better,
                axes: vec![Axis { name: axis.clone(), unit: Unit::Count }],
                rows: vec![row],
                column: None,
            };
            let mut curve = curve(case, name, None, series);
            curve.params.remove(&axis);
            found.push((question, curve));
        }
    }
    found.retain(|(_, curve)| curve.of_sides[0].1.rows.len() >= FEWEST_VALUES);
    found
}

/// The parameter with the most values, all of which are numbers, sizes or times.
fn axis<'a>(cases: impl Iterator<Item = &'a CaseRecord>) -> Option<String> {
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut words: BTreeSet<&str> = BTreeSet::new();
    for (name, value) in cases.flat_map(|case| case.params.iter()) {
        values.entry(name).or_default().insert(value.to_string());
        if !is_number(value) {
            words.insert(name);
        }
    }
    values.retain(|name, values| !words.contains(name) && values.len() >= FEWEST_VALUES);
    values.into_iter().max_by_key(|(_, values)| values.len()).map(|(name, _)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::apart;
    use crate::judge::fixture::{measured, params, summary};

    fn by_size(mtu: &str, medians: [f64; 3]) -> CaseRecord {
        let mut case = measured("n1");
        case.params = params(&[("mtu", mtu), ("transport", "tcp")]);
        let row = |(size, median): (&str, f64)| SeriesRow {
            at: params(&[("size", size)]),
            summary: summary(median, None),
        };
        let series = SeriesRecord {
            unit: Unit::GigabitsPerSecond,
            better: seatrial_model::Better::Higher,
            axes: vec![Axis { name: "size".to_owned(), unit: Unit::Byte }],
            rows: ["1 KiB", "2 KiB", "4 KiB"].into_iter().zip(medians).map(row).collect(),
            column: None,
        };
        case.series.insert("by_size".to_owned(), series);
        case
    }

    fn medians(series: &SeriesRecord) -> Vec<f64> {
        series.rows.iter().map(|row| row.summary.median).collect()
    }

    #[test]
    fn series_of_runs_that_differ_in_one_parameter_are_one_plot_with_that_parameter_as_legend() {
        let runs = [("1500", 1.0), ("6000", 2.0), ("9000", 3.0)]
            .map(|(mtu, rate)| [by_size(mtu, [rate, 2.0 * rate, 4.0 * rate])]);
        let sides: Vec<_> = runs.iter().map(|run| ComparedCases::all(run)).collect();
        let apart = apart(&sides, &[]);
        let legend: Vec<String> = ["mtu=1500", "mtu=6000", "mtu=9000"].map(str::to_owned).to_vec();
        assert_eq!(apart.texts, Some(legend));
        let found = curves(&sides, &apart.params);
        let [by_size] = found.as_slice() else { panic!("{found:#?}") };
        assert_eq!(by_size.name, "by_size");
        let drawn: Vec<_> = by_size.of_sides.iter().map(|(side, series)| (*side, medians(series))).collect();
        assert_eq!(drawn, [(0, vec![1.0, 2.0, 4.0]), (1, vec![2.0, 4.0, 8.0]), (2, vec![3.0, 6.0, 12.0])]);
    }

    #[test]
    fn cases_swept_over_a_parameter_are_a_curve_of_the_headline_metric() {
        let run = |node: &str, scale: f64| {
            let case = |threads: u64| {
                let mut case = measured(node);
                case.params.set("threads", threads);
                if let Some(metric) = case.metrics.get_mut("bandwidth") {
                    metric.median = scale * threads as f64;
                }
                case
            };
            [1, 2, 4].map(case)
        };
        let (a, b) = (run("n1", 10.0), run("n2", 20.0));
        let found = curves(&[ComparedCases::all(&a), ComparedCases::all(&b)], &BTreeSet::new());
        let [over_threads] = found.as_slice() else { panic!("{found:#?}") };
        assert_eq!((over_threads.name.as_str(), over_threads.params.is_empty()), ("bandwidth", true));
        let (side, series) = &over_threads.of_sides[1];
        assert_eq!(
            (*side, series.axes[0].name.as_str(), medians(series)),
            (1, "threads", vec![20.0, 40.0, 80.0])
        );
        let one = curves(&[ComparedCases::all(&a)], &BTreeSet::new());
        assert!(one.is_empty(), "one side has nothing to lie over");
    }

    #[test]
    fn a_series_over_two_axes_is_a_plot_for_each_value_of_the_outer_axis() {
        let mut case = by_size("1500", [1.0, 2.0, 4.0]);
        if let Some(series) = case.series.get_mut("by_size") {
            series.axes.insert(0, Axis { name: "operation".to_owned(), unit: Unit::Count });
            let mut reads = series.rows.clone();
            series.rows.iter_mut().for_each(|row| row.at.set("operation", "write"));
            reads.iter_mut().for_each(|row| row.at.set("operation", "read"));
            series.rows.extend(reads);
        }
        let run = [case];
        let found = curves(&[ComparedCases::all(&run), ComparedCases::all(&run)], &BTreeSet::new());
        let at: Vec<String> =
            found.iter().filter_map(|curves| Some(curves.at.as_ref()?.1.to_string())).collect();
        assert_eq!(at, ["write", "read"]);
        assert!(found.iter().all(|curves| curves.of_sides.iter().all(|(_, series)| series.rows.len() == 3)));
    }
}
