//! Sweeps as tables: the load in rows, another parameter in columns, one table per combination of the remaining
//! parameters.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Better, Bytes, Cause, Nanos, Outcome, Params, Subject, Unit, Value};

use super::load_sweep::{sweeps, varying, words};

#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub group: String,
    pub bench: String,
    pub nodes: Vec<String>,
    pub subject: Subject,
    /// The remaining parameters of the sweep, with their values in this table.
    pub fixed: Params,
    pub metric: String,
    pub unit: Unit,
    pub better: Better,
    /// The parameter of the rows, with its values sorted by size.
    pub down: (String, Vec<Value>),
    /// The parameter of the columns, likewise.
    pub across: (String, Vec<Value>),
    /// By row and column; combinations that were not planned are absent.
    pub cells: BTreeMap<(usize, usize), Cell>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    pub case: String,
    pub outcome: Outcome,
    pub cause: Option<Cause>,
    pub reason: Option<String>,
    pub value: Option<f64>,
    pub ci95: Option<(f64, f64)>,
}

impl Table {
    /// The best cell and its position, in a table of two numbers or more.
    pub fn peak(&self) -> Option<((usize, usize), &Cell)> {
        let sign = match self.better {
            Better::Higher => 1.0,
            Better::Lower => -1.0,
            Better::None => return None,
        };
        let with = self.cells.iter().filter_map(|(at, cell)| Some((*at, cell, sign * cell.value?)));
        let numbers: Vec<_> = with.collect();
        let best = numbers.iter().reduce(|best, next| if next.2 > best.2 { next } else { best })?;
        (numbers.len() > 1).then_some((best.0, best.1))
    }

    /// The cells of a row, from the smallest value of the columns on.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = (usize, &Cell)> {
        self.cells.range((row, 0)..(row + 1, 0)).map(|((_, column), cell)| (*column, cell))
    }

    /// `pattern=seq: `, or empty when there is one table.
    pub(super) fn name(&self) -> String {
        if self.fixed.is_empty() { String::new() } else { format!("{}: ", words(&self.fixed)) }
    }

    pub fn place(&self, case: &CaseRecord) -> Params {
        let names = [&self.down.0, &self.across.0];
        let own = names.iter().filter_map(|name| Some(((*name).clone(), case.params.get(name)?.clone())));
        own.collect()
    }
}

/// The sweeps of `records` over two parameters or more: a whole number is in the rows if one varies, else the parameter
/// with the most values, if every combination was planned and every case has a cell.
pub fn tables(records: &[CaseRecord]) -> Vec<Table> {
    let is_count = |case: &CaseRecord, name: &str| matches!(case.params.get(name), Some(Value::Count(_)));
    let of_one = |cases: &Vec<&CaseRecord>| match of_sweep(cases, &is_count) {
        counted if counted.is_empty() => {
            let all = of_sweep(cases, &|_, _| true);
            let is_full = |table: &Table| table.cells.len() == table.down.1.len() * table.across.1.len();
            let shown: usize = all.iter().map(|table| table.cells.len()).sum();
            if shown == cases.len() && all.iter().all(is_full) { all } else { Vec::new() }
        }
        counted => counted,
    };
    sweeps(records).iter().flat_map(of_one).collect()
}

/// The same; `is_load` tells which parameters may become rows.
pub(super) fn tables_by(records: &[CaseRecord], is_load: &dyn Fn(&CaseRecord, &str) -> bool) -> Vec<Table> {
    sweeps(records).iter().flat_map(|cases| of_sweep(cases, is_load)).collect()
}

fn of_sweep(cases: &[&CaseRecord], is_load: &dyn Fn(&CaseRecord, &str) -> bool) -> Vec<Table> {
    let varying = varying(cases);
    let most = |names: Vec<&str>| {
        let count = |name: &&str| values(cases, name).len();
        names.into_iter().rev().max_by_key(count).map(str::to_owned)
    };
    let loads = varying.iter().copied().filter(|name| cases.iter().all(|case| is_load(case, name)));
    let Some(down) = most(loads.collect()) else { return Vec::new() };
    let rest: Vec<&str> = varying.into_iter().filter(|name| *name != down).collect();
    let has_size = |name: &&str| cases.iter().all(|case| case.params.get(name).is_some_and(is_number));
    let sized: Vec<&str> = rest.iter().copied().filter(has_size).collect();
    let Some(across) = most(if sized.is_empty() { rest.clone() } else { sized }) else { return Vec::new() };
    let mut tables: Vec<Table> = Vec::new();
    let (downs, acrosses) = (values(cases, &down), values(cases, &across));
    let Some((metric, example)) = cases.iter().find_map(|case| case.headline()) else { return Vec::new() };
    for case in cases {
        let own = case.params.iter().filter(|(name, _)| rest.contains(name) && *name != across);
        let fixed: Params = own.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let at = |values: &[Value], name: &str| {
            values.iter().position(|value| Some(value) == case.params.get(name))
        };
        let (Some(row), Some(column)) = (at(&downs, &down), at(&acrosses, &across)) else { continue };
        let place = match tables.iter().position(|table| table.fixed == fixed) {
            Some(place) => place,
            None => {
                tables.push(Table {
                    group: case.group.clone(),
                    bench: case.bench.clone(),
                    nodes: case.nodes.clone(),
                    subject: case.subject.clone(),
                    fixed,
                    metric: metric.to_owned(),
                    unit: example.unit,
                    better: example.better,
                    down: (down.clone(), downs.clone()),
                    across: (across.clone(), acrosses.clone()),
                    cells: BTreeMap::new(),
                });
                tables.len() - 1
            }
        };
        let number = case.metrics.get(metric);
        let cell = Cell {
            case: case.case.to_string(),
            outcome: case.outcome,
            cause: case.cause,
            reason: case.reason.clone(),
            value: number.map(|metric| metric.median),
            ci95: number.and_then(|metric| metric.ci95),
        };
        tables[place].cells.insert((row, column), cell);
    }
    tables.iter_mut().for_each(Table::drop_empty_rows);
    tables
}

impl Table {
    /// Drops rows without a case in this table: a load that was only tried elsewhere, in the search for the highest
    /// load.
    fn drop_empty_rows(&mut self) {
        let kept: Vec<usize> =
            (0..self.down.1.len()).filter(|row| self.cells.keys().any(|(at, _)| at == row)).collect();
        let places: BTreeMap<usize, usize> = kept.iter().enumerate().map(|(new, old)| (*old, new)).collect();
        self.down.1 = kept.iter().map(|row| self.down.1[*row].clone()).collect();
        let cells = std::mem::take(&mut self.cells);
        self.cells = cells.into_iter().map(|((row, column), cell)| ((places[&row], column), cell)).collect();
    }
}

/// The values of a parameter in `cases`: numbers and sizes by size, words alphabetically.
fn values(cases: &[&CaseRecord], name: &str) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    for value in cases.iter().filter_map(|case| case.params.get(name)) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values.sort_by(|one, other| {
        let (one, other) = (rank(one), rank(other));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(one.2.cmp(&other.2))
    });
    values
}

/// Whether a value is a number, a size or a time.
pub(crate) fn is_number(value: &Value) -> bool {
    rank(value).0 < 2
}

/// Whether a value is a number of bytes with its unit.
pub(super) fn is_size(value: &Value) -> bool {
    matches!(value, Value::Text(text) if text.parse::<Bytes>().is_ok())
}

/// The sort key of values: numbers, then sizes and times, then words.
fn rank(value: &Value) -> (u8, f64, String) {
    match value {
        Value::Count(count) => (0, *count as f64, String::new()),
        Value::Number(number) => (0, *number, String::new()),
        Value::Flag(flag) => (2, 0.0, flag.to_string()),
        Value::Text(text) => match (text.parse::<Bytes>(), text.parse::<Nanos>()) {
            (Ok(bytes), _) => (1, bytes.get() as f64, String::new()),
            (_, Ok(nanos)) => (1, nanos.get() as f64, String::new()),
            _ => (2, 0.0, text.clone()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::{case, metric, no_limit};

    fn sweep(of: &[(&str, &str)]) -> Vec<CaseRecord> {
        let one = |(at, (send, affinity)): (usize, &(&str, &str))| {
            let mut case = case("n1", "n1->n2");
            case.params.set("send", *send);
            case.params.set("affinity", *affinity);
            let rate = 10.0 + at as f64;
            case.metrics.insert("throughput".to_owned(), metric(rate, (rate, rate), no_limit()));
            case
        };
        of.iter().enumerate().map(one).collect()
    }

    #[test]
    fn two_choices_make_a_table_of_which_every_cell_was_planned() {
        let all = [
            ("write", "none"),
            ("write", "auto"),
            ("sendfile", "none"),
            ("sendfile", "auto"),
            ("splice", "none"),
        ];
        assert_eq!(tables(&sweep(&all)), [], "one cell was never planned");
        let found = tables(&sweep(&all[..4]));
        let [table] = found.as_slice() else { panic!("{found:?}") };
        let words = |values: &[Value]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!((table.down.0.as_str(), table.across.0.as_str()), ("affinity", "send"));
        assert_eq!(
            (words(&table.down.1), words(&table.across.1)),
            (vec!["auto".to_owned(), "none".to_owned()], vec!["sendfile".to_owned(), "write".to_owned()])
        );
        assert_eq!(table.cells[&(0, 0)].value, Some(13.0), "sendfile, auto");
        assert_eq!(table.peak().map(|(at, _)| at), Some((0, 0)));
    }
}
