//! What to act on, the worst first: the problem, and what to do.

use seatrial_model::profile::fold;
use seatrial_model::record::Document;
use seatrial_model::{Actor, Remedy, Verdict};

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
                    clean_lines(&to_do(action, remedy, is_fleet(document)))
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
        nodes if !is_fleet || names_all(&action.what, nodes) => action.what.clone(),
        nodes => format!("{}: {}", set_of(nodes, LONGEST_SET), action.what),
    }
}

/// What to do, and who does it; in a fleet also where, unless the action says so.
fn to_do(action: &Action<'_>, remedy: &Remedy, is_fleet: bool) -> String {
    match action.nodes.as_slice() {
        nodes if !is_fleet || names_all(&remedy.action, nodes) => remedy.to_string(),
        nodes => {
            let place = if remedy.actor == Actor::Root { "on" } else { "for" };
            let nodes = set_of(nodes, LONGEST_SET);
            format!("do ({}, {place} {nodes}): {}", remedy.actor.words(), remedy.action)
        }
    }
}

/// Whether `text` has the names of all nodes as words, or folded into one.
fn names_all(text: &str, nodes: &[&str]) -> bool {
    let is_other = |sign: char| !(sign.is_alphanumeric() || "-_.".contains(sign));
    let has = |node: &&str| text.split(is_other).any(|word| word.trim_end_matches('.') == *node);
    nodes.iter().all(has) || nodes.len() > 1 && text.contains(&fold(nodes))
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
