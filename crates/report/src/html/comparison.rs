//! The HTML page of runs compared with the first: what is worse first, then changes of settings and inventory.

use std::collections::BTreeSet;
use std::io;

use askama::Template;
use seatrial_analysis::{Comparison, Ended};
use seatrial_model::record::RunInfo;

use super::actions::ActionLine;
use super::filter::Filter;
use super::frame::PageFrame;
use super::page::{MOST_NAMES as MOST_NODES, command, profile};
use super::table::PageTable;
use super::words::text;
use crate::view::differences::{self, Call, beside, changed, counts, ended, some_of, test, worst_first};
use crate::view::headline::{nodes, took};
use crate::view::table::{Builder, Cell};
use crate::words::{Badge, count, time};

/// Differences at most; the JSON form has all.
const MOST_ROWS: usize = 500;

/// Changes of settings and inventory at most; the JSON form has all.
const MOST_CHANGED: usize = 200;

const MOST_NAMES: usize = 24;

/// Listed cases that were measured in one run only.
const MOST_ENDED: usize = 30;

#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    pub name: &'a str,
    /// Its invocation, if readable.
    pub info: Option<&'a RunInfo>,
}

#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    pub run: Run<'a>,
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
    runs: PageTable,
}

struct Part {
    id: String,
    title: String,
    counts: String,
    /// Differences beside the metrics.
    beside: String,
    ended: Vec<ActionLine>,
    more_ended: usize,
    differences: PageTable,
    changed: PageTable,
    /// Cases that only one of the runs has: the run, and the cases.
    only: Vec<(String, String)>,
    test: String,
}

pub fn render(baseline: Run<'_>, others: &[Compared<'_>], line: &[String]) -> io::Result<String> {
    let names: Vec<&str> = others.iter().map(|other| other.run.name).collect();
    let title = format!("{} against {}", names.join(", "), baseline.name);
    let calls: BTreeSet<Call> =
        others.iter().flat_map(|other| &other.comparison.differences).map(Call::of).collect();
    let verdicts = calls.into_iter().map(Call::badge).collect();
    let (badge, headline) = headline(baseline, others);
    let runs: Vec<Run<'_>> = [baseline].into_iter().chain(others.iter().map(|other| other.run)).collect();
    let page = Page {
        frame: PageFrame::new(&title, env!("CARGO_PKG_VERSION"), Vec::new(), verdicts),
        title: text(&title),
        badge,
        headline,
        command: command(line),
        parts: others.iter().enumerate().map(|(at, other)| part(at + 1, baseline, other)).collect(),
        runs: table_of_runs(&runs),
    };
    page.render().map_err(io::Error::other)
}

/// The worst result, in one line.
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
            format!("nothing to compare: {a} and {} have no measured case in common", text(only.run.name))
        }
        [only] => counts(only.comparison),
        several if number_of_worse > 0 => {
            format!("{number_of_worse} of {} worse than {a}", count(several.len(), "run"))
        }
        several => format!("{} against {a}, none of them worse", count(several.len(), "run")),
    };
    (call.badge(), said)
}

fn part(number: usize, baseline: Run<'_>, other: &Compared<'_>) -> Part {
    let comparison = other.comparison;
    let (a, b) = (text(baseline.name), text(other.run.name));
    let action = |(badge, ended): (Badge, &Ended)| ActionLine {
        badge,
        who: text(&ended.case),
        what: text(&ended.reason),
        to: String::new(),
        filter: Filter::of_nodes([], badge.class()),
    };
    let mut ended: Vec<ActionLine> = ended(comparison).into_iter().map(action).collect();
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
        differences: PageTable::new(&differences::table(&worst_first(&comparison.differences)), MOST_ROWS),
        changed: PageTable::new(&changed(&comparison.changed), MOST_CHANGED),
        only: only.map(|(run, cases)| (run.clone(), text(&some_of(cases, MOST_NAMES)))).collect(),
        // Text in backticks is a command on a terminal.
        test: test(comparison).unwrap_or_default().replace('`', ""),
    }
}

fn table_of_runs(runs: &[Run<'_>]) -> PageTable {
    let of = |run: &Run<'_>, said: &dyn Fn(&RunInfo) -> String| run.info.map(said);
    let remark = |run: &Run<'_>| if run.name == runs[0].name { "the baseline" } else { "" };
    let table = Builder::new("The runs", runs)
        .words("run", |run| Cell::from(run.name).remark(remark(run)))
        .words("started", |run| of(run, &|info| time(info.started)))
        .words("took", |run| of(run, &|info| took(info).unwrap_or_else(|became| became)))
        .words("on", |run| of(run, &|info| nodes(&info.nodes, MOST_NODES)))
        .words("profile", |run| of(run, &profile))
        .words("Seatrial", |run| of(run, &|info| info.seatrial.clone()))
        .words("command", |run| of(run, &|info| command(&info.command)));
    PageTable::new(&table.finish(), usize::MAX)
}
