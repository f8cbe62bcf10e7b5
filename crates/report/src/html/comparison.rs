//! The HTML page of runs, or parts of runs, compared with the first: curves over each other, what is worse first,
//! changes of settings and inventory.

use std::collections::BTreeSet;
use std::io;

use askama::Template;
use seatrial_analysis::{Comparison, Ended};
use seatrial_model::record::RunInfo;

use super::actions::ActionLine;
use super::curve::Figure;
use super::filter::Filter;
use super::frame::PageFrame;
use super::overlaid;
use super::page::{MOST_NAMES as MOST_NODES, command, profile};
use super::table::PageTable;
use super::words::text;
use crate::compare::{Compared, Names};
use crate::view::differences::{self, Call, beside, changed, counts, ended, some_of, test, worst_first};
use crate::view::headline::{nodes, took};
use crate::view::table::{Builder, Cell};
use crate::view::{per_price, side_by_side};
use crate::words::{Badge, time};

/// Differences at most; the JSON form has all.
const MOST_ROWS: usize = 500;

/// Changes of settings and inventory at most; the JSON form has all.
const MOST_CHANGED: usize = 200;

const MOST_NAMES: usize = 24;

/// Listed cases that were measured in one run only.
const MOST_ENDED: usize = 30;

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct ComparedSide<'a> {
    pub name: &'a str,
    /// The run and the parts of it; empty for a whole run under its own name.
    pub of: String,
    /// Its invocation, if readable.
    pub info: Option<&'a RunInfo>,
}

#[derive(Template)]
#[template(path = "comparison.html")]
struct Page {
    frame: PageFrame,
    title: String,
    badge: Badge,
    headline: String,
    command: String,
    /// All sides in one table, then figures per price.
    tables: Vec<PageTable>,
    figures: Vec<Figure>,
    figures_note: String,
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
    /// The parameters that keep the cases of the runs apart.
    differing: Vec<String>,
    test: String,
}

pub fn render(compared: &Compared<'_>, sides: &[ComparedSide<'_>], line: &[String]) -> io::Result<String> {
    let [baseline, others @ ..] = compared.names else { return Err(io::Error::other("nothing is compared")) };
    let title = format!("{} against {baseline}", others.join(", "));
    let calls: BTreeSet<Call> =
        compared.comparisons.iter().flat_map(|comparison| &comparison.differences).map(Call::of).collect();
    let verdicts = calls.into_iter().map(Call::badge).collect();
    let (badge, headline) = headline(compared, baseline, others);
    let mut tables = side_by_side::tables(compared.comparisons, compared.legend);
    tables.extend(per_price::tables(compared.per_price, compared.pricing()));
    let (figures, figures_note) = overlaid::figures(compared);
    let page = Page {
        frame: PageFrame::new(&title, env!("CARGO_PKG_VERSION"), Vec::new(), verdicts),
        title: text(&title),
        badge,
        headline,
        command: command(line),
        tables: tables.iter().map(|table| PageTable::new(table, MOST_ROWS)).collect(),
        figures,
        figures_note,
        parts: compared.pairs().enumerate().map(|(at, (names, other))| part(at + 1, names, other)).collect(),
        runs: table_of_sides(sides),
    };
    page.render().map_err(io::Error::other)
}

/// The worst result, in one line.
fn headline(compared: &Compared<'_>, baseline: &str, others: &[String]) -> (Badge, String) {
    let all = || compared.comparisons.iter();
    let number_of_worse = all().filter(|comparison| comparison.is_worse()).count();
    let has =
        |call: Call| all().flat_map(|comparison| &comparison.differences).any(|row| Call::of(row) == call);
    let call = if number_of_worse > 0 {
        Call::Worse
    } else if all().any(Comparison::is_incomplete) {
        Call::NotComparable
    } else if all().any(Comparison::may_be_worse) {
        Call::CannotTell
    } else if has(Call::Better) {
        Call::Better
    } else if has(Call::CannotTell) {
        Call::CannotTell
    } else {
        Call::Same
    };
    let a = text(baseline);
    let said = match (compared.comparisons, others) {
        ([only], [b]) if only.differences.is_empty() => {
            format!("nothing to compare: {a} and {} have no measured case in common", text(b))
        }
        ([only], _) => counts(only),
        (several, _) if number_of_worse > 0 => {
            format!("{number_of_worse} of {} worse than {a}", several.len())
        }
        (several, _) => format!("{} against {a}, none of them worse", several.len()),
    };
    (call.badge(), said)
}

fn part(number: usize, names: Names<'_>, comparison: &Comparison) -> Part {
    let (a, b) = (text(names.a), text(names.b));
    let action = |(badge, ended): (Badge, &Ended)| ActionLine {
        remedy: String::new(),
        commands: Vec::new(),
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
        differing: differences::differing(comparison).iter().map(|told| text(told)).collect(),
        // Text in backticks is a command on a terminal.
        test: test(comparison).unwrap_or_default().replace('`', ""),
    }
}

fn table_of_sides(sides: &[ComparedSide<'_>]) -> PageTable {
    let of = |side: &ComparedSide<'_>, said: &dyn Fn(&RunInfo) -> String| side.info.map(said);
    let remark = |side: &ComparedSide<'_>| if side.name == sides[0].name { "the baseline" } else { "" };
    let table = Builder::new("The runs", sides)
        .words("name", |side| Cell::from(side.name).remark(remark(side)))
        .words("of", |side| side.of.as_str())
        .words("started", |side| of(side, &|info| time(info.started)))
        .words("took", |side| of(side, &|info| took(info).unwrap_or_else(|became| became)))
        .words("on", |side| of(side, &|info| nodes(&info.nodes, MOST_NODES)))
        .words("profile", |side| of(side, &profile))
        .words("Seatrial", |side| of(side, &|info| info.seatrial.clone()))
        .words("command", |side| of(side, &|info| command(&info.command)));
    PageTable::new(&table.finish(), usize::MAX)
}
