//! Classes of nodes with the same hardware.

use std::collections::{BTreeMap, HashSet};

use seatrial_model::machine::Machine;
use seatrial_model::{Site, SiteNode};

use crate::judge::Assignment;

/// Nodes with the same hardware and the same role.
pub(super) struct Class<'a> {
    pub nodes: Vec<&'a SiteNode>,
}

impl Class<'_> {
    pub fn names(&self) -> HashSet<&str> {
        self.nodes.iter().map(|node| node.name.as_str()).collect()
    }
}

pub(super) fn classes<'a>(site: &'a Site, roles: &Assignment) -> Vec<Class<'a>> {
    let mut classes: BTreeMap<(Vec<String>, Vec<String>), Class<'a>> = BTreeMap::new();
    for node in &site.nodes {
        let key = (roles.roles_of(&node.name), identity(&node.machine));
        classes.entry(key).or_insert_with(|| Class { nodes: Vec::new() }).nodes.push(node);
    }
    classes.into_values().collect()
}

/// The nodes of `site` with the same hardware: their names, and the hardware in words.
pub(crate) fn alike(site: &Site) -> Vec<(Vec<String>, Vec<String>)> {
    let mut classes: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    for node in &site.nodes {
        classes.entry(identity(&node.machine)).or_default().push(node.name.clone());
    }
    classes.into_iter().map(|(what, names)| (names, what)).collect()
}

/// Names and models of the parts, each kind once. What cannot be read is left out: a node whose DMI table is
/// unreadable is not a different machine.
fn identity(machine: &Machine) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut add =
        |label: &str, fact: Option<&String>| parts.extend(fact.map(|fact| format!("{label} {fact}")));
    add("vendor", machine.product.vendor.known());
    add("system", machine.product.name.known());
    add("cpu", machine.cpu.model.known());
    for gpu in machine.gpus.listed() {
        add("gpu", gpu.pci.ids.known());
    }
    for hca in machine.hcas.listed().iter().filter(|hca| !hca.is_software) {
        add("hca", hca.model.known());
    }
    for nic in machine.nics.listed().iter().filter(|nic| !nic.kind.is_virtual()) {
        add("nic", nic.pci.known().and_then(|pci| pci.ids.known()));
    }
    parts.sort_unstable();
    parts.dedup();
    parts
}
