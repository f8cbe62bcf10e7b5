//! What a rule looks at: a node, its cases, and the other nodes.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::setting::SettingAbout;
use seatrial_model::{Outcome, Site, Unit, Value};

use crate::command::nodes_word;
use crate::finding::fill;
use crate::finding::matrix::{Matrix, Slow, SlowSide};
use crate::finding::path::interfaces;
use crate::fleet::attributes;
use crate::number::quantity;

/// The nodes of a run: what they are, and how they are set.
pub struct Fleet<'a> {
    pub site: &'a Site,
    pub settings: &'a [&'static SettingAbout],
    usual: OnceCell<BTreeMap<String, Usual>>,
}

/// The value of an attribute that more than half of the nodes have.
pub struct Usual {
    pub value: String,
    pub nodes: usize,
}

impl<'a> Fleet<'a> {
    pub const fn new(site: &'a Site, settings: &'a [&'static SettingAbout]) -> Self {
        Self { site, settings, usual: OnceCell::new() }
    }

    /// What most nodes have of the attribute `name`.
    pub fn usual(&self, name: &str) -> Option<&Usual> {
        self.usual.get_or_init(|| usual(self.site)).get(name)
    }
}

fn usual(site: &Site) -> BTreeMap<String, Usual> {
    let mut counts: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for (name, value) in site.nodes.iter().flat_map(attributes) {
        *counts.entry(name).or_default().entry(value).or_default() += 1;
    }
    let of = |(name, values): (String, BTreeMap<String, usize>)| {
        let all: usize = values.values().sum();
        let (value, nodes) = values.into_iter().find(|(_, nodes)| 2 * nodes > all)?;
        Some((name, Usual { value, nodes }))
    };
    counts.into_iter().filter_map(of).collect()
}

pub struct Scene<'a> {
    pub node: &'a str,
    pub side: SlowSide,
    /// Cases in which the node is slow, or has no number.
    pub cases: Vec<&'a CaseRecord>,
    /// Where the node is slow: the matrix of the pairs, and its speed in there.
    pub slow: Option<(&'a Matrix, Slow)>,
    pub records: &'a [CaseRecord],
    pub fleet: &'a Fleet<'a>,
}

impl Scene<'_> {
    /// Whether the node was measured: what makes a node slow explains no case without a number.
    pub fn has_numbers(&self) -> bool {
        self.slow.is_some() || self.cases.iter().any(|case| case.outcome == Outcome::Measured)
    }

    pub const fn site(&self) -> &Site {
        self.fleet.site
    }

    /// Whether an attribute speaks of what was measured: that of a device only where no case is of another device of its kind.
    pub fn concerns(&self, attribute: &str) -> bool {
        let Some((_, subject)) = attribute.rsplit_once(" of ") else { return true };
        let kind = subject.split(':').next();
        let is_other =
            |case: &CaseRecord| Some(case.subject.kind()) == kind && case.subject.to_string() != subject;
        !self.cases.iter().copied().any(is_other) && self.may_use(subject)
    }

    /// Whether the cases can use a device: by their family, and of interfaces those that were chosen.
    fn may_use(&self, subject: &str) -> bool {
        let (kind, name) = subject.split_once(':').unwrap_or((subject, ""));
        let is_remote = |case: &&CaseRecord| case.facts.get("network") == Some(&Value::Flag(true));
        let is_on_network =
            self.is_of(&["net", "rdma", "mpi", "nccl", "transfer"]) || self.cases.iter().any(is_remote);
        match kind {
            "gpu" => self.is_of(&["gpu", "nccl", "mpi"]),
            "hca" => is_on_network,
            "nic" => is_on_network && self.may_send_over(name),
            _ => true,
        }
    }

    /// Whether the interface was chosen, or none was, or one that has others below it.
    fn may_send_over(&self, name: &str) -> bool {
        let chosen: Vec<&str> =
            self.cases.iter().filter_map(|case| interfaces(case, self.node)).flatten().collect();
        let nics = self.site().node(self.node).and_then(|node| node.machine.nics.known());
        let is_card =
            |one: &&str| nics.into_iter().flatten().any(|nic| nic.name == *one && nic.kind.is_device());
        chosen.is_empty() || chosen.contains(&name) || !chosen.iter().all(is_card)
    }

    /// The nodes of the first case, as `-w` takes them; the node alone where there is none.
    pub fn nodes(&self) -> String {
        self.cases.first().map_or_else(|| self.node.to_owned(), |case| nodes_word(&case.nodes))
    }

    /// `, although the MTU of eth0 is 9000, as on its peers`, of the interface of the first case; empty where that is not known.
    pub fn mtu(&self) -> String {
        let told = || {
            let node = self.site().node(self.node)?;
            let interface = fill::interface_of(node, &self.cases)?;
            let name = format!("nic.mtu of nic:{interface}");
            let own = attributes(node).remove(&name)?;
            let usual = &self.fleet.usual(&name)?.value;
            Some(match own == *usual {
                true => format!(", although the MTU of {interface} is {own}, as on its peers"),
                false => format!(", and the MTU of {interface} is {own}, on its peers {usual}"),
            })
        };
        told().unwrap_or_default()
    }

    /// Whether some of the cases are of these families of benchmarks.
    pub fn is_of(&self, families: &[&str]) -> bool {
        self.cases
            .iter()
            .any(|case| families.iter().any(|family| case.bench.split('.').next() == Some(family)))
    }

    /// The rates of the node and of all nodes in Gbit/s.
    pub fn rates(&self) -> Option<(f64, f64)> {
        let (matrix, slow) = self.slow.as_ref()?;
        let gbit = |value| Some(quantity(value, matrix.unit)?.to(Unit::GigabitsPerSecond).ok()?.value());
        Some((gbit(slow.value)?, gbit(slow.median)?))
    }

    /// Cases of the same question without the node.
    pub fn others(&self) -> impl Iterator<Item = &CaseRecord> {
        let of_group = |case: &&CaseRecord| self.cases.iter().any(|own| own.group == case.group);
        self.records.iter().filter(of_group).filter(|case| !case.nodes.iter().any(|node| node == self.node))
    }
}
