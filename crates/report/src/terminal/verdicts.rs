//! The judgements: the worst first, each with what was measured and what was wanted.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use seatrial_model::record::Document;
use seatrial_model::{Verdict, VerdictRecord};

use super::nodes::{is_fleet, shortfall};
use crate::grid::{self, Column};
use crate::notes::Notes;
use crate::number::{half_width, plain, signed_share};
use crate::words::{clean, verdict};

/// Beyond so many judgements those that are met are counted, not listed.
const MOST_ROWS: usize = 24;

pub fn block(document: &Document, notes: &mut Notes, width: u16) -> String {
    let mut records: Vec<&VerdictRecord> = document.verdicts.iter().collect();
    records.sort_by_key(|record| Reverse(record.verdict));
    let all = records.len();
    // How the nodes of a fleet came out stands in a table of its own.
    let is_fleet = is_fleet(document);
    if all > MOST_ROWS || is_fleet {
        records.retain(|record| {
            !matches!(record.verdict, Verdict::Pass | Verdict::Skip) || record.waiver.is_some()
        });
    }
    let met = all - records.len();
    if is_fleet && records.is_empty() {
        return String::new();
    }
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
    if met > 0 {
        more.insert(Reverse(Verdict::Pass), met);
    }
    let mut columns = columns(&records, is_fleet, notes);
    for (Reverse(verdict), hidden) in more {
        columns = with_hidden(columns, verdict, hidden);
    }
    if columns.is_empty() { String::new() } else { grid::fitted(&columns, width) }
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

fn columns(records: &[&VerdictRecord], is_fleet: bool, notes: &mut Notes) -> Vec<Column> {
    if records.is_empty() {
        return Vec::new();
    }
    let cells = |text: &dyn Fn(&VerdictRecord) -> String| {
        records.iter().map(|record| text(record)).collect::<Vec<_>>()
    };
    let differ = |cells: &[String]| cells.iter().any(|cell| *cell != cells[0]);
    let nodes = cells(&|record| clean(record.node.as_deref().unwrap_or_default()));
    let subjects = cells(&|record| clean(record.subject.as_str()));
    let mut columns = vec![
        Column::words("verdict", cells(&|record| verdict(record.verdict))),
        Column::words("criterion", cells(&|record| clean(&record.criterion))),
    ];
    if is_fleet || differ(&nodes) {
        columns.push(Column::words("node", nodes));
    }
    if differ(&subjects) {
        columns.push(Column::words("subject", subjects));
    }
    columns.push(Column::numbers("measured", cells(&measured)));
    columns.push(Column::words("wanted", cells(&|record| clean(&short(&record.bound)))));
    columns.push(Column::numbers(
        "margin",
        cells(&|record| record.margin_percent.map_or(String::new(), signed_share)),
    ));
    let mut why = |record: &&VerdictRecord| {
        let waiver = record.waiver.clone();
        let texts = [record.reason.clone(), waiver];
        texts.into_iter().flatten().map(|text| notes.refer(&text)).collect::<Vec<_>>().join(" ")
    };
    columns.push(Column::words("why", records.iter().map(&mut why).collect()));
    columns.retain(|column| !column.is_empty());
    columns
}

fn measured(record: &VerdictRecord) -> String {
    let Some(value) = record.measured else { return String::new() };
    let number = format!("{} {}", plain(value.value()), value.unit());
    let spread = record.interval.map(|(low, high)| half_width(value.value(), (low.value(), high.value())));
    [Some(number), spread].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The bound in signs, which are read at a glance.
fn short(bound: &str) -> String {
    let mut text = bound.to_owned();
    for (words, sign) in
        [("at least ", "≥ "), ("at most ", "≤ "), ("exactly ", "= "), (" % of the ", "% of ")]
    {
        text = text.replace(words, sign);
    }
    text
}
