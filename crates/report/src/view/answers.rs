//! The answers to the first questions about a run, a line each: what was wanted, whether the machine is accepted, what
//! to do next, and how the run compares with the one before.

use seatrial_analysis::{Comparison, Difference};
use seatrial_model::profile::fold;
use seatrial_model::record::{Document, RunInfo};
use seatrial_model::{About, Remedy, Verdict, VerdictRecord};
use seatrial_stats::Verdict as Compared;

use super::actions::{self, Action};
use super::criteria::{Places, against_bound, criteria, share_of_limit, short, spaced};
use super::differences::{counts, names, worst_first};
use super::nodes::{is_fleet, with_verdict};
use crate::inventory::{Node, system};
use crate::labels::named as part_name;
use crate::number::change;
use crate::repeat_command::line;
use crate::words::{Badge, count, cut, rounded, set_of, time};

/// Steps that are named; the rest is counted.
const MOST_STEPS: usize = 3;

/// Differences that are named; all are counted.
const MOST_DIFFERENCES: usize = 3;

/// Kinds of machines that are named.
const MOST_KINDS: usize = 2;

const LONGEST_SET: usize = 40;

const LONGEST_STEP: usize = 320;

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
    let all = criteria(document, &places, |record| places.is_here(record));
    let number = match all.len() {
        1 => "1 criterion".to_owned(),
        number => format!("{number} criteria"),
    };
    format!("{}{title}: {number}. {}", profile.id, margin(document, &places))
}

fn margin(document: &Document, places: &Places<'_>) -> String {
    let with = document.verdicts.iter().filter_map(|record| Some((record, record.margin_percent?)));
    match with.min_by(|one, other| one.1.total_cmp(&other.1)) {
        Some((record, percent)) => {
            let named = named(document, places, record);
            let word = if percent < 0.0 { "Worst" } else { "Closest" };
            format!("{word}: {named}, {}", against_bound(percent))
        }
        None => "No margin is known".to_owned(),
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

/// Whether the machine is accepted, and which machine it is.
pub fn accepted(document: &Document, nodes: &[Node]) -> String {
    let said = match document.verdict {
        None => "not judged",
        Some(Verdict::Pass) => "accepted",
        Some(Verdict::Warn) => "accepted, with a warning",
        Some(Verdict::Fail) => "not accepted",
        Some(Verdict::Unknown) => "not decided, as not every criterion could be judged",
        Some(Verdict::Skip) => "not decided, as no criterion applies",
    };
    let mut said = match document.run.nodes.as_slice() {
        [only] => format!("{only}: {said}"),
        _ => said.to_owned(),
    };
    if is_fleet(document) && document.verdict.is_some() {
        let all = document.run.nodes.len();
        let passed = with_verdict(document, Verdict::Pass);
        said += &match fold(&passed) {
            nodes if nodes.is_empty() => format!(": 0 of {all} nodes passed"),
            nodes => format!(": {} of {all} nodes passed and may be used: {nodes}", passed.len()),
        };
        for verdict in [Verdict::Fail, Verdict::Unknown] {
            let them = with_verdict(document, verdict);
            if !them.is_empty() {
                said += &format!("; {} {}", verdict.word(), set_of(&them, LONGEST_SET));
            }
        }
    }
    let on = hardware(nodes);
    if on.is_empty() { said } else { format!("{said}. Hardware: {on}") }
}

/// The kinds of machines, the most frequent first.
fn hardware(nodes: &[Node]) -> String {
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
    pub badge: Badge,
    pub nodes: Vec<&'a str>,
    /// The criterion with its number and bound, or the finding.
    pub what: String,
    pub remedy: Option<Remedy>,
    /// The command that lists likely causes.
    pub command: Option<String>,
    pub case: Option<&'a str>,
}

/// The first failures and unknowns, and the number of further things to act on.
pub fn steps<'a>(document: &'a Document, abouts: &[&'static About]) -> (Vec<NextStep<'a>>, usize) {
    let all = actions::with_warnings(document, abouts);
    let bad = all.iter().filter(|action| action.badge.tone > Verdict::Warn);
    let steps: Vec<NextStep<'a>> = bad.take(MOST_STEPS).map(|action| step(document, action)).collect();
    let more = all.len() - steps.len();
    (steps, more)
}

fn step<'a>(document: &'a Document, action: &Action<'a>) -> NextStep<'a> {
    let case = action.case.and_then(|id| document.results.iter().find(|record| record.case.as_str() == id));
    let is_low = action.badge.tone == Verdict::Fail && case.is_some_and(|case| !case.metrics.is_empty());
    let command = case.filter(|_| is_low).map(|case| line(["seatrial", "list", case.bench.as_str()]));
    let is_it =
        |record: &&VerdictRecord| record.case.as_deref() == action.case && record.criterion == action.name;
    let record = document.verdicts.iter().find(is_it).filter(|_| action.badge.tone == Verdict::Fail);
    let what = match record.and_then(|record| Some((record, record.measured?))) {
        Some((record, measured)) => {
            let on = match record.subject.as_str() {
                "node" => String::new(),
                part => format!(" on {}", part_name(part, "")),
            };
            let share = share_of_limit(record, case).map(spaced);
            let share = share.map(|share| format!(", {share} of the limit")).unwrap_or_default();
            format!("{}{on}: {}{share}; {} wanted", action.name, rounded(measured), short(&record.bound))
        }
        None => cut(&action.what, LONGEST_STEP),
    };
    NextStep {
        badge: action.badge,
        nodes: action.nodes.clone(),
        what,
        remedy: action.remedy.clone(),
        command,
        case: action.case,
    }
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
        let percent = row.change.as_ref().ok()?.percent;
        is_clear(row).then(|| format!("{} {label} {}", row.bench, change(percent)))
    };
    rows.iter().zip(&labels).filter_map(said).take(MOST_DIFFERENCES).collect()
}
