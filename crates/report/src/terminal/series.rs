//! Series below their cases: over one axis a row per case, over two a matrix per case, over more a list.

use std::collections::BTreeSet;

use seatrial_model::record::{CaseRecord, SeriesRecord, SeriesRow};

use super::table;
use crate::ink::Ink;
use crate::notes::Notes;
use crate::view::series::{list, matrix, over_one_axis, title};
use crate::view::table::Table;
use crate::words::{clean, count};

/// Series of more cases are left out: they would bury the table above.
const MOST_CASES: usize = 24;

pub fn text(cases: &[&CaseRecord], width: u16) -> String {
    let names: BTreeSet<&String> = cases.iter().flat_map(|case| case.series.keys()).collect();
    let mut text = String::new();
    for name in names {
        let with: Vec<_> = cases.iter().filter_map(|case| Some((*case, case.series.get(name)?))).collect();
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
