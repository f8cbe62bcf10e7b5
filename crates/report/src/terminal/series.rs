//! Series below their cases: over one axis a row per case, or of cases that differ in one parameter a column per case; over two
//! axes a matrix per case, over more a list.

use std::collections::BTreeSet;

use seatrial_model::record::{CaseRecord, SeriesRecord, SeriesRow};

use super::table;
use crate::ink::Ink;
use crate::notes::Notes;
use crate::view::case_columns::{self, CaseColumns};
use crate::view::series::{list, matrix, over_one_axis, shared, title};
use crate::view::table::Table;
use crate::words::{clean, count};

/// Series of more cases are left out: they would bury the table above.
const MOST_CASES: usize = 24;

/// Which series are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Series {
    All,
    /// Of cases that have a table of several series, only this table.
    Shared,
}

pub fn text(cases: &[&CaseRecord], which: Series, width: u16) -> String {
    let mut text = String::new();
    let is_few = cases.len() <= MOST_CASES;
    let mut with_table: BTreeSet<&str> = BTreeSet::new();
    for (case, table) in cases.iter().filter(|_| is_few).filter_map(|case| Some((*case, shared(case)?))) {
        with_table.insert(case.case.as_str());
        text += &format!("\n{}\n", Ink::Strong.on(&clean(&table.title)));
        text += &named(case, cases.len() == 1);
        let untitled = Table { title: String::new(), ..table };
        text += &table::text(untitled, usize::MAX, &mut Notes::default(), width);
    }
    let beside = if is_few { case_columns::of(cases) } else { Vec::new() };
    for table in beside.iter().map(CaseColumns::table) {
        text += &format!("\n{}", table::text(table, usize::MAX, &mut Notes::default(), width));
    }
    let is_alone = |case: &CaseRecord, name: &str, series: &SeriesRecord| {
        let is_beside = beside.iter().any(|columns| columns.has(case, name));
        let is_free =
            !with_table.contains(case.case.as_str()) || (which == Series::All && series.column.is_none());
        is_free && !is_beside
    };
    let alone = |case: &&CaseRecord| {
        let of = case.series.iter().filter(|(name, series)| is_alone(case, name, series));
        of.map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    let names: BTreeSet<String> = cases.iter().flat_map(alone).collect();
    for name in &names {
        let with = cases.iter().filter_map(|case| Some((*case, case.series.get(name)?)));
        let with: Vec<_> = with.filter(|(case, series)| is_alone(case, name, series)).collect();
        let Some((_, first)) = with.first() else { continue };
        text += &format!("\n{}\n", Ink::Strong.on(&clean(&title(name, first, &first.axes))));
        if with.len() > MOST_CASES {
            text += &format!(" {}, in the CSV and JSON forms\n", count(with.len(), "case"));
        } else if first.axes.len() == 1 {
            let table = Table { title: String::new(), ..over_one_axis(name, &with) };
            text += &named(with[0].0, cases.len() == 1 || with.len() > 1);
            text += &untitled(table, width);
        } else {
            let of = |(case, series): &(&CaseRecord, &SeriesRecord)| {
                named(case, cases.len() == 1) + &untitled(of_case(series), width)
            };
            text.extend(with.iter().map(of));
        }
    }
    text
}

/// A series of one case over several axes.
fn of_case(series: &SeriesRecord) -> Table {
    let rows: Vec<&SeriesRow> = series.rows.iter().collect();
    match series.axes.as_slice() {
        [down, across] => matrix(String::new(), series, (down, across), &rows).table(),
        axes => list("", series, axes, &rows),
    }
}

fn untitled(mut table: Table, width: u16) -> String {
    table.columns.iter_mut().for_each(|column| column.unit = None);
    table::text(table, usize::MAX, &mut Notes::default(), width)
}

/// The case, unless it is named already.
fn named(case: &CaseRecord, is_told: bool) -> String {
    if is_told { String::new() } else { format!(" {}\n", clean(case.case.as_str())) }
}
