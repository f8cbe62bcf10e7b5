//! What to act on, the worst first: the problem, and what to do.

use seatrial_model::Verdict;
use seatrial_model::record::Document;

use crate::grid;
use crate::ink::Ink;
use crate::view::actions::{Action, counted};
use crate::view::nodes::is_fleet;
use crate::words::{clean, clean_lines, cut_clauses, set_of};

/// Lines of a thing to act on whose text ends with what to do.
const UNCUT: usize = 6;

/// Characters of the nodes of a thing to act on.
const LONGEST_SET: usize = 40;

/// The first `most` of `all`, each problem in at most `lines`; empty if nothing is to be done.
pub fn block(document: &Document, all: &[Action<'_>], most: usize, lines: usize, width: u16) -> String {
    if all.is_empty() {
        return String::new();
    }
    let longest = all.iter().map(|action| action.badge.word.len() + 5).max().unwrap_or(0);
    let line = usize::from(width).saturating_sub(longest + 4);
    let row = |action: &Action<'_>| {
        let what = clean(&said(action, is_fleet(document)));
        // What to do is never cut.
        let text = match &action.remedy {
            Some(remedy) => {
                format!(
                    "{}\n{}",
                    cut_clauses(&what, lines.saturating_mul(line)),
                    clean_lines(&remedy.to_string())
                )
            }
            None => cut_clauses(&what, lines.max(UNCUT).saturating_mul(line)),
        };
        (action.badge.marked(), text)
    };
    let rows: Vec<_> = all.iter().take(most).map(row).collect();
    let mut text = format!("{}\n{}", Ink::Strong.on("To act on"), grid::paragraphs(&rows, width));
    if all.len() > most {
        text += &format!("{}\n", Ink::Faint.on(&format!(" {} more with --details", all.len() - most)));
    }
    text
}

/// The nodes of a fleet first, where the sentence does not name them.
fn said(action: &Action<'_>, is_fleet: bool) -> String {
    match action.nodes.as_slice() {
        [] => action.what.clone(),
        nodes if !is_fleet || nodes.iter().all(|node| action.what.contains(node)) => action.what.clone(),
        nodes => format!("{}: {}", set_of(nodes, LONGEST_SET), action.what),
    }
}

/// `the worst: memory-copy on n[13,41]`, else the warnings; `None` if nothing is to be done.
pub fn in_short(document: &Document, all: &[Action<'_>]) -> Option<String> {
    let worst = all.first()?;
    let on = match worst.nodes.as_slice() {
        nodes if nodes.is_empty() || !is_fleet(document) => String::new(),
        nodes => format!(" on {}", set_of(nodes, LONGEST_SET)),
    };
    let of = match worst.badge.tone {
        Verdict::Fail => "the worst".to_owned(),
        Verdict::Unknown => "the first".to_owned(),
        _ if all.len() == 1 => "1 warning".to_owned(),
        _ => format!("{}, the first", counted(all)),
    };
    Some(format!("{of}: {}{on}", worst.name))
}
