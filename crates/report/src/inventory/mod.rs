//! What a machine is, in one screen: a row a part, beside it the limit that was derived for it.

pub(crate) mod parts;
pub(crate) mod system;

use seatrial_model::machine::{Machine, PartLimit};
use seatrial_model::{Limit, Subject};
use serde::Serialize;

use crate::TextStyle;
use crate::grid::{self, Column};
use crate::ink::{Ink, render_colors};
use crate::notes::Notes;
use crate::number::plain;
use crate::words::{clean, count};

/// One node: what it is, and what its parts could do at best.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// The name the launcher knows it by.
    pub name: String,
    pub machine: Machine,
    /// The derived limits of its parts.
    pub limits: Vec<PartLimit>,
}

/// Parts of one text that are told in one row.
const FEWEST_FOLDED: usize = 3;

/// A part before it is laid out.
pub(crate) struct Part {
    /// The subject, as a case would name it.
    subject: Subject,
    /// What it is, in a few words.
    text: String,
}

/// The nodes as text for a terminal.
pub fn render(nodes: &[Node], style: TextStyle) -> String {
    let blocks: Vec<String> = nodes.iter().map(|node| block(node, style.width())).collect();
    render_colors(&blocks.join("\n"), style.style)
}

fn block(node: &Node, width: u16) -> String {
    let machine = &node.machine;
    let mut notes = Notes::default();
    let mut text = format!("{}\n", Ink::Strong.on(&clean(&node.name)));
    text += &grid::paragraphs(&system::rows(machine, &mut notes), width);
    text.push('\n');
    let rows: Vec<Row> =
        parts::all(machine).into_iter().map(|part| row(part, &node.limits, &mut notes)).collect();
    text += &grid::fitted(&columns(&fold(rows)), width);
    text += &notes.flush(width);
    let remarks = machine
        .remarks
        .iter()
        .map(|remark| (Ink::Doubt.on("!"), format!("{}: {}", clean(&remark.subject), clean(&remark.text))));
    text + &grid::paragraphs(&remarks.collect::<Vec<_>>(), width)
}

/// A line of the table.
pub(crate) struct Row {
    pub(crate) names: Vec<String>,
    pub(crate) text: String,
    pub(crate) limit: String,
    pub(crate) from: String,
}

pub(crate) fn row(part: Part, limits: &[PartLimit], notes: &mut Notes) -> Row {
    let found = limits.iter().find(|limit| limit.subject == part.subject);
    let (limit, from) = match found.map(|found| (&found.limit, found.binding())) {
        None => (String::new(), String::new()),
        Some((_, Some(bound))) => {
            let value = format!("{} {}", plain(bound.value.value()), bound.value.unit());
            (value, clean(&format!("{} ({})", bound.formula, bound.provenance)))
        }
        Some((Limit::Unknown { reason }, None)) => (Ink::Doubt.on("unknown"), notes.refer(reason)),
        Some((Limit::Chain(_), None)) => {
            (Ink::Doubt.on("unknown"), notes.refer("its chain of bounds is empty"))
        }
    };
    Row { names: vec![part.subject.to_string()], text: part.text, limit, from }
}

/// Parts in a row that are alike are told once: a server has two dozen of the same disk.
pub(crate) fn fold(rows: Vec<Row>) -> Vec<Row> {
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

/// The names of a row: the only one, or how many there are.
pub(crate) fn name(row: &Row) -> String {
    match row.names.as_slice() {
        [one] => clean(one),
        few if few.len() < FEWEST_FOLDED => clean(&few.join(" ")),
        many => {
            let last = many[many.len() - 1].rsplit(':').next().unwrap_or_default();
            clean(&format!("{} … {last} ({})", many[0], many.len()))
        }
    }
}

fn columns(rows: &[Row]) -> Vec<Column> {
    let cells = |text: &dyn Fn(&Row) -> String| rows.iter().map(text).collect::<Vec<_>>();
    let mut columns = vec![
        Column::words("part", cells(&name)),
        Column::words("what it is", cells(&|row| row.text.clone())),
        Column::numbers("limit", cells(&|row| row.limit.clone())),
        Column::words("derived from", cells(&|row| row.from.clone())),
    ];
    columns.retain(|column| !column.is_empty());
    columns
}

/// `2 sockets` and the like, left out where the number is not known.
fn counted(number: Option<u32>, noun: &str) -> Option<String> {
    number.map(|number| count(number as usize, noun))
}
