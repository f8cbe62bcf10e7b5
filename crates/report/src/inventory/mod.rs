//! The inventory of a machine on one screen: a row per part, with its derived limit.

mod alike;
pub(crate) mod parts;
pub(crate) mod system;

use seatrial_model::machine::{Machine, PartLimit};
use seatrial_model::{Better, Limit, Subject, Verdict};
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
const FEWEST_FOLDED: usize = 3;

/// A part before layout.
pub(crate) struct Part {
    /// The subject, as a case would name it.
    pub(crate) subject: Subject,
    pub(crate) text: String,
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
        .words("part", name)
        .words("what it is", |row| row.text.as_str())
        .numbers("limit", |row| row.limit.clone())
        .words("derived from", |row| row.from.clone())
        .finish()
}

fn row(part: Part, limits: &[PartLimit]) -> Row {
    let found = limits.iter().find(|limit| limit.subject == part.subject);
    let unknown = |why: &str| (Badge::from(Verdict::Unknown).into(), Cell::default().notes([why]));
    let (limit, from) = match found.map(|found| (&found.limit, found.limit.tightest(Better::Higher))) {
        None => (Cell::default(), Cell::default()),
        Some((_, Some(bound))) => {
            (rounded(bound.value).into(), format!("{} ({})", bound.formula, bound.provenance).into())
        }
        Some((Limit::AtMost { bound, reason }, None)) => {
            let from = format!("{} ({})", bound.formula, bound.provenance);
            (format!("≤ {}", rounded(bound.value)).into(), Cell::from(from).notes([reason]))
        }
        Some((Limit::Unknown { reason }, None)) => unknown(reason),
        Some((Limit::Chain(_), None)) => unknown("its chain of bounds is empty"),
    };
    Row { names: vec![part.subject.to_string()], text: part.text, limit, from }
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

fn name(row: &Row) -> String {
    match row.names.as_slice() {
        [one] => one.clone(),
        few if few.len() < FEWEST_FOLDED => few.join(" "),
        many => {
            let last = many[many.len() - 1].rsplit(':').next().unwrap_or_default();
            format!("{} … {last} ({})", many[0], many.len())
        }
    }
}

/// `2 sockets` for example; `None` if the number is unknown.
fn counted(number: Option<u32>, noun: &str) -> Option<String> {
    number.map(|number| count(number as usize, noun))
}
