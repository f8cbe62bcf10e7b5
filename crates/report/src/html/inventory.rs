//! What the nodes are; nodes that are alike are told once.

use std::collections::HashMap;

use super::shown::Shown;
use super::table::{Cell, Filter, Head, Row, Table};
use super::words::{set_of, text, unmarked};
use crate::inventory::{Node, name, parts, row, system};
use crate::notes::Notes;

/// Kinds of nodes at most.
const MOST: usize = 24;

/// Characters of a folded set of nodes.
const LONGEST_SET: usize = 160;

/// Nodes that are alike.
pub struct Kind {
    pub names: String,
    /// What they can be filtered by.
    pub filter: Filter,
    /// The machine as a whole: label and text.
    pub facts: Vec<(String, String)>,
    /// Its parts with their limits.
    pub parts: Table,
    /// What could not be read or looks odd.
    pub remarks: Vec<String>,
}

/// The kinds of nodes, the most frequent first.
pub fn kinds(shown: &Shown<'_>) -> Vec<Kind> {
    // Machines that differ in what nobody reads about, such as a serial number, look alike all the same.
    let mut kinds: Vec<(Kind, Vec<&str>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for node in shown.context.nodes {
        let kind = of_node(node);
        let looks = format!("{:?}{:?}{:?}", kind.facts, rows(&kind.parts), kind.remarks);
        let at = *places.entry(looks).or_insert(kinds.len());
        match kinds.get_mut(at) {
            Some((_, names)) => names.push(&node.name),
            None => kinds.push((kind, vec![&node.name])),
        }
    }
    kinds.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    kinds.truncate(MOST);
    let named = |(kind, names): (Kind, Vec<&str>)| {
        let title = set_of(&names, LONGEST_SET);
        let parts = Table { caption: format!("Parts of {title}"), ..kind.parts };
        Kind { filter: shown.filter_of(names.iter().copied(), Filter::ANY), names: title, parts, ..kind }
    };
    kinds.into_iter().map(named).collect()
}

fn rows(table: &Table) -> Vec<&str> {
    table.rows.iter().flat_map(|row| &row.cells).map(|cell| cell.text.as_str()).collect()
}

fn of_node(node: &Node) -> Kind {
    let mut notes = Notes::default();
    let facts = system::rows(&node.machine, &mut notes);
    let facts = facts.into_iter().map(|(label, said)| (unmarked(&label), text(&unmarked(&said)))).collect();
    let found: Vec<_> =
        parts::all(&node.machine).into_iter().map(|part| row(part, &node.limits, &mut notes)).collect();
    let cells = |found: &crate::inventory::Row| {
        let said = [name(found), found.text.clone(), found.limit.clone(), found.from.clone()];
        Vec::from(said.map(|said| Cell::new(text(&unmarked(&said)))))
    };
    let rows = crate::inventory::fold(found)
        .iter()
        .map(|found| Row { cells: cells(found), ..Row::default() })
        .collect();
    let heads = vec![
        Head::words("part"),
        Head::words("what it is"),
        Head::numbers("limit", ""),
        Head::words("derived from"),
    ];
    let parts = Table { heads, rows, ..Table::default() };
    let remarks = node
        .machine
        .remarks
        .iter()
        .map(|remark| text(&format!("{}: {}", remark.subject, remark.text)))
        .collect();
    let parts = Table { notes: notes.take(), ..parts.tidy() };
    Kind { names: String::new(), filter: Filter::default(), facts, parts, remarks }
}
