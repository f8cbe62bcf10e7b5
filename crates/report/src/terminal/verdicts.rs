//! The judgements: the worst first, each with what was measured and what was wanted; what is met, in a line a criterion.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use seatrial_model::record::Document;
use seatrial_model::{Verdict, VerdictRecord};

use super::nodes::{is_fleet, shortfall};
use crate::criteria::{Places, criteria, measured, short};
use crate::grid::{self, Column};
use crate::notes::Notes;
use crate::number::signed_share;
use crate::words::{clean, verdict};

/// Beyond so many judgements those that are met are folded by criterion; and so many rows of either sort are shown.
const MOST_ROWS: usize = 24;

/// A row: a judgement, or what is met of a criterion.
struct Row<'a> {
    record: &'a VerdictRecord,
    place: String,
    /// `6 of 6`, of a criterion.
    met: String,
}

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
    let open: Vec<Row<'_>> = records
        .into_iter()
        .map(|record| Row { record, place: places.place(record), met: String::new() })
        .collect();
    let met = criteria(document, &places, |record| is_met(record) && record.verdict == Verdict::Pass);
    let folded: Vec<Row<'_>> = met
        .iter()
        .take(MOST_ROWS)
        .map(|criterion| Row {
            record: criterion.worst,
            place: criterion.worst_place(&places),
            met: format!("{} of {}", criterion.met, criterion.all),
        })
        .collect();
    let skipped = document.verdicts.iter().filter(|record| is_met(record) && record.verdict == Verdict::Skip);
    let hidden = [(Verdict::Pass, met.len() - folded.len()), (Verdict::Skip, skipped.count())];
    let hidden = hidden.into_iter().filter(|(_, number)| *number > 0);
    let tables = [
        table(&open, more.into_iter().map(|(Reverse(verdict), number)| (verdict, number)), is_fleet, notes),
        table(&folded, hidden, is_fleet, notes),
    ];
    let shown = tables.iter().filter(|columns| !columns.is_empty());
    shown.map(|columns| grid::fitted(columns, width)).collect::<Vec<_>>().join("\n")
}

/// The rows as columns, and behind them how many there are more.
fn table(
    rows: &[Row<'_>],
    more: impl Iterator<Item = (Verdict, usize)>,
    is_fleet: bool,
    notes: &mut Notes,
) -> Vec<Column> {
    more.fold(columns(rows, is_fleet, notes), |columns, (verdict, hidden)| {
        with_hidden(columns, verdict, hidden)
    })
}

/// A last row for judgements that are not listed.
fn with_hidden(mut columns: Vec<Column>, of: Verdict, hidden: usize) -> Vec<Column> {
    if columns.is_empty() {
        columns = vec![Column::words("verdict", Vec::new()), Column::words("criterion", Vec::new())];
    }
    for (position, column) in columns.iter_mut().enumerate() {
        column.push(match position {
            0 => verdict(of),
            1 => format!("{hidden} more"),
            _ => String::new(),
        });
    }
    columns
}

fn columns(rows: &[Row<'_>], is_fleet: bool, notes: &mut Notes) -> Vec<Column> {
    if rows.is_empty() {
        return Vec::new();
    }
    let cells = |text: &dyn Fn(&Row<'_>) -> String| rows.iter().map(text).collect::<Vec<_>>();
    let places = cells(&|row| row.place.clone());
    let mut columns = vec![
        Column::words("verdict", cells(&|row| verdict(row.record.verdict))),
        Column::words("criterion", cells(&|row| clean(&row.record.criterion))),
        Column::numbers("met", cells(&|row| row.met.clone())),
    ];
    if is_fleet || places.iter().any(|place| *place != places[0]) {
        columns.push(Column::words(if is_fleet { "on" } else { "subject" }, places));
    }
    columns.push(Column::numbers("measured", cells(&|row| measured(row.record))));
    columns.push(Column::words("wanted", cells(&|row| clean(&short(&row.record.bound)))));
    columns.push(Column::numbers(
        "margin",
        cells(&|row| row.record.margin_percent.map_or(String::new(), signed_share)),
    ));
    let mut why = |row: &Row<'_>| {
        let texts = [&row.record.reason, &row.record.waiver];
        texts.into_iter().flatten().map(|text| notes.refer(text)).collect::<Vec<_>>().join(" ")
    };
    columns.push(Column::words("why", rows.iter().map(&mut why).collect()));
    columns.retain(|column| !column.is_empty());
    columns
}
