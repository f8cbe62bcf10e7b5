//! The answers to the first questions about a run, a line each: what to do next, what was wanted, on which hardware, and
//! how the run compares with the one before.

use seatrial_analysis::{Comparison, Difference};
use seatrial_model::record::{Document, RunInfo};
use seatrial_model::{About, Verdict, VerdictRecord};
use seatrial_stats::Verdict as Compared;

use super::actions::{self, Action};
use super::criteria::{Places, short};
use super::differences::{counts, names, percent, worst_first};
use super::headline::listed;
use super::nodes::is_fleet;
use super::values::value_of;
use crate::inventory::{Node, system};
use crate::labels::named as part_name;
use crate::number::signed_percent;
use crate::repeat_command::line;
use crate::words::{count, time};

/// Steps that are told in full.
const MOST_STEPS: usize = 3;

/// Further steps that are named; all are counted.
const MOST_NAMES: usize = 4;

/// Differences that are named; all are counted.
const MOST_DIFFERENCES: usize = 3;

/// Kinds of machines that are named.
const MOST_KINDS: usize = 2;

/// The last comparable run before a run: the same profile or the same command, on the same nodes.
#[derive(Clone, Copy, Debug)]
pub struct Earlier<'a> {
    pub run: &'a RunInfo,
    /// The earlier run compared with this one.
    pub comparison: &'a Comparison,
    /// The address of its page, as seen from the page of this run.
    pub page: Option<&'a str>,
}

/// What was demanded, and by how much it was met.
pub fn wanted(document: &Document) -> String {
    let Some(profile) = &document.run.profile else {
        return "nothing, as the run has no profile; seatrial check judges the machine".to_owned();
    };
    let title = if profile.title.is_empty() { String::new() } else { format!(" – {}", profile.title) };
    let places = Places::of(document);
    let all = listed(document, &places);
    let number = match all.len() {
        1 => "1 criterion".to_owned(),
        number => format!("{number} criteria"),
    };
    format!("{}{title}: {number}. {}", profile.id, margin(document, &places))
}

/// The judged number that is the worst, or the closest to its bound.
fn margin(document: &Document, places: &Places<'_>) -> String {
    let with = document.verdicts.iter().filter_map(|record| Some((record, record.margin_percent?)));
    match with.min_by(|one, other| one.1.total_cmp(&other.1)) {
        Some((record, percent)) => {
            let word = if percent < 0.0 { "Worst" } else { "Closest" };
            let value = value_of(record).unwrap_or_default();
            let name = named(document, places, record);
            format!("{word}: {name}, {value} ({}); {} wanted", signed_percent(percent), short(&record.bound))
        }
        None => "Distance from the wanted values: unknown".to_owned(),
    }
}

/// The criterion, and its place where it has more than one.
fn named(document: &Document, places: &Places<'_>, record: &VerdictRecord) -> String {
    let place = match record.subject.as_str() {
        _ if is_fleet(document) => places.place(record),
        "node" => return record.criterion.clone(),
        part => part_name(part, ""),
    };
    format!("{} on {place}", record.criterion)
}

/// The kinds of machines, the most frequent first.
pub fn hardware(nodes: &[Node]) -> String {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for text in nodes.iter().map(|node| system::in_short(&node.machine)).filter(|text| !text.is_empty()) {
        match kinds.iter_mut().find(|(known, _)| *known == text) {
            Some((_, number)) => *number += 1,
            None => kinds.push((text, 1)),
        }
    }
    kinds.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let of = |(text, number): &(String, usize)| {
        if *number == 1 { text.clone() } else { format!("{number} × {text}") }
    };
    let mut texts: Vec<String> = kinds.iter().take(MOST_KINDS).map(of).collect();
    if kinds.len() > MOST_KINDS {
        texts.push(format!("{} more", count(kinds.len() - MOST_KINDS, "kind")));
    }
    texts.join("; ")
}

/// Something to do.
pub struct NextStep<'a> {
    pub action: Action<'a>,
    /// The commands that measure again and that list what to check, each with its label.
    pub commands: Vec<(&'static str, String)>,
}

/// What to do next.
pub struct Next<'a> {
    /// The first failures and unknowns.
    pub steps: Vec<NextStep<'a>>,
    /// The further things to act on, by number and name.
    pub more: Option<String>,
    /// The command that judges again.
    pub judging: Option<String>,
}

pub fn next<'a>(document: &'a Document, abouts: &[&'static About]) -> Next<'a> {
    let all = actions::with_warnings(document, abouts);
    let bad = all.iter().take(MOST_STEPS).take_while(|action| action.badge.tone > Verdict::Warn).count();
    let rest = &all[bad..];
    let names: Vec<&str> = rest.iter().map(|action| action.name).take(MOST_NAMES).collect();
    let others = if rest.len() > MOST_NAMES { " and others" } else { "" };
    let more = format!("{}: {}{others}", actions::counted(rest), names.join(", "));
    let more = (!rest.is_empty()).then_some(more);
    let judging = actions::judging(document, &all);
    Next { steps: all.into_iter().take(bad).map(|action| step(document, action)).collect(), more, judging }
}

fn step<'a>(document: &'a Document, action: Action<'a>) -> NextStep<'a> {
    let mut commands = actions::first_commands(document, &action);
    let case = action.case.and_then(|id| document.results.iter().find(|record| record.case.as_str() == id));
    let is_low = action.badge.tone == Verdict::Fail;
    let low = case.filter(|case| is_low && !case.metrics.is_empty());
    commands.extend(low.map(|case| ("list of checks", line(["seatrial", "list", case.bench.as_str()]))));
    NextStep { action, commands }
}

/// How the run compares with the one before.
pub struct Before<'a> {
    pub text: String,
    /// The command that shows every difference.
    pub command: String,
    pub page: Option<&'a str>,
}

pub fn before<'a>(document: &Document, earlier: &Earlier<'a>) -> Before<'a> {
    let (id, comparison) = (&earlier.run.id, earlier.comparison);
    let counts = match counts(comparison) {
        counts if counts.is_empty() => "no metric in common".to_owned(),
        counts => counts,
    };
    let changes = changes(document, comparison);
    let changes = if changes.is_empty() { String::new() } else { format!("{}; ", changes.join(", ")) };
    Before {
        text: format!("against run {id} of {}: {changes}{counts}", time(earlier.run.started)),
        command: line(["seatrial", "compare", id, &document.run.id, "--html", "compare.html"]),
        page: earlier.page,
    }
}

/// The headlines that changed beyond noise, the worst first.
fn changes(document: &Document, comparison: &Comparison) -> Vec<String> {
    let is_headline = |row: &&Difference| {
        let case = document.results.iter().find(|case| case.case.as_str() == row.b.case);
        case.and_then(|case| case.headline()).is_some_and(|(name, _)| *name == row.metric)
    };
    let is_clear = |row: &&Difference| {
        let verdict = row.change.as_ref().map(|change| change.verdict);
        matches!(verdict, Ok(Compared::Worse | Compared::Better))
    };
    let rows = worst_first(&comparison.differences);
    let rows: Vec<&Difference> = rows.into_iter().filter(is_headline).collect();
    let labels = names(&rows);
    let said = |(row, label): (&&Difference, &String)| {
        let by = percent(row.change.as_ref().ok()?);
        is_clear(row).then(|| format!("{} {label} {by}", row.bench))
    };
    rows.iter().zip(&labels).filter_map(said).take(MOST_DIFFERENCES).collect()
}
