//! Settings that are not as the profile wants them, and those that differ between nodes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use seatrial_model::Verdict;
use seatrial_model::setting::{AuditedSetting, Present};

use super::shown::Shown;
use super::table::{Cell, Filter, Head, Row, Table};
use super::words::{cut, of_verdict, set_of, text};
use crate::notes::Notes;
use crate::words::count;

/// Characters of a folded set of nodes.
const LONGEST_SET: usize = 60;

/// Rows at most; the audit has all.
const MOST_ROWS: usize = 200;

/// One value of a setting, and what is wanted of it.
struct Value<'a> {
    present: String,
    first: &'a AuditedSetting,
    nodes: Vec<&'a str>,
    verdict: Option<Verdict>,
}

/// The settings to look at, and a sentence about the others.
pub fn table(shown: &Shown<'_>) -> (Table, String) {
    let all = shown.context.settings;
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
    let mut notes = Notes::default();
    let like = number - open.len();
    let left_out = open.iter().map(Vec::len).sum::<usize>().saturating_sub(MOST_ROWS);
    let rows = open.iter().flatten().take(MOST_ROWS).map(|value| row(shown, value, &mut notes)).collect();
    let heads = vec![
        Head::words("setting"),
        Head::words("nodes"),
        Head::words("verdict"),
        Head::words("present"),
        Head::words("wanted"),
        Head::words("to change it"),
        Head::words("why"),
    ];
    let table = Table { caption: "Settings to look at".to_owned(), heads, rows, ..Table::default() };
    let of_all = count(number, "setting");
    let is_wanted = all.iter().any(|setting| !setting.wanted.is_empty());
    let mut sentence = match (open.is_empty(), shown.is_fleet(), is_wanted) {
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
    (Table { notes: notes.take(), ..table.tidy() }, sentence)
}

/// Whether something is to be said about a setting: not as wanted, or not the same everywhere.
fn is_open(values: &[Value<'_>]) -> bool {
    values.len() > 1 || values.iter().any(|value| value.verdict > Some(Verdict::Pass))
}

fn present(present: &Present) -> String {
    match present {
        Present::Value(value) => text(&value.to_string()),
        Present::Absent(_) => "not here".to_owned(),
        Present::Unreadable(_) => "not readable".to_owned(),
    }
}

fn row(shown: &Shown<'_>, value: &Value<'_>, notes: &mut Notes) -> Row {
    let reading = &value.first.reading;
    let subject = reading.subject.as_str();
    let name = match subject {
        "" | "node" => reading.setting.clone(),
        _ => format!("{} {}", reading.setting, subject.strip_prefix("nic:").unwrap_or(subject)),
    };
    let wanted: Vec<String> =
        value.first.wanted.iter().map(|want| format!("{} ({})", want.bound, want.profile)).collect();
    let change: Vec<&str> = value.first.wanted.iter().filter_map(|want| want.change.as_deref()).collect();
    let why = value.first.wanted.iter().flat_map(|want| [&want.why, &want.reason, &want.waiver]).flatten();
    let why = why.map(String::as_str).chain(reading.present.why()).chain(reading.note.as_deref());
    let mut marks: Vec<String> = why.map(|why| notes.refer(&text(why))).collect();
    marks.dedup();
    let badge = value.verdict.map(of_verdict);
    let nodes = set_of(&value.nodes, LONGEST_SET);
    let cells = vec![
        Cell::new(text(&name)),
        Cell::new(if shown.is_fleet() { nodes } else { String::new() }),
        Cell::badge(badge),
        Cell::new(cut(&value.present, 120)),
        Cell::new(text(&wanted.join("; "))),
        Cell::new(text(&change.join("; "))),
        Cell::new(marks.join(" ")),
    ];
    let class = badge.map_or(Filter::ANY, |badge| badge.class);
    Row { cells, filter: shown.filter_of(value.nodes.iter().copied(), class), ..Row::default() }
}
