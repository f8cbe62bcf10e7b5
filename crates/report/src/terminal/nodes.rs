//! The results of a fleet: one row per node, the worst first; equal nodes that pass are folded.

use seatrial_model::Verdict;
use seatrial_model::profile::fold;
use seatrial_model::record::Document;

use super::table;
use crate::grid;
use crate::ink::Ink;
use crate::notes::Notes;
use crate::view::nodes::{NodeSummary, is_fleet, summaries, table as view};
use crate::view::table::{Row, Table};
use crate::words::{Badge, clean, count};

/// Rows of nodes; of a larger fleet the worst are shown and the others folded by verdict.
pub const MOST_ROWS: usize = 16;

/// Columns beside a folded node set: a longer set is only counted, as names must not be broken.
const BESIDE: u16 = 34;

/// The nodes of a fleet, `most` of them in rows; empty for a single machine.
pub fn block(document: &Document, most: usize, notes: &mut Notes, width: u16) -> String {
    if !is_fleet(document) {
        return String::new();
    }
    let nodes = summaries(document);
    let mut all = view(document, &nodes, None);
    let is_judged = document.verdict.is_some();
    if is_judged {
        // The headline has the numbers of nodes, those that may be used, and those that nothing was demanded of.
        all.title.clear();
    }
    let is_open = |(node, row): &(&NodeSummary<'_>, &Row)| {
        let is_small = nodes.len() <= most && !(is_judged && node.is_unjudged());
        is_small || row.tone > Some(Verdict::Pass) || node.has_problem
    };
    let (listed, closed): (Vec<_>, Vec<_>) = nodes.iter().zip(&all.rows).partition(is_open);
    let (shown, rest) = listed.split_at(listed.len().min(most));
    let shown = Table { rows: shown.iter().map(|(_, row)| (*row).clone()).collect(), ..all.clone() };
    let mut folded: Vec<(Badge, Vec<&str>)> = Vec::new();
    for (_, row) in rest.iter().chain(&closed) {
        let Some(badge) = row.cells.first().and_then(|cell| cell.badge) else { continue };
        let nodes = row.nodes.iter().map(String::as_str);
        match folded.iter_mut().find(|(known, _)| *known == badge) {
            Some((_, known)) => known.extend(nodes),
            None => folded.push((badge, nodes.collect())),
        }
    }
    folded.retain(|(badge, _)| !is_judged || badge.tone > Verdict::Pass);
    let rows: Vec<_> =
        folded.iter().map(|(badge, nodes)| (badge.marked(), set(nodes, badge.tone, width))).collect();
    let number_shown = shown.rows.len();
    let mut text = match shown.rows.as_slice() {
        [] if is_judged => String::new(),
        [] => format!("{}\n", Ink::Strong.on(&clean(&all.title))),
        _ => table::text(shown, most, notes, width),
    };
    text += &grid::paragraphs(&rows, width);
    if listed.len() > number_shown {
        let command = format!(" every failed node: seatrial report {} --nodes fail", clean(&document.run.id));
        text += &format!("{}\n", Ink::Faint.on(&command));
    }
    text + &notes.flush(width)
}

/// `18 nodes: n[01-16,18-19]`.
fn set(nodes: &[&str], tone: Verdict, width: u16) -> String {
    let folded = clean(&fold(nodes));
    let noun = if tone > Verdict::Pass { "more node" } else { "node" };
    let number = count(nodes.len(), noun);
    if folded.chars().count() > usize::from(width.saturating_sub(BESIDE)) {
        number
    } else {
        format!("{number}: {folded}")
    }
}
