//! Differences between the hosts of two runs: settings and inventory.

use std::collections::{BTreeMap, HashMap};

use seatrial_model::machine::{Known, Machine};
use seatrial_model::{Site, SiteNode};

use super::Part;
use crate::fleet::attributes;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The setting or the part: `nic.mtu of nic:eth0`, `memory modules`.
    pub what: String,
    pub before: String,
    pub after: String,
    pub nodes: Vec<String>,
}

/// Differences between nodes of the same name in `a` and `b`; of two runs on single machines, between the two
/// machines. What could not be read in either run is not a difference.
pub fn changed(a: &Site, b: &Site) -> Vec<Changed> {
    let pairs: Vec<(&SiteNode, &SiteNode)> = match (a.nodes.as_slice(), b.nodes.as_slice()) {
        ([one], [other]) => vec![(one, other)],
        (first, second) => {
            let before: HashMap<&str, &SiteNode> =
                first.iter().map(|node| (node.name.as_str(), node)).collect();
            second.iter().filter_map(|node| Some((*before.get(node.name.as_str())?, node))).collect()
        }
    };
    between(&pairs)
}

/// Differences between the nodes that are parts at the same position, `a` of one run and `b` of the same or another;
/// without nodes among the parts, between the two runs.
pub fn changed_parts(a: (&Site, &[Part]), b: (&Site, &[Part])) -> Vec<Changed> {
    let node = |site: &'_ Site, part: &Part| match part {
        Part::Node(name) => site.node(name).cloned(),
        _ => None,
    };
    let pairs: Vec<(SiteNode, SiteNode)> =
        a.1.iter().zip(b.1).filter_map(|(one, other)| Some((node(a.0, one)?, node(b.0, other)?))).collect();
    if pairs.is_empty() {
        return changed(a.0, b.0);
    }
    between(&pairs.iter().map(|(one, other)| (one, other)).collect::<Vec<_>>())
}

fn between(pairs: &[(&SiteNode, &SiteNode)]) -> Vec<Changed> {
    let mut found: BTreeMap<(String, String, String), Vec<String>> = BTreeMap::new();
    for (before, after) in pairs {
        let (old, new) = (all(before), all(after));
        for (what, was) in &old {
            if let Some(is) = new.get(what).filter(|is| *is != was) {
                let key = (what.clone(), was.clone(), is.clone());
                found.entry(key).or_default().push(after.name.clone());
            }
        }
    }
    found.into_iter().map(|((what, before, after), nodes)| Changed { what, before, after, nodes }).collect()
}

/// The attributes that nodes of a fleet are compared by, and those that identify a node: two runs may be of two
/// machines, or of one machine in which a part was replaced.
fn all(node: &SiteNode) -> BTreeMap<String, String> {
    let mut all = attributes(node);
    let machine = &node.machine;
    let mut add = |name: &str, fact: &Known<String>| {
        if let Known::Known(fact) = fact {
            all.insert(name.to_owned(), fact.clone());
        }
    };
    add("vendor", &machine.product.vendor);
    add("system", &machine.product.name);
    add("processor", &machine.cpu.model);
    let parts =
        [("disks", disks(machine)), ("network interfaces", nics(machine)), ("GPU devices", gpus(machine))];
    for (name, parts) in parts {
        all.insert(name.to_owned(), parts);
    }
    // `attributes` has one entry per disk model, which disappears with the last disk of the model, and no entry for
    // GPUs that could not be read.
    all.retain(|name, text| !name.starts_with("disks ") && name != "GPUs" && text != UNKNOWN);
    all
}

/// Stands for a list that could not be read.
const UNKNOWN: &str = "";

fn list<T>(parts: &Known<Vec<T>>, name: impl Fn(&T) -> Option<String>) -> String {
    let Known::Known(parts) = parts else { return UNKNOWN.to_owned() };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in parts.iter().filter_map(name) {
        *counts.entry(name).or_default() += 1;
    }
    if counts.is_empty() {
        return "none".to_owned();
    }
    let word = |(name, count): (String, usize)| if count == 1 { name } else { format!("{count} x {name}") };
    counts.into_iter().map(word).collect::<Vec<_>>().join(", ")
}

fn disks(machine: &Machine) -> String {
    list(&machine.disks, |disk| {
        let model = disk.model.known().cloned().unwrap_or_else(|| disk.bus.word().to_owned());
        (!disk.bus.is_made()).then_some(model)
    })
}

fn nics(machine: &Machine) -> String {
    list(&machine.nics, |nic| (!nic.kind.is_virtual()).then(|| nic.name.clone()))
}

fn gpus(machine: &Machine) -> String {
    list(&machine.gpus, |gpu| Some(gpu.pci.ids.known().cloned().unwrap_or_else(|| "GPU".to_owned())))
}

#[cfg(test)]
mod tests {
    use seatrial_model::setting::{Present, SettingReading};
    use seatrial_model::{Params, Subject, Value};

    use super::*;

    fn node(name: &str, mtu: &str, kernel: &str) -> SiteNode {
        let reading = SettingReading {
            setting: "nic.mtu".to_owned(),
            subject: Subject::device("nic", "eth0"),
            facts: Params::default(),
            present: Present::Value(Value::from(mtu)),
            note: None,
            counted: None,
            counted_before: None,
            counted_after: None,
        };
        let machine = Machine {
            kernel: Known::Known(kernel.to_owned()),
            disks: Known::Known(Vec::new()),
            ..Machine::default()
        };
        SiteNode { settings: vec![reading], ..SiteNode::new(name, machine) }
    }

    fn told(a: &[SiteNode], b: &[SiteNode]) -> Vec<String> {
        let (a, b) = (Site { nodes: a.to_vec() }, Site { nodes: b.to_vec() });
        let line =
            |it: Changed| format!("{}: {} -> {} on {}", it.what, it.before, it.after, it.nodes.join("+"));
        changed(&a, &b).into_iter().map(line).collect()
    }

    #[test]
    fn what_changed_in_the_same_way_on_several_nodes_is_told_once() {
        let before = [node("n1", "1500", "6.1"), node("n2", "1500", "6.1"), node("n3", "9000", "6.1")];
        let after = [node("n2", "9000", "6.1"), node("n1", "9000", "6.1"), node("n3", "9000", "6.12")];
        assert_eq!(
            told(&before, &after),
            ["kernel: 6.1 -> 6.12 on n3", "nic.mtu of nic:eth0: 1500 -> 9000 on n2+n1"]
        );
        assert!(told(&before, &before).is_empty());
    }

    #[test]
    fn two_single_machines_are_held_against_each_other_and_others_are_not() {
        let (one, other) = (node("n1", "1500", "6.1"), node("laptop", "9000", "6.1"));
        let alone = (std::slice::from_ref(&one), std::slice::from_ref(&other));
        assert_eq!(told(alone.0, alone.1), ["nic.mtu of nic:eth0: 1500 -> 9000 on laptop"]);
        assert!(told(&[one.clone(), node("n2", "1", "1")], &[other]).is_empty());
    }

    #[test]
    fn what_could_not_be_read_is_no_difference_and_what_is_gone_is() {
        let mut silent = node("n1", "1500", "6.1");
        silent.settings[0].present = Present::Unreadable("denied".to_owned());
        silent.machine.disks = Known::unknown("denied");
        let seen = node("n1", "9000", "6.1");
        assert!(told(&[silent], std::slice::from_ref(&seen)).is_empty());
        let mut full = seen.clone();
        let disk =
            seatrial_model::machine::Disk { model: Known::Known("A".to_owned()), ..Default::default() };
        full.machine.disks = Known::Known(vec![disk.clone(), disk]);
        assert_eq!(told(&[full], &[seen]), ["disks: 2 x A -> none on n1"]);
    }
}
