//! Next steps: the commands that measure again what failed, and the run folder.

use seatrial_model::Verdict;
use seatrial_model::record::{CaseRecord, Document};

use super::{Content, TerminalContext};
use crate::grid;
use crate::ink::Ink;
use crate::repeat_command::repeats;
use crate::view::actions::Action;
use crate::words::clean;

/// Commands that measure again.
const MOST_REPEATS: usize = 3;

/// What to type next about `actions`.
pub fn block(
    document: &Document,
    context: &TerminalContext<'_>,
    actions: &[Action<'_>],
    width: u16,
) -> String {
    let bad = actions.iter().filter(|action| action.badge.tone > Verdict::Warn);
    let cases: Vec<&CaseRecord> = bad.flat_map(|action| action.repeats.iter().copied()).collect();
    let commands = repeats(&cases, &document.run).into_iter().take(MOST_REPEATS);
    let mut rows: Vec<(String, String)> =
        commands.map(|(label, command)| (label.to_owned(), command)).collect();
    if document.verdicts.iter().any(|record| record.verdict == Verdict::Fail)
        && let Some(case) = cases.first()
    {
        rows.push(("all checks".to_owned(), format!("seatrial list {}", clean(&case.bench))));
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
