//! A comparison as text for a terminal.

use seatrial_analysis::{Comparison, Ended};

use super::Names;
use crate::TextStyle;
use crate::grid;
use crate::ink::{Ink, render_colors};
use crate::notes::Notes;
use crate::terminal::table;
use crate::view::differences::{beside, changed, counts, ended, some_of, tables, test};
use crate::view::table::Table;
use crate::words::{Badge, clean, count};

/// Listed cases that only one of the runs has; more are counted.
const MOST_NAMES: usize = 6;

/// Listed changes of settings and inventory; more are counted.
const MOST_CHANGED: usize = 20;

pub fn render(names: Names<'_>, comparison: &Comparison, style: TextStyle) -> String {
    let mut notes = Notes::default();
    let width = style.width();
    let row =
        |(badge, case): &(Badge, &Ended)| (badge.marked(), clean(&format!("{}: {}", case.case, case.reason)));
    let ended: Vec<_> = ended(comparison).iter().map(row).collect();
    let changed = Table { title: String::new(), ..changed(&comparison.changed) };
    let mut blocks = vec![headline(names, comparison), grid::paragraphs(&ended, width)];
    blocks.push(table::block(changed, MOST_CHANGED, &mut notes, width));
    let tables = tables(&comparison.differences).into_iter();
    blocks.extend(tables.map(|table| table::block(table, usize::MAX, &mut notes, width)));
    let only = [(names.a, &comparison.only_a), (names.b, &comparison.only_b)];
    let only = only.into_iter().filter(|(_, cases)| !cases.is_empty());
    let only: Vec<_> = only
        .map(|(run, cases)| {
            (Ink::Faint.on(&format!("only {}", clean(run))), clean(&some_of(cases, MOST_NAMES)))
        })
        .collect();
    blocks.push(grid::paragraphs(&only, width));
    let how: Vec<_> = test(comparison).map(|test| (Ink::Faint.on("·"), test)).into_iter().collect();
    blocks.push(grid::paragraphs(&how, width));
    blocks.retain(|block| !block.is_empty());
    render_colors(&blocks.join("\n"), style.style)
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
