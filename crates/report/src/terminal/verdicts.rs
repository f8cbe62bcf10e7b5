//! The verdicts: the worst first, each with the measured value and the bound; those that are met, one line per
//! criterion.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use seatrial_model::record::Document;
use seatrial_model::{Verdict, VerdictRecord};

use super::table;
use crate::notes::Notes;
use crate::view::criteria::{Judgement, MEASURED, Places, WANTED, criteria, table as view};
use crate::view::nodes::{is_fleet, shortfall};
use crate::view::table::{Cell, Table};

/// With more verdicts those that are met are folded by criterion; the limit of rows of either kind.
const MOST_ROWS: usize = 24;

pub fn block(document: &Document, notes: &mut Notes, width: u16) -> String {
    let places = Places::of(document);
    let is_fleet = is_fleet(document);
    let is_folded = is_fleet || document.verdicts.len() > MOST_ROWS;
    let is_met = |record: &VerdictRecord| {
        is_folded && matches!(record.verdict, Verdict::Pass | Verdict::Skip) && record.waiver.is_none()
    };
    let mut records: Vec<&VerdictRecord> =
        document.verdicts.iter().filter(|record| !is_met(record)).collect();
    records.sort_by_key(|record| Reverse(record.verdict));
    let mut more: BTreeMap<Reverse<Verdict>, usize> = BTreeMap::new();
    if is_fleet && records.len() > MOST_ROWS {
        records.sort_by_key(|record| (Reverse(record.verdict), shortfall(record)));
        // A waiver is always shown.
        let (shown, hidden): (Vec<_>, Vec<_>) =
            records.iter().enumerate().partition(|(at, record)| *at < MOST_ROWS || record.waiver.is_some());
        for (_, record) in hidden {
            *more.entry(Reverse(record.verdict)).or_default() += 1;
        }
        records = shown.into_iter().map(|(_, record)| *record).collect();
    }
    let open: Vec<Judgement<'_>> = records
        .into_iter()
        .map(|record| Judgement { record, place: places.place(record), met: Cell::default(), unknown: 0 })
        .collect();
    let met = criteria(document, &places, |record| is_met(record) && record.verdict == Verdict::Pass);
    let folded: Vec<Judgement<'_>> =
        met.iter().take(MOST_ROWS).map(|criterion| criterion.row(&places)).collect();
    let skipped = document.verdicts.iter().filter(|record| is_met(record) && record.verdict == Verdict::Skip);
    let hidden = [(Verdict::Pass, met.len() - folded.len()), (Verdict::Skip, skipped.count())];
    let hidden = hidden.into_iter().filter(|(_, number)| *number > 0);
    let more = more.into_iter().map(|(Reverse(verdict), number)| (verdict, number));
    let texts = [text(&open, more, is_fleet, notes, width), text(&folded, hidden, is_fleet, notes, width)];
    texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n") + &notes.flush(width)
}

/// The rows, followed by the number of those left out.
fn text(
    rows: &[Judgement<'_>],
    more: impl Iterator<Item = (Verdict, usize)>,
    is_fleet: bool,
    notes: &mut Notes,
    width: u16,
) -> String {
    let mut table = view("", rows, is_fleet, is_fleet);
    more.for_each(|(verdict, hidden)| table.push_hidden(verdict, hidden));
    table::text(shortened(table, width), usize::MAX, notes, width)
}

/// The table with shorter bounds, then without intervals, where it is wider than `width`: shares of the limit and
/// intervals stand in the tables of numbers.
pub fn shortened(mut table: Table, width: u16) -> Table {
    for (column, short) in [(WANTED, amount as fn(&str) -> String), (MEASURED, without_interval)] {
        if !table::fits(&table, width) {
            shorten(short, column, &mut table);
        }
    }
    table
}

/// Shortens the cells of `column`.
fn shorten(short: impl Fn(&str) -> String, column: &str, table: &mut Table) {
    let column = table.columns.iter().position(|known| known.title == column);
    for cell in table.rows.iter_mut().filter_map(|row| row.cells.get_mut(column?)) {
        cell.text = short(&cell.text);
    }
}

/// `≥ 169 GB/s` for `≥ 55% of limit (169 GB/s)`.
fn amount(bound: &str) -> String {
    let short = || {
        let (sign, rest) = bound.split_once(' ')?;
        let (_, amount) = rest.split_once(" (")?;
        Some(format!("{sign} {}", amount.strip_suffix(')')?))
    };
    short().unwrap_or_else(|| bound.to_owned())
}

fn without_interval(measured: &str) -> String {
    measured.split_once(" ±").map_or(measured, |(value, _)| value).to_owned()
}
