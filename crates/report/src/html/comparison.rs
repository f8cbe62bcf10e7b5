//! Runs held against the first of them, as one page: what is worse first, and beside it what else is not as it was.

use std::collections::BTreeSet;
use std::io;

use askama::Template;
use seatrial_analysis::{Changed, Comparison, Ended};
use seatrial_model::Outcome;
use seatrial_model::record::RunInfo;

use super::actions::Action;
use super::differences::{self, of_call};
use super::frame::PageFrame;
use super::page::{command, nodes_of, profile, took};
use super::table::{Cell, Filter, Head, Row, Table};
use super::words::{Badge, of_outcome, set_of, text};
use crate::compare::{Call, beside, counts, test};
use crate::words::{count, time};

/// Things at most that changed beside the numbers; the JSON form has all.
const MOST_CHANGED: usize = 200;

/// Characters of a folded set of nodes.
const LONGEST_SET: usize = 60;

/// Cases named one by one that only one of the runs has.
const MOST_NAMES: usize = 24;

/// Cases told one by one that ended in one run as they did not in the other.
const MOST_ENDED: usize = 30;

/// A run of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its invocation, where it can still be read.
    pub info: Option<&'a RunInfo>,
}

/// A run, held against the baseline.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    pub run: Run<'a>,
    /// What came of it.
    pub comparison: &'a Comparison,
}

#[derive(Template)]
#[template(path = "comparison.html")]
struct Page {
    frame: PageFrame,
    title: String,
    badge: Badge,
    headline: String,
    command: String,
    parts: Vec<Part>,
    runs: Table,
}

/// One run against the baseline.
struct Part {
    id: String,
    title: String,
    /// How many metrics came out how.
    counts: String,
    /// What differs besides them.
    beside: String,
    ended: Vec<Action>,
    more_ended: usize,
    differences: Table,
    changed: Table,
    /// Cases that only one of the runs has: which run, and the cases.
    only: Vec<(String, String)>,
    test: String,
}

/// The page of `others` against `baseline`.
///
/// # Errors
/// When a template cannot be filled, which would be a mistake of ours.
pub fn render(baseline: Run<'_>, others: &[Compared<'_>], line: &[String]) -> io::Result<String> {
    let names: Vec<&str> = others.iter().map(|other| other.run.name).collect();
    let title = format!("{} against {}", names.join(", "), baseline.name);
    let calls: BTreeSet<Call> =
        others.iter().flat_map(|other| &other.comparison.differences).map(Call::of).collect();
    let verdicts = calls.into_iter().map(of_call).collect();
    let (badge, headline) = headline(baseline, others);
    let runs = [baseline].into_iter().chain(others.iter().map(|other| other.run));
    let page = Page {
        frame: PageFrame::new(&title, env!("CARGO_PKG_VERSION"), Vec::new(), verdicts),
        title: text(&title),
        badge,
        headline,
        command: command(line),
        parts: others.iter().enumerate().map(|(at, other)| part(at + 1, baseline, other)).collect(),
        runs: table_of_runs(runs),
    };
    page.render().map_err(io::Error::other)
}

/// The worst that is to be said, in a line.
fn headline(baseline: Run<'_>, others: &[Compared<'_>]) -> (Badge, String) {
    let all = || others.iter().map(|other| other.comparison);
    let number_of_worse = all().filter(|comparison| comparison.is_worse()).count();
    let has =
        |call: Call| all().flat_map(|comparison| &comparison.differences).any(|row| Call::of(row) == call);
    let call = if number_of_worse > 0 {
        Call::Worse
    } else if all().any(Comparison::is_incomplete) {
        Call::NotComparable
    } else if has(Call::Better) {
        Call::Better
    } else if has(Call::CannotTell) {
        Call::CannotTell
    } else {
        Call::Same
    };
    let a = text(baseline.name);
    let said = match others {
        [only] if only.comparison.differences.is_empty() => {
            format!("nothing to compare: {a} and {} share no case", text(only.run.name))
        }
        [only] => counts(only.comparison),
        several if number_of_worse > 0 => {
            format!("{number_of_worse} of {} worse than {a}", count(several.len(), "run"))
        }
        several => format!("{} against {a}, none of them worse", count(several.len(), "run")),
    };
    (of_call(call), said)
}

fn part(number: usize, baseline: Run<'_>, other: &Compared<'_>) -> Part {
    let comparison = other.comparison;
    let (a, b) = (text(baseline.name), text(other.run.name));
    let mut ended = ended(comparison);
    let more_ended = ended.len().saturating_sub(MOST_ENDED);
    ended.truncate(MOST_ENDED);
    let only = [(&a, &comparison.only_a), (&b, &comparison.only_b)];
    let only = only.into_iter().filter(|(_, cases)| !cases.is_empty());
    Part {
        id: format!("compared-{number}"),
        title: format!("{b} against {a}"),
        counts: counts(comparison),
        beside: beside(comparison),
        ended,
        more_ended,
        differences: differences::table(&comparison.differences),
        changed: changed(&comparison.changed),
        only: only.map(|(run, cases)| (run.clone(), some_of(cases))).collect(),
        // What stands between backticks is a command on a terminal.
        test: test(comparison).unwrap_or_default().replace('`', ""),
    }
}

/// Cases that ended in one run as they did not in the other.
fn ended(comparison: &Comparison) -> Vec<Action> {
    let action = |badge: Badge, ended: &Ended| Action {
        badge,
        who: text(&ended.case),
        what: text(&ended.reason),
        to: String::new(),
        filter: Filter::of_nodes([], badge.class),
    };
    let now = |outcome, word| Badge { word, ..of_outcome(outcome) };
    let kinds = [
        (now(Outcome::Failed, "fails now"), &comparison.broken),
        (now(Outcome::Unmeasured, "unmeasured now"), &comparison.unmeasured),
        (Badge { word: "failed before", ..of_call(Call::Better) }, &comparison.mended),
    ];
    kinds.into_iter().flat_map(|(badge, all)| all.iter().map(move |ended| action(badge, ended))).collect()
}

/// Settings and inventory that are not as they were.
fn changed(all: &[Changed]) -> Table {
    let row = |changed: &Changed| {
        let nodes: Vec<&str> = changed.nodes.iter().map(String::as_str).collect();
        let cells = [changed.what.as_str(), &changed.before, &changed.after, &set_of(&nodes, LONGEST_SET)];
        let filter = Filter::of_nodes(nodes, Filter::ANY);
        Row { cells: cells.iter().map(|said| Cell::new(text(said))).collect(), filter, ..Row::default() }
    };
    let mut notes = Vec::new();
    if all.len() > MOST_CHANGED {
        notes.push((String::new(), format!("{} more in the JSON form", all.len() - MOST_CHANGED)));
    }
    Table {
        caption: "Settings and inventory that are not as they were".to_owned(),
        heads: ["changed", "before", "after", "on"].map(Head::words).into(),
        rows: all.iter().take(MOST_CHANGED).map(row).collect(),
        notes,
        is_stacked: true,
    }
}

fn some_of(cases: &[String]) -> String {
    let mut said: Vec<String> = cases.iter().take(MOST_NAMES).map(|case| text(case)).collect();
    if cases.len() > MOST_NAMES {
        said.push(format!("and {} more", cases.len() - MOST_NAMES));
    }
    said.join(", ")
}

/// The runs, the baseline first.
fn table_of_runs<'a>(runs: impl Iterator<Item = Run<'a>>) -> Table {
    let row = |(at, run): (usize, Run<'_>)| {
        let of = |said: &dyn Fn(&RunInfo) -> String| Cell::new(run.info.map_or(String::new(), said));
        let cells = vec![
            Cell::new(text(run.name)).with(if at == 0 { "the baseline" } else { "" }),
            of(&|info| time(info.started)),
            of(&took),
            of(&nodes_of),
            of(&profile),
            of(&|info| text(&info.seatrial)),
            of(&|info| command(&info.command)),
        ];
        Row { cells, filter: Filter::of_nodes([], Filter::ANY), ..Row::default() }
    };
    Table {
        caption: "The runs".to_owned(),
        heads: ["run", "started", "took", "on", "profile", "Seatrial", "command"].map(Head::words).into(),
        rows: runs.enumerate().map(row).collect(),
        notes: Vec::new(),
        is_stacked: true,
    }
    .tidy()
}
