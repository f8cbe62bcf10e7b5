//! The inventory of the nodes; equal nodes are shown once.

use super::filter::Filter;
use super::shown::Shown;
use super::table::PageTable;
use super::words::text;
use crate::inventory::{self, Node, system, table};
use crate::notes::Notes;
use crate::view::table as view;
use crate::words::set_of;

const MOST: usize = 24;

const LONGEST_SET: usize = 160;

/// Nodes with the same inventory.
pub struct Kind {
    pub names: String,
    pub filter: Filter,
    /// The machine as a whole: label and text.
    pub facts: Vec<(&'static str, String)>,
    pub parts: PageTable,
    /// Unreadable or unusual items.
    pub remarks: Vec<String>,
}

/// The kinds of nodes, the most frequent first.
pub fn kinds(shown: &Shown<'_>) -> Vec<Kind> {
    let mut kinds = inventory::kinds(shown.context.nodes);
    kinds.truncate(MOST);
    kinds.iter().map(|(node, names)| kind(shown, node, names)).collect()
}

fn kind(shown: &Shown<'_>, node: &Node, names: &[&str]) -> Kind {
    let mut notes = Notes::default();
    let facts = system::rows(&node.machine, &mut notes);
    let title = set_of(names, LONGEST_SET);
    let parts = view::Table { title: format!("Parts of {title}"), ..table(node) };
    Kind {
        names: text(&title),
        filter: shown.filter_of(names.iter().copied(), Filter::ANY),
        facts: facts.iter().map(|(label, said)| (*label, text(said))).collect(),
        parts: PageTable::behind(notes, &parts),
        remarks: remarks(node),
    }
}

fn remarks(node: &Node) -> Vec<String> {
    let remarks = node.machine.remarks.iter();
    remarks.map(|remark| text(&format!("{}: {}", remark.subject, remark.text))).collect()
}
