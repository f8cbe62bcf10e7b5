//! The findings, the worst first, a paragraph each.

use seatrial_model::Severity;
use seatrial_model::record::Document;

use crate::grid;
use crate::ink::Ink;
use crate::view::findings::{Found, by_cause, found};
use crate::words::{clean, count};

const MOST_ROWS: usize = 40;

pub fn block(document: &Document, width: u16) -> String {
    rows(&by_cause(found(document)), width)
}

/// Those that call for no action.
pub fn good_to_know(document: &Document, width: u16) -> String {
    let mut found = found(document);
    found.retain(|found| found.finding.severity == Severity::Info);
    rows(&by_cause(found), width)
}

fn rows(found: &[Found<'_>], width: u16) -> String {
    let Some(worst) = found.first() else { return String::new() };
    let title = if worst.finding.severity > Severity::Info { "To be looked at" } else { "Good to know" };
    let row = |found: &Found<'_>| {
        let text = format!("{}: {} ({})", found.finding.kind, found.text(), found.about());
        (found.badge().marked(), clean(&text))
    };
    let rows: Vec<_> = found.iter().take(MOST_ROWS).map(row).collect();
    let mut text = format!("{}\n{}", Ink::Strong.on(title), grid::paragraphs(&rows, width));
    if found.len() > MOST_ROWS {
        let more = format!(" {}, in the JSON form", count(found.len() - MOST_ROWS, "more finding"));
        text += &format!("{}\n", Ink::Faint.on(&more));
    }
    text
}
