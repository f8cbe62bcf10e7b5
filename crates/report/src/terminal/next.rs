//! Next steps: the commands that measure again what failed, and the run folder.

use seatrial_model::record::Document;

use super::{Content, TerminalContext};
use crate::grid;
use crate::ink::Ink;
use crate::view::actions::{Action, commands, judging};
use crate::words::clean;

/// Commands that measure again.
const MOST_REPEATS: usize = 4;

/// The commands that measure again what `actions` are about, and the one that also judges again.
pub fn repeats(document: &Document, actions: &[Action<'_>]) -> String {
    let all: Vec<&Action<'_>> = actions.iter().collect();
    let repeats = commands(document, &all).into_iter().take(MOST_REPEATS);
    let mut rows: Vec<(String, String)> =
        repeats.map(|(label, command)| (label.to_owned(), command)).collect();
    rows.extend(
        judging(document, actions).map(|command| ("measure and judge again".to_owned(), clean(&command))),
    );
    if rows.is_empty() {
        return String::new();
    }
    format!("{}\n{}", Ink::Strong.on("Measure again"), unbroken(rows))
}

/// What to type next.
pub fn block(document: &Document, context: &TerminalContext<'_>) -> String {
    let mut rows: Vec<(String, String)> =
        context.next.iter().map(|(label, text)| (clean(label), clean(text))).collect();
    let is_all = matches!(context.content, Content::Details);
    if !is_all && context.folder.is_some() {
        let command = format!("seatrial report {} --details", clean(&document.run.id));
        rows.push(("every table".to_owned(), command));
    }
    if let Some(folder) = context.folder.filter(|_| is_all) {
        rows.push(("kept in".to_owned(), clean(&folder.display().to_string())));
    }
    unbroken(rows)
}

/// Commands and paths are for copying, so they are never wrapped.
fn unbroken(rows: Vec<(String, String)>) -> String {
    let rows: Vec<_> = rows.into_iter().map(|(label, text)| (Ink::Faint.on(&label), text)).collect();
    let longest = rows.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
    grid::paragraphs(&rows, u16::try_from(longest).unwrap_or(u16::MAX).saturating_add(32))
}
