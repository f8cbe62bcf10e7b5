//! A comparison as text for a terminal.

use seatrial_analysis::{Change, Changed, Comparison, Difference, Ended, Side};
use seatrial_model::profile::fold;
use seatrial_model::{Better, Unit};

use super::{Call, Names, beside, counts, interval, test, why, worst_first};
use crate::TextStyle;
use crate::grid::{self, Column};
use crate::ink::{Ink, render_colors};
use crate::labels::{self, Label};
use crate::notes::Notes;
use crate::number::{self, decimals};
use crate::words::{clean, count};

/// Cases named one by one that only one of the runs has; more are counted.
const MOST_NAMES: usize = 6;

/// Things listed that changed beside the numbers; more are counted.
const MOST_CHANGED: usize = 20;

/// The comparison as text for a terminal.
pub fn render(names: Names<'_>, comparison: &Comparison, style: TextStyle) -> String {
    let mut notes = Notes::default();
    let width = style.width();
    let mut blocks = vec![headline(names, comparison), ended(comparison, width), changed(comparison, width)];
    for rows in tables(&comparison.differences) {
        let table = grid::fitted(&columns(&rows, &mut notes), width);
        blocks.push(format!("{}\n{table}{}", Ink::Strong.on(&title(rows[0])), notes.flush(width)));
    }
    let only = [(names.a, &comparison.only_a), (names.b, &comparison.only_b)];
    let only = only.into_iter().filter(|(_, cases)| !cases.is_empty());
    let only: Vec<_> =
        only.map(|(run, cases)| (Ink::Faint.on(&format!("only {}", clean(run))), some_of(cases))).collect();
    blocks.push(grid::paragraphs(&only, width));
    let how: Vec<_> = test(comparison).map(|test| (Ink::Faint.on("·"), test)).into_iter().collect();
    blocks.push(grid::paragraphs(&how, width));
    blocks.retain(|block| !block.is_empty());
    render_colors(&blocks.join("\n"), style.style)
}

fn headline(names: Names<'_>, comparison: &Comparison) -> String {
    let (a, b) = (clean(names.a), clean(names.b));
    if comparison.differences.is_empty() {
        return format!("nothing to compare: {a} and {b} share no case\n");
    }
    let line = |told: String| if told.is_empty() { told } else { format!(" {told}\n") };
    let title = format!("{b} against {a}, {}", count(comparison.differences.len(), "metric"));
    format!("{}\n{}{}", Ink::Strong.on(&title), line(counts(comparison)), line(beside(comparison)))
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

/// One table a benchmark, metric and unit, the one with the worst row first.
fn tables(differences: &[Difference]) -> Vec<Vec<&Difference>> {
    let mut tables: Vec<Vec<&Difference>> = Vec::new();
    for row in worst_first(differences) {
        let is_of = |rows: &&mut Vec<&Difference>| {
            let first = rows[0];
            first.bench == row.bench && first.metric == row.metric && first.unit == row.unit
        };
        match tables.iter_mut().find(is_of) {
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

fn columns(rows: &[&Difference], notes: &mut Notes) -> Vec<Column> {
    let all_labels: Vec<Label> = rows.iter().map(|row| Label::of_difference(row)).collect();
    let mut columns = labels::columns(&all_labels);
    // Differences of a percent are what this table is for, so it shows a digit more than others.
    let decimals = 1 + decimals(rows.iter().flat_map(|row| [row.a.value, row.b.value]).flatten());
    let value = |side: &Side| side.value.map_or(String::new(), |value| format!("{value:.decimals$}"));
    let cells = |text: fn(&Change) -> String| {
        rows.iter().map(|row| row.change.as_ref().map_or(String::new(), text)).collect::<Vec<_>>()
    };
    columns.extend([
        Column::numbers("before", rows.iter().map(|row| value(&row.a)).collect()),
        Column::numbers("after", rows.iter().map(|row| value(&row.b)).collect()),
        Column::numbers("change", cells(|change| number::change(change.percent))),
        Column::numbers("95 % interval", cells(interval)),
        // What it all comes to is never broken into lines.
        Column::words("", rows.iter().map(|row| called(row, notes)).collect()).unbroken(),
    ]);
    columns.retain(|column| !column.is_empty());
    columns
}

/// Sign and word, with a note where nothing can be told.
fn called(row: &Difference, notes: &mut Notes) -> String {
    let call = Call::of(row);
    let ink = match call {
        Call::Worse => Ink::Bad,
        Call::Better => Ink::Good,
        Call::Same => Ink::Faint,
        Call::CannotTell | Call::NotComparable => Ink::Doubt,
    };
    let word = ink.on(&format!("{} {}", call.sign(), call.word()));
    let note = match &row.change {
        Ok(change) => why(change),
        Err(why) => Some(why.clone()),
    };
    note.map_or_else(|| word.clone(), |note| format!("{word} {}", notes.refer(&note)))
}

fn some_of(cases: &[String]) -> String {
    let mut text = cases.iter().take(MOST_NAMES).map(|case| clean(case)).collect::<Vec<_>>().join(", ");
    if cases.len() > MOST_NAMES {
        text += &format!(" and {} more", cases.len() - MOST_NAMES);
    }
    text
}
