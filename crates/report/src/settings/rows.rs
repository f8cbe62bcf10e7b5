//! The table of an audit: what each setting is and what is wanted of it. Nodes that agree share a row.

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use seatrial_model::setting::{AuditedSetting, Present, SettingsDocument, Wanted};
use seatrial_model::{Verdict, VerdictRecord};

use crate::grid::{self, Column};
use crate::ink::Ink;
use crate::notes::Notes;
use crate::words::{Badge, clean, ink};

/// Beyond so many rows those that are as wanted are counted, not listed.
const MOST_ROWS: usize = 24;

/// What a row says, but for the nodes it says it of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Row {
    verdict: Option<Verdict>,
    setting: String,
    subject: String,
    present: String,
    wanted: String,
    by: String,
    notes: Vec<String>,
    /// What is waived is always shown.
    is_waived: bool,
}

impl Row {
    /// The setting, and the subject where it is not the whole node: `nic.mtu eth0`.
    fn name(&self) -> String {
        let of_node = self.subject.is_empty() || self.subject == "node";
        let own = self.subject.strip_prefix("nic:").unwrap_or(&self.subject);
        if of_node { self.setting.clone() } else { format!("{} {own}", self.setting) }
    }
}

pub fn table(document: &SettingsDocument, notes: &mut Notes, width: u16) -> String {
    let is_judged = document.profile.is_some();
    let mut rows = merged(rows(document, is_judged));
    // What one node has otherwise stands beside what the others have.
    let all_ids: Vec<String> = rows.iter().map(|(row, _)| row.setting.clone()).collect();
    rows.sort_by_cached_key(|(row, _)| all_ids.iter().position(|id| *id == row.setting));
    if is_judged {
        rows.sort_by_key(|(row, _)| std::cmp::Reverse(row.verdict));
    }
    let all = rows.len();
    if is_judged && all > MOST_ROWS {
        rows.retain(|(row, _)| row.verdict != Some(Verdict::Pass) || row.is_waived);
    }
    let hidden = all - rows.len();
    let mut columns = columns(&rows, document, notes);
    if hidden > 0 {
        for (position, column) in columns.iter_mut().enumerate() {
            column.push(match position {
                0 => Badge::from(Verdict::Pass).marked(),
                1 => format!("{hidden} more"),
                _ => String::new(),
            });
        }
    }
    columns.retain(|column| !column.is_empty());
    grid::fitted(&columns, width)
}

fn columns(rows: &[(Row, Vec<&str>)], document: &SettingsDocument, notes: &mut Notes) -> Vec<Column> {
    let cells = |text: &dyn Fn(&Row) -> String| rows.iter().map(|(row, _)| text(row)).collect::<Vec<_>>();
    let differ = rows.iter().any(|(_, nodes)| nodes.len() != document.nodes.len());
    let mut columns = vec![
        Column::words(
            "verdict",
            cells(&|row| row.verdict.map_or_else(String::new, |verdict| Badge::from(verdict).marked())),
        ),
        Column::words("setting", cells(&Row::name)).unbroken(),
    ];
    if differ {
        columns
            .push(Column::words("node", rows.iter().map(|(_, nodes)| super::nodes(nodes.clone())).collect()));
    }
    columns.push(Column::words("present", cells(&|row| row.present.clone())));
    columns.push(Column::words("wanted", cells(&|row| row.wanted.clone())));
    columns.push(Column::words("by", cells(&|row| row.by.clone())).unbroken());
    let references = rows
        .iter()
        .map(|(row, _)| row.notes.iter().map(|note| notes.refer(note)).collect::<Vec<_>>().join(" "));
    columns.push(Column::words("why", references.collect()));
    columns
}

/// A row a judgement, also those that found nothing to judge; without a profile, a row a reading.
fn rows(document: &SettingsDocument, is_judged: bool) -> Vec<(Row, &str)> {
    let mut rows = Vec::new();
    let mut told: BTreeSet<(&str, &str, &str)> = BTreeSet::new();
    for setting in &document.settings {
        if is_judged {
            told.extend(setting.wanted.first().map(|_| key(setting)));
            rows.extend((0..setting.wanted.len()).map(|want| (judged(setting, want), setting.node.as_str())));
        } else {
            rows.push((read(setting), setting.node.as_str()));
        }
    }
    let is_new = |record: &&VerdictRecord| {
        let node = record.node.as_deref().unwrap_or_default();
        !told.contains(&(record.criterion.as_str(), node, record.subject.as_str()))
    };
    let without_subject = document.verdicts.iter().filter(is_new);
    rows.extend(without_subject.map(|record| (empty(record), record.node.as_deref().unwrap_or_default())));
    rows
}

fn key(setting: &AuditedSetting) -> (&str, &str, &str) {
    (setting.reading.setting.as_str(), setting.node.as_str(), setting.reading.subject.as_str())
}

/// Rows that say the same, once, with the nodes they say it of.
fn merged(rows: Vec<(Row, &str)>) -> Vec<(Row, Vec<&str>)> {
    let mut places: HashMap<Row, usize> = HashMap::new();
    let mut merged: Vec<(Row, Vec<&str>)> = Vec::new();
    for (row, node) in rows {
        match places.entry(row) {
            Entry::Occupied(place) => merged[*place.get()].1.push(node),
            Entry::Vacant(place) => {
                merged.push((place.key().clone(), vec![node]));
                place.insert(merged.len() - 1);
            }
        }
    }
    merged
}

/// One demand of the profile on one reading.
fn judged(setting: &AuditedSetting, want: usize) -> Row {
    let want = &setting.wanted[want];
    let mut row = Row {
        verdict: Some(want.verdict),
        wanted: short(&want.bound),
        by: String::new(),
        is_waived: want.waiver.is_some(),
        ..read(setting)
    };
    row.notes.extend(want.why.as_ref().map(|why| format!("wanted: {why}")));
    // What a fail says is told below the table, with the way to mend it.
    if want.verdict == Verdict::Unknown && setting.reading.present.why().is_none() {
        row.notes.extend(want.reason.clone());
    }
    row.notes.extend(want.waiver.clone());
    row
}

/// A reading with what profiles want of it, in one cell.
fn read(setting: &AuditedSetting) -> Row {
    let reading = &setting.reading;
    let present = match &reading.present {
        Present::Value(value) => clean(&value.to_string()),
        Present::Absent(_) => Ink::Faint.on("not here"),
        Present::Unreadable(_) => Ink::Doubt.on("not readable"),
    };
    let mark = |want: &Wanted| {
        let mark = ink(want.verdict).on(&Badge::from(want.verdict).sign.to_string());
        format!("{mark} {}", short(&want.bound))
    };
    let by = |want: &Wanted| clean(&want.profile);
    let notes = reading.present.why().map(str::to_owned).into_iter().chain(reading.note.clone());
    Row {
        verdict: None,
        setting: clean(&reading.setting),
        subject: clean(reading.subject.as_str()),
        present,
        wanted: setting.wanted.iter().map(mark).collect::<Vec<_>>().join("\n"),
        by: setting.wanted.iter().map(by).collect::<Vec<_>>().join("\n"),
        notes: notes.collect(),
        is_waived: false,
    }
}

/// A demand that found nothing to judge.
fn empty(record: &VerdictRecord) -> Row {
    Row {
        verdict: Some(record.verdict),
        setting: clean(&record.criterion),
        subject: String::new(),
        present: String::new(),
        wanted: short(&record.bound),
        by: String::new(),
        notes: record.reason.iter().chain(&record.waiver).cloned().collect(),
        is_waived: record.waiver.is_some(),
    }
}

/// The bound in signs, which are read at a glance.
fn short(bound: &str) -> String {
    let mut text = clean(bound);
    for (words, sign) in [("at least ", "≥ "), ("at most ", "≤ "), ("exactly ", "= ")] {
        text = text.replace(words, sign);
    }
    text
}
