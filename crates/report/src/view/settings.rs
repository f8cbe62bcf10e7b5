//! Settings that are not as the profile wants them, and those that differ between nodes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use seatrial_model::Verdict;
use seatrial_model::setting::{AuditedSetting, Present};

use super::table::{Builder, Cell, Table};
use crate::words::{Badge, count, cut, set_of};

/// Characters of a folded set of nodes.
const LONGEST_SET: usize = 60;

/// One value of a setting, and what is wanted of it.
struct Value<'a> {
    present: String,
    first: &'a AuditedSetting,
    nodes: Vec<&'a str>,
    verdict: Option<Verdict>,
}

/// The settings to look at, and a sentence about the others.
pub fn table(all: &[AuditedSetting], is_fleet: bool, most: usize) -> (Table, String) {
    if all.is_empty() {
        return (Table::default(), "No settings were kept with this run.".to_owned());
    }
    let mut settings: BTreeMap<(&str, &str), Vec<Value<'_>>> = BTreeMap::new();
    for setting in all {
        let key = (setting.reading.setting.as_str(), setting.reading.subject.as_str());
        let values = settings.entry(key).or_default();
        let present = present(&setting.reading.present);
        let verdict = Verdict::roll_up(setting.wanted.iter().map(|want| want.verdict));
        match values.iter_mut().find(|value| value.present == present && value.verdict == verdict) {
            Some(value) => value.nodes.push(&setting.node),
            None => values.push(Value { present, first: setting, nodes: vec![&setting.node], verdict }),
        }
    }
    let number = settings.len();
    let mut open: Vec<Vec<Value<'_>>> = settings.into_values().filter(|values| is_open(values)).collect();
    open.iter_mut().for_each(|values| values.sort_by_key(|value| Reverse(value.verdict)));
    open.sort_by_key(|values| Reverse(values.iter().filter_map(|value| value.verdict).max()));
    let like = number - open.len();
    let is_empty = open.is_empty();
    let rows: Vec<Value<'_>> = open.into_iter().flatten().collect();
    let left_out = rows.len().saturating_sub(most);
    let table = Builder::new("Settings to look at", &rows[..rows.len() - left_out])
        .words("setting", name)
        .words("nodes", |value| is_fleet.then(|| set_of(&value.nodes, LONGEST_SET)))
        .words("verdict", |value| value.verdict.map(Badge::from))
        .words("present", |value| cut(&value.present, 120))
        .words("wanted", |value| {
            let wanted = value.first.wanted.iter().map(|want| format!("{} ({})", want.bound, want.profile));
            wanted.collect::<Vec<_>>().join("; ")
        })
        .words("to change it", |value| {
            let change = value.first.wanted.iter().filter_map(|want| want.change.as_deref());
            change.collect::<Vec<_>>().join("; ")
        })
        .words("why", |value| Cell::default().notes(why(value)))
        .about(|value, row| {
            row.nodes = value.nodes.iter().map(|node| (*node).to_owned()).collect();
            row.tone = value.verdict;
        });
    let of_all = count(number, "setting");
    let is_wanted = all.iter().any(|setting| !setting.wanted.is_empty());
    let mut sentence = match (is_empty, is_fleet, is_wanted) {
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
    (table.finish(), sentence)
}

/// Whether something is to be said about a setting: not as wanted, or not the same everywhere.
fn is_open(values: &[Value<'_>]) -> bool {
    values.len() > 1 || values.iter().any(|value| value.verdict > Some(Verdict::Pass))
}

fn present(present: &Present) -> String {
    match present {
        Present::Value(value) => value.to_string(),
        Present::Absent(_) => "not here".to_owned(),
        Present::Unreadable(_) => "not readable".to_owned(),
    }
}

/// The setting, and the subject where that is not the whole node: `nic.mtu eth0`.
fn name(value: &Value<'_>) -> String {
    let reading = &value.first.reading;
    match reading.subject.as_str() {
        "" | "node" => reading.setting.clone(),
        subject => format!("{} {}", reading.setting, subject.strip_prefix("nic:").unwrap_or(subject)),
    }
}

fn why<'a>(value: &Value<'a>) -> Vec<&'a str> {
    let AuditedSetting { reading, wanted, .. } = value.first;
    let why = wanted.iter().flat_map(|want| [&want.why, &want.reason, &want.waiver]).flatten();
    let why = why.map(String::as_str).chain(reading.present.why()).chain(reading.note.as_deref());
    let mut why: Vec<&str> = why.collect();
    why.dedup();
    why
}
