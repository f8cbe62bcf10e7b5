//! The values of settings and what a profile demands, a row per demand. Nodes that agree share a row.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use seatrial_model::setting::{AuditedSetting, Present, Wanted};
use seatrial_model::{Verdict, VerdictRecord};

use super::criteria::short;
use super::table::{Builder, Cell, Column, Table};
use crate::words::{Badge, count, cut, set_of};

const LONGEST_SET: usize = 60;

const LONGEST_VALUE: usize = 120;

/// Profiles that a row names; more are counted.
const MOST_PROFILES: usize = 3;

/// The content of a row, without its nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SettingRow {
    pub verdict: Option<Verdict>,
    setting: String,
    subject: String,
    present: String,
    wanted: String,
    by: String,
    change: String,
    notes: Vec<String>,
    /// Waived rows are always shown.
    pub is_waived: bool,
}

impl SettingRow {
    /// The setting, and the subject unless that is the whole node: `nic.mtu eth0`.
    fn name(&self) -> String {
        match self.subject.as_str() {
            "" | "node" => self.setting.clone(),
            subject => format!("{} {}", self.setting, subject.strip_prefix("nic:").unwrap_or(subject)),
        }
    }
}

/// Rows with the same content, once, with their nodes.
pub type SettingRows<'a> = Vec<(SettingRow, Vec<&'a str>)>;

/// A row per demand. With a profile also those of its `verdicts` that found nothing to judge, the worst first;
/// without a profile also a row per reading without a demand.
pub fn rows<'a>(
    settings: &'a [AuditedSetting],
    verdicts: &'a [VerdictRecord],
    is_judged: bool,
) -> SettingRows<'a> {
    let mut rows: Vec<(SettingRow, &str)> = Vec::new();
    let mut told: BTreeSet<(&str, &str, &str)> = BTreeSet::new();
    for setting in settings {
        let (reading, node) = (&setting.reading, setting.node.as_str());
        told.extend(setting.wanted.first().map(|_| (&*reading.setting, node, reading.subject.as_str())));
        rows.extend(setting.wanted.iter().map(|want| (judged(setting, want, is_judged), node)));
        if setting.wanted.is_empty() && !is_judged {
            rows.push((read(setting), node));
        }
    }
    let is_new = |record: &&VerdictRecord| {
        let node = record.node.as_deref().unwrap_or_default();
        !told.contains(&(record.criterion.as_str(), node, record.subject.as_str()))
    };
    let without_subject = verdicts.iter().filter(is_new);
    rows.extend(without_subject.map(|record| (empty(record), record.node.as_deref().unwrap_or_default())));
    let mut rows = merged(rows);
    if !is_judged {
        rows = of_all_profiles(rows);
    }
    // Deviations of single nodes are placed beside the rows of the others.
    let mut places: HashMap<String, usize> = HashMap::new();
    for (at, (row, _)) in rows.iter().enumerate() {
        places.entry(row.setting.clone()).or_insert(at);
    }
    rows.sort_by_key(|(row, _)| places[&row.setting]);
    if is_judged {
        rows.sort_by_key(|(row, _)| Reverse(row.verdict));
    }
    rows
}

fn merged(rows: Vec<(SettingRow, &str)>) -> SettingRows<'_> {
    let mut places: HashMap<SettingRow, usize> = HashMap::new();
    let mut merged: SettingRows<'_> = Vec::new();
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

/// Profiles that want the same of the same share a row, as those that extend one another.
fn of_all_profiles(rows: SettingRows<'_>) -> SettingRows<'_> {
    let mut joined: Vec<(SettingRow, Vec<&str>, Vec<String>)> = Vec::new();
    for (row, nodes) in rows {
        let is_same = |(known, of, _): &&mut (SettingRow, Vec<&str>, Vec<String>)| {
            let other = SettingRow { by: known.by.clone(), notes: known.notes.clone(), ..row.clone() };
            other == *known && *of == nodes && !row.by.is_empty()
        };
        match joined.iter_mut().find(is_same) {
            Some((known, _, profiles)) => {
                let text = |note: &str| note.split_once(": ").map_or(note, |(_, why)| why).to_owned();
                let told: Vec<String> = known.notes.iter().map(|note| text(note)).collect();
                known.notes.extend(row.notes.into_iter().filter(|note| !told.contains(&text(note))));
                profiles.push(row.by);
            }
            None => joined.push((row.clone(), nodes, vec![row.by])),
        }
    }
    let named = |(row, nodes, profiles): (SettingRow, _, Vec<String>)| {
        let by = match profiles.as_slice() {
            [first, others @ ..] if others.len() >= MOST_PROFILES => {
                format!("{first} and {} more", others.len())
            }
            few => few.join(", "),
        };
        (SettingRow { by, ..row }, nodes)
    };
    joined.into_iter().map(named).collect()
}

fn judged(setting: &AuditedSetting, want: &Wanted, is_judged: bool) -> SettingRow {
    let mut row = SettingRow {
        verdict: Some(want.verdict),
        wanted: short(&want.bound),
        by: if is_judged { String::new() } else { want.profile.clone() },
        change: want.change.clone().unwrap_or_default(),
        is_waived: want.waiver.is_some(),
        ..read(setting)
    };
    if want.verdict > Verdict::Pass {
        let by = if is_judged { "why" } else { want.profile.as_str() };
        row.notes.extend(want.why.as_ref().map(|why| format!("{by}: {why}")));
    }
    // The present value and the remedy explain a fail.
    if want.verdict == Verdict::Unknown && setting.reading.present.why().is_none() {
        row.notes.extend(want.reason.clone());
    }
    row.notes.extend(want.waiver.clone());
    row
}

fn read(setting: &AuditedSetting) -> SettingRow {
    let reading = &setting.reading;
    let present = match &reading.present {
        Present::Value(value) => value.to_string(),
        Present::Absent(_) => "absent".to_owned(),
        Present::Unreadable(_) => "not readable".to_owned(),
    };
    SettingRow {
        setting: reading.setting.clone(),
        subject: reading.subject.to_string(),
        present: cut(&present, LONGEST_VALUE),
        notes: reading.present.why().map(str::to_owned).into_iter().chain(reading.note.clone()).collect(),
        ..SettingRow::default()
    }
}

impl SettingRow {
    /// The same without a verdict; a sign before the demand says whether the value is as wanted.
    #[must_use]
    pub fn unjudged(mut self) -> Self {
        if let Some(verdict) = self.verdict.take() {
            self.wanted = format!("{} {}", Badge::from(verdict).sign, self.wanted);
        }
        self
    }
}

/// A demand that found nothing to judge.
fn empty(record: &VerdictRecord) -> SettingRow {
    SettingRow {
        verdict: Some(record.verdict),
        setting: record.criterion.clone(),
        wanted: short(&record.bound),
        notes: record.reason.iter().chain(&record.waiver).cloned().collect(),
        is_waived: record.waiver.is_some(),
        ..SettingRow::default()
    }
}

pub fn table(rows: &SettingRows<'_>, nodes: usize) -> Table {
    let differ = rows.iter().any(|(_, of)| of.len() != nodes);
    Builder::new("Settings to look at", rows)
        .words("verdict", |(row, _)| row.verdict.map(Badge::from))
        .column(Column::words("setting").unbroken(), |(row, _)| row.name())
        .words("node", |(_, nodes)| differ.then(|| set_of(nodes, LONGEST_SET)))
        .words("now", |(row, _)| row.present.as_str())
        .words("wanted", |(row, _)| row.wanted.as_str())
        .words("by", |(row, _)| row.by.as_str())
        .column(Column::words("to change it").detail(), |(row, _)| row.change.as_str())
        .words("why", |(row, _)| Cell::default().notes(row.notes.clone()))
        .about(|(row, nodes), about| {
            about.nodes = nodes.iter().map(|node| (*node).to_owned()).collect();
            about.tone = row.verdict;
        })
        .finish()
}

/// The settings that differ from the demand or between nodes, and a sentence about the others.
pub fn open_settings(all: &[AuditedSetting], nodes: usize, most: usize) -> (Table, String) {
    if all.is_empty() {
        return (Table::default(), "No settings were kept with this run.".to_owned());
    }
    let mut settings: HashMap<String, (BTreeSet<String>, Option<Verdict>)> = HashMap::new();
    let mut rows = rows(all, &[], false);
    for (row, _) in &rows {
        let (values, verdict) = settings.entry(row.name()).or_default();
        values.insert(row.present.clone());
        *verdict = row.verdict.max(*verdict);
    }
    let worst = |row: &SettingRow| settings[&row.name()].1;
    rows.retain(|(row, _)| settings[&row.name()].0.len() > 1 || worst(row) > Some(Verdict::Pass));
    rows.sort_by_key(|(row, _)| (Reverse(worst(row)), Reverse(row.verdict)));
    let open: BTreeSet<String> = rows.iter().map(|(row, _)| row.name()).collect();
    let left_out = rows.len().saturating_sub(most);
    rows.truncate(most);
    let (of_all, like) = (count(settings.len(), "setting"), settings.len() - open.len());
    let is_wanted = all.iter().any(|setting| !setting.wanted.is_empty());
    let mut sentence = match (open.is_empty(), nodes > 1, is_wanted) {
        (true, true, true) => {
            format!("{of_all}: the same on every node, and none differs from what is wanted.")
        }
        (true, true, false) => format!("{of_all}: the same on every node. Nothing was wanted of them."),
        (true, false, true) => format!("None of {of_all} differs from what is wanted."),
        (true, false, false) => format!("{of_all} were read. Nothing was wanted of them."),
        (false, true, _) => format!("{like} more are the same on every node and as wanted."),
        (false, false, _) => format!("{like} more are as wanted, or nothing is wanted of them."),
    };
    if left_out > 0 {
        sentence += &format!(" {} left out here; seatrial settings shows them.", count(left_out, "row"));
    }
    (table(&rows, nodes), sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(by: &str, wanted: &str, note: &str) -> SettingRow {
        SettingRow {
            setting: "state.bad_page".to_owned(),
            wanted: wanted.to_owned(),
            by: by.to_owned(),
            notes: vec![format!("{by}: {note}")],
            ..SettingRow::default()
        }
    }

    #[test]
    fn profiles_that_want_the_same_share_a_row_and_tell_a_reason_once() {
        let rows =
            ["health", "gate", "host", "site"].map(|by| (row(by, "= false", "it is defective"), vec!["n1"]));
        let other_bound = (row("strict", "= true", "it is defective"), vec!["n1"]);
        let other_node = (row("health", "= false", "it is defective"), vec!["n2"]);
        let other_reason = (row("own", "= false", "a wish"), vec!["n1"]);
        let unwanted = (row("", "", "read"), vec!["n1"]);
        let all = rows.into_iter().chain([other_bound, other_node, other_reason, unwanted.clone(), unwanted]);
        let joined = of_all_profiles(all.collect());
        let told: Vec<_> = joined.iter().map(|(row, _)| (row.by.as_str(), row.notes.len())).collect();
        assert_eq!(told, [("health and 4 more", 2), ("strict", 1), ("health", 1), ("", 1), ("", 1)]);
        let few = ["health", "gate"].map(|by| (row(by, "= false", "it is defective"), vec!["n1"]));
        assert_eq!(of_all_profiles(few.into())[0].0.by, "health, gate");
    }
}
