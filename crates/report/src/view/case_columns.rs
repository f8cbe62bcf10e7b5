//! The series of cases that differ in one parameter as one table: a row per place on their axis, a column per case, and what
//! each case differs by from the one on its left.

use std::collections::BTreeSet;

use seatrial_model::record::{CaseRecord, SeriesRecord};
use seatrial_model::{Better, Bytes, Unit, Value, node_names};

use super::series::axis_title;
use super::table::{Builder, Cell, Column, Table};
use crate::number::{change, decimals};

/// With fewer places a row per case is clearer.
const FEWEST_PLACES: usize = 25;

const MOST_CASES: usize = 4;

const MOST_ROWS: usize = 16;

/// Cases of one test on the same nodes whose series stand beside each other.
pub struct CaseColumns<'a> {
    cases: Vec<&'a CaseRecord>,
    /// The parameter in which they differ.
    parameter: String,
    /// Names of the series, those in which less is better first.
    series: Vec<&'a str>,
}

/// The tables that the series of `cases` make.
pub fn of<'a>(cases: &[&'a CaseRecord]) -> Vec<CaseColumns<'a>> {
    let mut groups: Vec<Vec<&CaseRecord>> = Vec::new();
    for case in cases.iter().copied().filter(|case| !case.series.is_empty()) {
        match groups.iter_mut().find(|group| group[0].nodes == case.nodes && group[0].group == case.group) {
            Some(group) => group.push(case),
            None => groups.push(vec![case]),
        }
    }
    groups.into_iter().filter_map(CaseColumns::of).collect()
}

impl<'a> CaseColumns<'a> {
    fn of(cases: Vec<&'a CaseRecord>) -> Option<Self> {
        if !(2..=MOST_CASES).contains(&cases.len()) {
            return None;
        }
        let first = cases[0];
        let differ = |name: &&str| cases.iter().any(|case| case.params.get(name) != first.params.get(name));
        let names: BTreeSet<&str> =
            cases.iter().flat_map(|case| case.params.iter()).map(|(name, _)| name).collect();
        let mut different = names.into_iter().filter(differ);
        let parameter = different.next().filter(|_| different.next().is_none())?;
        let of_all = |(name, series): &(&'a String, &SeriesRecord)| {
            series.axes.len() == 1
                && series.rows.len() >= FEWEST_PLACES
                && cases.iter().all(|case| {
                    case.series.get(*name).is_some_and(|own| own.axes == series.axes && own.column.is_none())
                })
        };
        let mut series: Vec<_> = first.series.iter().filter(of_all).collect();
        let (_, leading) = series.first().copied()?;
        series.retain(|(_, other)| other.axes == leading.axes);
        series.sort_by_key(|(_, series)| series.better != Better::Lower);
        let series = series.into_iter().map(|(name, _)| name.as_str()).collect();
        Some(Self { parameter: parameter.to_owned(), cases, series })
    }

    /// Whether the table has this series of this case.
    pub fn has(&self, case: &CaseRecord, series: &str) -> bool {
        self.series.contains(&series) && self.cases.iter().any(|own| own.case == case.case)
    }

    pub fn table(&self) -> Table {
        let of = |case: &'a CaseRecord, name: &str| &case.series[name];
        let axis = &of(self.cases[0], self.series[0]).axes[0];
        let (places, left_out) = rows(of(self.cases[0], self.series[0]), &axis.name, axis.unit);
        let names = self.series.join(" and ");
        let title = format!("{names} by {} · over {}", self.parameter, axis_title(axis));
        let place = |place: &&Value| Cell::from(place.to_string());
        let mut table = Builder::new(title, &places).column(Column::numbers(&axis.name).label(), place);
        for name in &self.series {
            let first = of(self.cases[0], name);
            let median = |case: &CaseRecord, place: &Value| {
                let is_there = |at: &Value| at == place;
                let rows = &case.series[*name].rows;
                let row = rows.iter().find(|row| row.at.get(&axis.name).is_some_and(is_there))?;
                Some(row.summary.median)
            };
            let all = self.cases.iter().flat_map(|case| &case.series[*name].rows);
            let decimals = decimals(all.map(|row| row.summary.median)).min(4);
            let mut before: Option<&CaseRecord> = None;
            for case in self.cases.iter().copied() {
                let own = case.params.get(&self.parameter).map_or(String::new(), Value::to_string);
                table = table.column(Column::quantities(&own, Some(first.unit)), |place| {
                    Cell::number(median(case, place), decimals)
                });
                let Some(left) = before.replace(case) else { continue };
                let both = |place: &Value| Some((median(left, place)?, median(case, place)?));
                let other = left.params.get(&self.parameter).map_or(String::new(), Value::to_string);
                table = if first.better == Better::Lower {
                    let title = format!("{own} - {other}");
                    table.column(Column::quantities(title, Some(first.unit)), |place| {
                        both(place).map(|(left, own)| format!("{:+.decimals$}", own - left))
                    })
                } else {
                    table.numbers(&format!("{own} vs {other}"), |place| {
                        let ratio = both(place).filter(|(left, _)| *left > 0.0);
                        ratio.map(|(left, own)| signed(own / left))
                    })
                };
            }
        }
        let mut remarks = vec![format!("medians of {}", node_names(&self.cases[0].nodes))];
        remarks.extend(left_out);
        Table { pieces: usize::MAX, remarks, forms: "CSV and JSON forms", ..table.finish() }
    }
}

/// A ratio as a change in percent, from twice on as a multiple.
fn signed(ratio: f64) -> String {
    match 100.0 * (ratio - 1.0) {
        _ if ratio >= 2.0 => format!("{ratio:.1}x"),
        percent if percent.abs() < 0.05 => "0%".to_owned(),
        percent => change(percent),
    }
}

/// Places at equal distances, of sizes the powers of two; a remark on what is left out.
fn rows<'a>(series: &'a SeriesRecord, axis: &str, unit: Unit) -> (Vec<&'a Value>, Option<String>) {
    let all: Vec<&Value> = series.rows.iter().filter_map(|row| row.at.get(axis)).collect();
    let is_power = |place: &&&Value| bytes(place).is_some_and(u64::is_power_of_two);
    let powers: Vec<&Value> =
        if unit == Unit::Byte { all.iter().filter(is_power).copied().collect() } else { Vec::new() };
    let chosen = if powers.len() >= MOST_ROWS / 2 { powers } else { all.clone() };
    let every = chosen.len().div_ceil(MOST_ROWS);
    let chosen: Vec<&Value> = chosen.into_iter().step_by(every).collect();
    let is_whole = chosen.len() == all.len();
    let remark = format!("{} of {} places; all are in the CSV and JSON forms", chosen.len(), all.len());
    (chosen, (!is_whole).then_some(remark))
}

fn bytes(place: &Value) -> Option<u64> {
    match place {
        Value::Count(count) => Some(*count),
        Value::Text(text) => text.parse::<Bytes>().ok().map(Bytes::get),
        Value::Number(_) | Value::Flag(_) => None,
    }
}
