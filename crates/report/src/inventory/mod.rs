//! The inventory of a machine on one screen: a row per part, with its derived limit.

mod alike;
pub(crate) mod parts;
pub(crate) mod system;

use std::cmp::Reverse;
use std::collections::HashMap;

use seatrial_model::machine::{Machine, PartLimit};
use seatrial_model::{Better, Bound, Limit, Subject, Verdict};
use serde::Serialize;

use alike::Class;

use crate::TextStyle;
use crate::grid;
use crate::ink::{Ink, render_colors};
use crate::notes::Notes;
use crate::terminal::table as text_table;
use crate::view::table::{Builder, Cell, Table};
use crate::words::{Badge, clean, count, rounded};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    pub name: String,
    pub machine: Machine,
    pub limits: Vec<PartLimit>,
}

/// Fewest equal parts that share one row.
pub(crate) const FEWEST_FOLDED: usize = 3;

/// A part before layout.
pub(crate) struct Part {
    /// The subject, as a case would name it.
    pub(crate) subject: Subject,
    /// What it is.
    pub(crate) words: Vec<String>,
    /// The link of its own end: `PCIe 4.0 x16`.
    pub(crate) link: Option<String>,
    pub(crate) numa_node: Option<u32>,
    pub(crate) is_on_pci: bool,
}

impl Part {
    pub(crate) fn text(&self) -> String {
        let at = self.numa_node.map(|node| format!("next to node {node}"));
        let words = self.words.iter().chain(&self.link).chain(&at);
        words.map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

/// The nodes by their kind of machine, the most frequent first. Machines that differ only in items that are not shown,
/// such as a serial number, are one kind.
pub(crate) fn kinds(nodes: &[Node]) -> Vec<(&Node, Vec<&str>)> {
    let mut kinds: Vec<(&Node, Vec<&str>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for node in nodes {
        let facts = system::rows(&node.machine, &mut Notes::default());
        let parts = Table { title: String::new(), ..table(node) };
        let shown = format!("{facts:?}{parts:?}{:?}", node.machine.remarks);
        let at = *places.entry(shown).or_insert(kinds.len());
        match kinds.get_mut(at) {
            Some((_, names)) => names.push(&node.name),
            None => kinds.push((node, vec![&node.name])),
        }
    }
    kinds.sort_by_key(|(_, names)| Reverse(names.len()));
    kinds
}

pub fn render(nodes: &[Node], style: TextStyle) -> String {
    let blocks: Vec<String> =
        alike::classes(nodes).iter().map(|class| of_class(class, style.width())).collect();
    render_colors(&blocks.join("\n"), style.style)
}

/// Nodes that are alike: the first of them, and what differs.
fn of_class(class: &Class<'_>, width: u16) -> String {
    let node = class.nodes[0];
    let name = Ink::Strong.on(&clean(&class.names()));
    if class.nodes.len() == 1 {
        return block(&name, node, width);
    }
    let shown = format!("{} alike, shown is {}", count(class.nodes.len(), "node"), clean(&node.name));
    let text = block(&format!("{name}  {}", Ink::Faint.on(&shown)), node, width);
    let differs = class
        .differs
        .iter()
        .map(|(label, said)| (Ink::Doubt.on("differs"), clean(&format!("{label}: {said}"))));
    text + &grid::paragraphs(&differs.collect::<Vec<_>>(), width)
}

fn block(title: &str, node: &Node, width: u16) -> String {
    let machine = &node.machine;
    let mut notes = Notes::default();
    let mut text = format!("{title}\n");
    let facts = system::rows(machine, &mut notes).into_iter();
    let facts: Vec<_> = facts.map(|(label, said)| (Ink::Faint.on(label), clean(&said))).collect();
    text += &grid::paragraphs(&facts, width);
    text.push('\n');
    let parts = Table { title: String::new(), ..table(node) };
    text += &text_table::block(parts, usize::MAX, &mut notes, width);
    let remarks = machine
        .remarks
        .iter()
        .map(|remark| (Ink::Doubt.on("!"), format!("{}: {}", clean(&remark.subject), clean(&remark.text))));
    text + &grid::paragraphs(&remarks.collect::<Vec<_>>(), width)
}

struct Row {
    names: Vec<String>,
    text: String,
    limit: Cell,
    from: Cell,
}

/// The parts of `node` with their limits; equal parts share a row.
pub(crate) fn table(node: &Node) -> Table {
    let rows = fold(parts::all(&node.machine).into_iter().map(|part| row(part, &node.limits)).collect());
    Builder::new(format!("Parts of {}", node.name), &rows)
        .words("part", |row| name(&row.names))
        .words("what it is", |row| row.text.as_str())
        .numbers("limit", |row| row.limit.clone())
        .words("derived from", |row| row.from.clone())
        .finish()
}

/// A limit in words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LimitText {
    /// `None` if nothing bounds it.
    pub value: Option<String>,
    /// Formula and source of the value; empty without a value.
    pub from: String,
    /// Why the limit itself is unknown.
    pub why: Option<String>,
}

impl LimitText {
    pub fn of(limit: &Limit) -> Self {
        let from = |bound: &Bound| format!("{} ({})", bound.formula, bound.provenance);
        let (bound, sign, why) = match (limit, limit.tightest(Better::Higher)) {
            (_, Some(bound)) => (Some(bound), "", None),
            (Limit::AtMost { bound, reason }, None) => (Some(bound), "≤ ", Some(reason.as_str())),
            (Limit::Unknown { reason }, None) => (None, "", Some(reason.as_str())),
            (Limit::Chain(_), None) => (None, "", Some("its chain of bounds is empty")),
        };
        Self {
            value: bound.map(|bound| format!("{sign}{}", rounded(bound.value))),
            from: bound.map(from).unwrap_or_default(),
            why: why.map(str::to_owned),
        }
    }
}

fn row(part: Part, limits: &[PartLimit]) -> Row {
    let found = limits.iter().find(|limit| limit.subject == part.subject);
    let (limit, from) = match found.map(|found| LimitText::of(&found.limit)) {
        None => (Cell::default(), Cell::default()),
        Some(LimitText { value, from, why }) => {
            let unknown = || Badge::from(Verdict::Unknown).into();
            (value.map_or_else(unknown, Cell::from), Cell::from(from).notes(why))
        }
    };
    Row { text: part.text(), names: vec![part.subject.to_string()], limit, from }
}

/// Shows consecutive equal parts once: a server has two dozen of the same disk.
fn fold(rows: Vec<Row>) -> Vec<Row> {
    let mut folded: Vec<Row> = Vec::new();
    for row in rows {
        let kind = |name: &str| name.split(':').next().unwrap_or_default().to_owned();
        let same = |known: &&mut Row| {
            known.text == row.text && known.limit == row.limit && kind(&known.names[0]) == kind(&row.names[0])
        };
        match folded.iter_mut().find(same) {
            Some(known) => known.names.extend(row.names),
            None => folded.push(row),
        }
    }
    folded
}

/// `disk:sda … sdl (12)`.
pub(crate) fn name(names: &[String]) -> String {
    match names {
        [one] => one.clone(),
        few if few.len() < FEWEST_FOLDED => few.join(" "),
        many => {
            let last = many[many.len() - 1].rsplit(':').next().unwrap_or_default();
            format!("{} … {last} ({})", many[0], many.len())
        }
    }
}

/// `2 sockets` for example; `None` if the number is unknown.
pub(crate) fn counted(number: Option<u32>, noun: &str) -> Option<String> {
    number.map(|number| count(number as usize, noun))
}
