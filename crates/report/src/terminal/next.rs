//! Next steps: the command that repeats the worst row, and the run folder.

use seatrial_model::Verdict;
use seatrial_model::record::Document;

use super::{Content, TerminalContext};
use crate::grid;
use crate::ink::Ink;
use crate::repeat_command::repeat;
use crate::view::actions::actions;
use crate::words::clean;

pub fn block(document: &Document, context: &TerminalContext<'_>, width: u16) -> String {
    let mut rows = Vec::new();
    let worst = actions(document).into_iter().find(|action| action.badge.tone > Verdict::Warn);
    let worst =
        worst.and_then(|action| document.results.iter().find(|case| Some(case.case.as_str()) == action.case));
    if let Some(case) = worst {
        rows.push(("repeat the worst".to_owned(), repeat(case, &document.run)));
        if document.verdicts.iter().any(|record| record.verdict == Verdict::Fail) {
            rows.push(("what may be wrong".to_owned(), format!("seatrial list {}", clean(&case.bench))));
        }
    }
    rows.extend(context.next.iter().map(|(label, text)| (clean(label), clean(text))));
    let is_all = matches!(context.content, Content::Details);
    if !is_all && context.folder.is_some() {
        let command = format!("seatrial report {} --details", clean(&document.run.id));
        rows.push(("every table".to_owned(), command));
    }
    if let Some(folder) = context.folder.filter(|_| is_all) {
        rows.push(("kept in".to_owned(), clean(&folder.display().to_string())));
    }
    let label = |(label, text): (String, String)| (Ink::Faint.on(&label), text);
    let rows: Vec<_> = rows.into_iter().map(label).collect();
    // Commands and paths are for copying, so they are never wrapped.
    let unbroken = rows.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
    grid::paragraphs(&rows, width.max(u16::try_from(unbroken).unwrap_or(u16::MAX).saturating_add(32)))
}
