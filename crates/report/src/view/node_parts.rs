//! The parts of each node of a fleet: a row per node, the worst first, good ones in the order of the run, a column per part.

use std::collections::HashMap;

use seatrial_model::record::Document;

use super::nodes::summaries;
use super::parts::{Part, of_each_node};
use super::shade::Shade;

/// The results of the nodes by part.
pub struct NodeParts<'a> {
    pub columns: Vec<String>,
    pub rows: Vec<NodeRow<'a>>,
}

pub struct NodeRow<'a> {
    pub node: &'a str,
    pub cells: Vec<Option<NodeCell<'a>>>,
}

/// The worst case of one part of one node.
pub struct NodeCell<'a> {
    pub shade: Shade,
    pub case: &'a str,
    /// `memory mem.bandwidth 144 GB/s, 47% of 307 GB/s`.
    pub text: String,
}

impl<'a> NodeParts<'a> {
    pub fn new(document: &'a Document) -> Self {
        let mut columns: Vec<String> = Vec::new();
        let mut cells: HashMap<(String, usize), NodeCell<'a>> = HashMap::new();
        for part in of_each_node(document) {
            let at = columns.iter().position(|name| *name == part.name).unwrap_or_else(|| {
                columns.push(part.name.clone());
                columns.len() - 1
            });
            cells.insert((part.test.clone(), at), NodeCell::new(&part));
        }
        let mut row = |node: &'a str| {
            let cells = (0..columns.len()).map(|at| cells.remove(&(node.to_owned(), at))).collect();
            NodeRow { node, cells }
        };
        let rows: Vec<NodeRow<'a>> = summaries(document).iter().map(|summary| row(summary.node)).collect();
        let (mut good, mut rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(NodeRow::is_good);
        let places: HashMap<&str, usize> =
            document.run.nodes.iter().enumerate().map(|(at, node)| (node.as_str(), at)).collect();
        good.sort_by_key(|row| places.get(row.node));
        rows.append(&mut good);
        Self { columns, rows }
    }
}

impl<'a> NodeCell<'a> {
    fn new(part: &Part<'a>) -> Self {
        let value = part.value().unwrap_or_else(|| part.badge().word.to_owned());
        let of = match (part.percent(), part.limit()) {
            (Some(percent), Some(limit)) => format!(", {percent} of {limit}"),
            _ => String::new(),
        };
        let text = format!("{} {} {value}{of}", part.name, part.worst.case.bench);
        Self { shade: Shade::of(part), case: part.worst.case.case.as_str(), text }
    }
}

impl NodeRow<'_> {
    /// Whether no part of the node is worse than passed.
    pub fn is_good(&self) -> bool {
        self.cells.iter().flatten().all(|cell| cell.shade.is_good())
    }
}
