//! Nodes that are alike are shown once, with what differs between them.

use std::collections::BTreeMap;

use seatrial_model::machine::{Known, Machine};
use seatrial_model::profile::fold;

use super::{Node, parts, row, system};
use crate::notes::Notes;

/// Nodes are alike if at most one in this many of their facts differs.
const ALIKE: usize = 3;

/// Nodes that are alike.
pub(super) struct Class<'a> {
    pub nodes: Vec<&'a Node>,
    /// What differs, with each value and the nodes that have it.
    pub differs: Vec<(String, String)>,
}

/// A fact of a node: the label of a row, or the subject of a part.
type Facts = BTreeMap<String, String>;

pub(super) fn classes<'a>(nodes: &'a [Node]) -> Vec<Class<'a>> {
    let mut classes: Vec<Vec<(&'a Node, Facts)>> = Vec::new();
    for node in nodes {
        let own = facts(node);
        match classes.iter_mut().find(|class| is_alike(&class[0].1, &own)) {
            Some(class) => class.push((node, own)),
            None => classes.push(vec![(node, own)]),
        }
    }
    let class = |class: Vec<(&'a Node, Facts)>| Class {
        differs: differences(&class),
        nodes: class.into_iter().map(|(node, _)| node).collect(),
    };
    classes.into_iter().map(class).collect()
}

impl Class<'_> {
    /// `n[1-4]`.
    pub fn names(&self) -> String {
        names(self.nodes.iter().copied())
    }
}

fn names<'a>(nodes: impl Iterator<Item = &'a Node>) -> String {
    fold(&nodes.map(|node| node.name.as_str()).collect::<Vec<_>>())
}

fn is_alike(one: &Facts, other: &Facts) -> bool {
    let labels = labels([one, other].into_iter());
    let different = labels.keys().filter(|label| one.get(**label) != other.get(**label)).count();
    different * ALIKE <= labels.len()
}

fn labels<'a>(all: impl Iterator<Item = &'a Facts>) -> BTreeMap<&'a str, ()> {
    all.flat_map(|facts| facts.keys().map(|label| (label.as_str(), ()))).collect()
}

fn differences(class: &[(&Node, Facts)]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for label in labels(class.iter().map(|(_, facts)| facts)).into_keys() {
        let mut values: Vec<(&str, Vec<&Node>)> = Vec::new();
        for (node, facts) in class {
            let value = facts.get(label).map_or("absent", String::as_str);
            match values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, nodes)) => nodes.push(node),
                None => values.push((value, vec![node])),
            }
        }
        if values.len() > 1 {
            let value = |(value, nodes): (&str, Vec<&Node>)| format!("{}: {value}", names(nodes.into_iter()));
            found.push((label.to_owned(), values.into_iter().map(value).collect::<Vec<_>>().join("; ")));
        }
    }
    found
}

fn facts(node: &Node) -> Facts {
    let machine = lasting(&node.machine);
    let mut notes = Notes::default();
    let rows = system::rows(&machine, &mut notes).into_iter();
    let mut facts: Facts = rows.map(|(label, said)| (label.to_owned(), said)).collect();
    for part in parts::all(&machine) {
        let row = row(part, &node.limits);
        let limit = Some(row.limit.text).filter(|limit| !limit.is_empty());
        let text = [Some(row.text), limit.map(|limit| format!("limit {limit}"))];
        facts.insert(row.names.concat(), text.into_iter().flatten().collect::<Vec<_>>().join(", "));
    }
    for remark in &machine.remarks {
        facts.entry(format!("! {}", remark.subject)).or_default().push_str(&remark.text);
    }
    facts
}

/// The machine without what differs from one moment to the next.
fn lasting(machine: &Machine) -> Machine {
    let mut machine = machine.clone();
    machine.memory.effective_available_bytes = Known::default();
    if let Known::Known(pools) = &mut machine.memory.huge_pages {
        pools.iter_mut().for_each(|pool| pool.free = pool.total);
    }
    if let Known::Known(systems) = &mut machine.file_systems {
        systems.iter_mut().for_each(|system| system.fill_percent = Known::unknown(""));
    }
    machine
}
