//! Two runs side by side: what became better, what worse, what stayed, and what cannot be told.

use seatrial_analysis::{BY_CHANCE, Change, Changed, Comparison, Difference, Ended, Side};
use seatrial_model::profile::fold;
use seatrial_model::{Better, Unit};
use seatrial_stats::Verdict;

use crate::Look;
use crate::grid::{self, Column};
use crate::ink::{Ink, develop};
use crate::labels::{self, Label};
use crate::notes::Notes;
use crate::number::{decimals, share};
use crate::words::{clean, count};

/// Cases named one by one that only one of the runs has; more are counted.
const MOST_NAMES: usize = 6;

/// Things listed that changed beside the numbers; more are counted.
const MOST_CHANGED: usize = 20;

/// The two runs of a comparison, as the person named them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a> {
    /// The baseline.
    pub a: &'a str,
    /// The candidate.
    pub b: &'a str,
}

/// The comparison as text for a terminal.
pub fn render(names: Names<'_>, comparison: &Comparison, look: Look) -> String {
    let mut notes = Notes::default();
    let width = look.width();
    let mut blocks = vec![headline(names, comparison), ended(comparison, width), changed(comparison, width)];
    for rows in tables(&comparison.differences) {
        let table = grid::fitted(&columns(names, &rows, &mut notes), width);
        blocks.push(format!("{}\n{table}{}", Ink::Strong.on(&title(rows[0])), notes.flush(width)));
    }
    let only = [(names.a, &comparison.only_a), (names.b, &comparison.only_b)];
    let only = only.into_iter().filter(|(_, cases)| !cases.is_empty());
    let only: Vec<_> =
        only.map(|(run, cases)| (Ink::Faint.on(&format!("only {}", clean(run))), some_of(cases))).collect();
    blocks.push(grid::paragraphs(&only, width));
    blocks.push(the_test(comparison, width));
    blocks.retain(|block| !block.is_empty());
    develop(&blocks.join("\n"), look.style)
}

fn headline(names: Names<'_>, comparison: &Comparison) -> String {
    let all = &comparison.differences;
    let (a, b) = (clean(names.a), clean(names.b));
    if all.is_empty() {
        return format!("nothing to compare: {a} and {b} share no case\n");
    }
    let told = |verdict| {
        all.iter().filter(|row| row.change.as_ref().is_ok_and(|change| change.verdict == verdict)).count()
    };
    let incomparable = all.iter().filter(|row| row.change.is_err()).count();
    let numbers = [
        (told(Verdict::Worse), "worse"),
        (told(Verdict::Better), "better"),
        (told(Verdict::Same), "the same"),
        (told(Verdict::CannotTell), "cannot be told apart"),
        (incomparable, "not comparable"),
    ];
    let beside = [
        (comparison.broken.len(), "now failing"),
        (comparison.mended.len(), "no longer failing"),
        (comparison.unmeasured.len(), "no longer measured"),
        (comparison.changed.len(), "changed beside them"),
    ];
    let line = |numbers: &[(usize, &str)]| {
        let told = numbers.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}"));
        let told = told.collect::<Vec<_>>().join(", ");
        if told.is_empty() { told } else { format!(" {told}\n") }
    };
    let title = format!("{b} against {a}, {}", count(all.len(), "metric"));
    format!("{}\n{}{}", Ink::Strong.on(&title), line(&numbers), line(&beside))
}

/// Cases that ended in one run as they did not in the other.
fn ended(comparison: &Comparison, width: u16) -> String {
    let rows = |label: String, cases: &[Ended]| -> Vec<(String, String)> {
        cases.iter().map(|it| (label.clone(), clean(&format!("{}: {}", it.case, it.reason)))).collect()
    };
    let mut all = rows(Ink::Bad.on("▼ fails now"), &comparison.broken);
    all.extend(rows(Ink::Good.on("▲ failed before"), &comparison.mended));
    all.extend(rows(Ink::Doubt.on("? unmeasured now"), &comparison.unmeasured));
    grid::paragraphs(&all, width)
}

/// Settings and inventory that are not as they were.
fn changed(comparison: &Comparison, width: u16) -> String {
    if comparison.changed.is_empty() {
        return String::new();
    }
    let shown = &comparison.changed[..comparison.changed.len().min(MOST_CHANGED)];
    let cells =
        |text: &dyn Fn(&Changed) -> String| shown.iter().map(|it| clean(&text(it))).collect::<Vec<_>>();
    let nodes = |it: &Changed| fold(&it.nodes.iter().map(String::as_str).collect::<Vec<_>>());
    let columns = [
        Column::words("changed", cells(&|it| it.what.clone())),
        Column::words("before", cells(&|it| it.before.clone())),
        Column::words("after", cells(&|it| it.after.clone())),
        Column::words("on", cells(&nodes)),
    ];
    let more = comparison.changed.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more\n") } else { String::new() };
    format!("{}{more}", grid::fitted(&columns, width))
}

/// By which test the words were chosen.
fn the_test(comparison: &Comparison, width: u16) -> String {
    if comparison.differences.iter().all(|row| row.change.is_err()) {
        return String::new();
    }
    let same = match comparison.same_within {
        Some(within) => format!("same: shown to lie within {} of the first", share(100.0 * within)),
        None => "same: equal in every trial".to_owned(),
    };
    let text = format!(
        "better and worse: Welch's t test over the trials, chosen so that of all that are called so {} at most are by \
         chance; {same}. It speaks of these two runs: how runs of a machine differ by themselves, `seatrial history` shows",
        share(100.0 * BY_CHANCE)
    );
    grid::paragraphs(&[(Ink::Faint.on("·"), text)], width)
}

/// One table a benchmark, metric and unit, in the order of the first row of each.
fn tables(differences: &[Difference]) -> Vec<Vec<&Difference>> {
    let mut tables: Vec<Vec<&Difference>> = Vec::new();
    for row in differences {
        let key = |row: &Difference| (row.bench.clone(), row.metric.clone(), row.unit);
        match tables.iter_mut().find(|rows| key(rows[0]) == key(row)) {
            Some(rows) => rows.push(row),
            None => tables.push(vec![row]),
        }
    }
    tables
}

fn title(row: &Difference) -> String {
    let unit = if row.unit == Unit::Count { String::new() } else { format!(" in {}", row.unit) };
    let direction = match row.better {
        Better::Higher => ", higher is better",
        Better::Lower => ", lower is better",
        Better::None => "",
    };
    let metric = if row.metric.is_empty() { "without numbers" } else { &row.metric };
    clean(&format!("{} · {metric}{unit}{direction}", row.bench))
}

fn columns(names: Names<'_>, rows: &[&Difference], notes: &mut Notes) -> Vec<Column> {
    let all_labels: Vec<Label> = rows.iter().map(|row| Label::of_difference(row)).collect();
    let mut columns = labels::columns(&all_labels);
    // Differences of a percent are what this table is for, so it shows a digit more than others.
    let decimals = 1 + decimals(rows.iter().flat_map(|row| [row.a.median, row.b.median]).flatten());
    let median = |side: &Side| side.median.map_or(String::new(), |median| format!("{median:.decimals$}"));
    let change = |row: &&Difference| row.change.as_ref().ok().copied();
    let percent = |row: &&Difference| change(row).map_or(String::new(), |change| signed(change.percent));
    let mut told = |row: &&Difference| match &row.change {
        Ok(change) => call(change, notes),
        Err(why) => format!("{} {}", Ink::Doubt.on("? not comparable"), notes.refer(why)),
    };
    columns.extend([
        Column::numbers(head(names.a), rows.iter().map(|row| median(&row.a)).collect()),
        Column::numbers(head(names.b), rows.iter().map(|row| median(&row.b)).collect()),
        Column::numbers("change", rows.iter().map(percent).collect()),
        Column::numbers(
            "95 % interval",
            rows.iter().map(|row| change(row).map_or(String::new(), interval)).collect(),
        ),
        // What it all comes to is never broken into lines.
        Column::words("", rows.iter().map(&mut told).collect()).unbroken(),
    ]);
    columns.retain(|column| !column.is_empty());
    columns
}

/// Longest name of a run in one line: an id is put into one line a piece, so that the numbers below have the room.
const LONGEST_NAME: usize = 12;

fn head(name: &str) -> String {
    let name = clean(name);
    if name.chars().count() <= LONGEST_NAME { name } else { name.replace('-', "-\n") }
}

fn signed(percent: f64) -> String {
    let plus = if percent > 0.0 { "+" } else { "" };
    format!("{plus}{}", share(percent))
}

fn interval(change: Change) -> String {
    change.interval.map_or(String::new(), |(low, high)| format!("{} … {}", signed(low), signed(high)))
}

/// Sign and word; where nothing can be told, a note says from which size on it could have been.
fn call(change: &Change, notes: &mut Notes) -> String {
    match change.verdict {
        Verdict::Worse => Ink::Bad.on("▼ worse"),
        Verdict::Better => Ink::Good.on("▲ better"),
        Verdict::Same => Ink::Faint.on("= same"),
        Verdict::CannotTell if change.may_be_chance => {
            let why = "it would be called by itself, but among so many comparisons differences like it come by chance";
            format!("{} {}", Ink::Doubt.on("? cannot tell"), notes.refer(why))
        }
        Verdict::CannotTell => {
            let from = change.smallest_percent.map(|percent| {
                notes.refer(&format!(
                    "trials like these show differences from {} on nine times in ten",
                    share(percent)
                ))
            });
            format!("{} {}", Ink::Doubt.on("? cannot tell"), from.unwrap_or_default())
        }
    }
}

fn some_of(cases: &[String]) -> String {
    let mut text = cases.iter().take(MOST_NAMES).map(|case| clean(case)).collect::<Vec<_>>().join(", ");
    if cases.len() > MOST_NAMES {
        text += &format!(" and {} more", cases.len() - MOST_NAMES);
    }
    text
}
