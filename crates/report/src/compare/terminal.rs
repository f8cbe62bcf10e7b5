//! A comparison as text for a terminal.

use seatrial_analysis::{Comparison, Ended};

use super::{Compared, Names};
use crate::TextStyle;
use crate::grid;
use crate::ink::{Ink, render_colors};
use crate::notes::Notes;
use crate::terminal::table;
use crate::view::differences::{
    self, beside, changed, counts, differing, ended, some_of, summary, tables, test,
};
use crate::view::table::Table;
use crate::view::{per_price, side_by_side};
use crate::words::{Badge, clean, count};

/// Listed cases that only one of the runs has; more are counted.
const MOST_NAMES: usize = 6;

/// Differences that are told above the tables; more are counted.
const MOST_FOREMOST: usize = 8;

/// Rows of the table of headline figures.
const MOST_ROWS: usize = 24;

/// Listed changes of settings and inventory; more are counted.
const MOST_CHANGED: usize = 20;

/// How much of a comparison is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareContent {
    /// One table of the headline figures, and of what is clearly better or worse.
    Summary,
    /// A table for each metric, with intervals.
    Details,
}

/// All sides in one table where there are more than two, figures per price, and each comparison with the first side.
pub fn render(compared: &Compared<'_>, content: CompareContent, style: TextStyle) -> String {
    let (mut notes, width) = (Notes::default(), style.width());
    let mut tables = side_by_side::tables(compared.comparisons, compared.legend);
    tables.extend(per_price::tables(compared.per_price, compared.pricing()));
    let mut blocks: Vec<String> =
        tables.into_iter().map(|table| table::block(table, usize::MAX, &mut notes, width)).collect();
    let of_pair = |(names, comparison)| of_pair(names, comparison, content, width);
    blocks.extend(compared.pairs().map(of_pair));
    render_colors(&blocks.join("\n"), style.style)
}

fn of_pair(names: Names<'_>, comparison: &Comparison, content: CompareContent, width: u16) -> String {
    let mut notes = Notes::default();
    let row =
        |(badge, case): &(Badge, &Ended)| (badge.marked(), clean(&format!("{}: {}", case.case, case.reason)));
    let ended: Vec<_> = ended(comparison).iter().map(row).collect();
    let changed = Table { title: String::new(), ..changed(&comparison.changed) };
    let mut blocks = vec![headline(names, comparison)];
    let tables = tables(&comparison.differences);
    let summary =
        (content == CompareContent::Summary && tables.len() > 1).then(|| summary(comparison, MOST_ROWS));
    if summary.is_none() {
        blocks.push(foremost(comparison, width));
    }
    blocks.push(grid::paragraphs(&ended, width));
    blocks.push(table::block(changed, MOST_CHANGED, &mut notes, width));
    let is_summary = summary.is_some();
    let tables = summary.map_or(tables, |summary| vec![summary]).into_iter();
    blocks.extend(tables.map(|table| table::block(table, usize::MAX, &mut notes, width)));
    blocks.push(grid::paragraphs(&only(names, comparison), width));
    if !is_summary {
        let how: Vec<_> = test(comparison).map(|test| (Ink::Faint.on("·"), test)).into_iter().collect();
        blocks.push(grid::paragraphs(&how, width));
    }
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

fn foremost(comparison: &Comparison, width: u16) -> String {
    let (told, more) = differences::foremost(comparison, MOST_FOREMOST);
    let mut lines: Vec<_> = told.iter().map(|(badge, text)| (badge.marked(), clean(text))).collect();
    if more > 0 {
        lines.push((Ink::Faint.on("·"), format!("{more} more in the tables")));
    }
    grid::paragraphs(&lines, width)
}

/// The cases of one run only; where the runs share none, the parameters that keep them apart instead.
fn only(names: Names<'_>, comparison: &Comparison) -> Vec<(String, String)> {
    let differing = differing(comparison);
    if comparison.differences.is_empty() && !differing.is_empty() {
        return differing.iter().map(|told| (Ink::Faint.on("differs"), clean(told))).collect();
    }
    let only = [(names.a, &comparison.only_a), (names.b, &comparison.only_b)];
    let only = only.into_iter().filter(|(_, cases)| !cases.is_empty());
    only.map(|(run, cases)| {
        (Ink::Faint.on(&format!("only {}", clean(run))), clean(&some_of(cases, MOST_NAMES)))
    })
    .collect()
}

fn headline(names: Names<'_>, comparison: &Comparison) -> String {
    let (a, b) = (clean(names.a), clean(names.b));
    if comparison.differences.is_empty() {
        return format!("nothing to compare: {a} and {b} have no measured case in common\n");
    }
    let line = |told: String| if told.is_empty() { told } else { format!(" {told}\n") };
    let title = format!("{b} against {a}, {}", count(comparison.differences.len(), "metric"));
    format!("{}\n{}{}", Ink::Strong.on(&title), line(counts(comparison)), line(beside(comparison)))
}
