//! What to do next: the command that repeats the worst row, and where everything is kept.

use std::cmp::Reverse;

use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{Outcome, Verdict, VerdictRecord};

use super::TerminalContext;
use crate::grid;
use crate::ink::Ink;
use crate::repeat_command::repeat;
use crate::view::nodes::{is_fleet, shortfall};
use crate::words::clean;

pub fn block(document: &Document, context: &TerminalContext<'_>, width: u16) -> String {
    let mut rows = Vec::new();
    if let Some(case) = worst(document) {
        rows.push(("that case alone".to_owned(), repeat(case, &document.run)));
        if document.verdicts.iter().any(|record| record.verdict == Verdict::Fail) {
            rows.push(("what may be wrong".to_owned(), format!("seatrial list {}", clean(&case.bench))));
        }
    }
    rows.extend(context.next.iter().map(|(label, text)| (clean(label), clean(text))));
    if let Some(folder) = context.folder {
        rows.push(("kept in".to_owned(), clean(&folder.display().to_string())));
    }
    let label = |(label, text): (String, String)| (Ink::Faint.on(&label), text);
    let rows: Vec<_> = rows.into_iter().map(label).collect();
    // Commands and paths are copied, so they are never broken into lines.
    let unbroken = rows.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
    grid::paragraphs(&rows, width.max(u16::try_from(unbroken).unwrap_or(u16::MAX).saturating_add(32)))
}

/// The case most worth running again: judged worst, or failed.
fn worst(document: &Document) -> Option<&CaseRecord> {
    let judged =
        document.verdicts.iter().filter(|record| record.verdict > Verdict::Warn && record.case.is_some());
    // Of several that are as bad, the first one stands at the top of the table.
    // The first node of a fleet's table is the one that is furthest off.
    let weight = |record: &&VerdictRecord| {
        (record.verdict, Reverse(if is_fleet(document) { shortfall(record) } else { 0 }))
    };
    let heaviest = judged.rev().max_by_key(weight).and_then(|record| record.case.as_deref());
    let case = heaviest.and_then(|id| document.results.iter().find(|case| case.case.as_str() == id));
    case.or_else(|| document.results.iter().find(|case| case.outcome == Outcome::Failed))
}
