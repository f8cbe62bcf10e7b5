//! `expect = "all"`: the devices that a test selects and that no case measures, each with the reason.

use seatrial_bench::interfaces::{leaves_the_node, share_a_network};
use seatrial_model::machine::{Device, Nic};
use seatrial_model::profile::{Requirement, Test};
use seatrial_model::{About, Case, Params, Reason, Site, SiteNode};

/// What a test has on the nodes of a run.
#[derive(Clone, Copy)]
pub struct TestPlan<'a> {
    pub test: &'a Test,
    pub about: &'a About,
    /// The nodes of each case, in the order of the parts.
    pub sites: &'a [&'a Site],
    pub cases: &'a [&'a Case],
    pub settled: &'a [&'a (Case, Reason)],
}

/// A device that is not measured.
#[derive(Clone, Debug, PartialEq)]
pub struct UnmeasuredDevice {
    pub node: String,
    pub device: Device,
    pub why: String,
}

impl TestPlan<'_> {
    /// The devices of `nodes` that the test selects and that no case measures, or that are not in the state that the
    /// test requires; `site` has the devices that are like them.
    pub fn unmeasured(self, nodes: &[&SiteNode], site: &Site) -> Vec<UnmeasuredDevice> {
        let kind = self.test.on.text("kind").unwrap_or_default();
        let all: Vec<Device> = site.nodes.iter().flat_map(|node| node.machine.devices(kind)).collect();
        let of_node = |node: &&SiteNode| {
            let devices = node.machine.devices(kind).into_iter();
            devices.filter_map(|device| self.left_out(node, device, &all)).collect::<Vec<_>>()
        };
        nodes.iter().flat_map(of_node).collect()
    }

    fn left_out(self, node: &SiteNode, mut device: Device, all: &[Device]) -> Option<UnmeasuredDevice> {
        let facts = device.with_facts_of_its_like(&self.test.on, all);
        if !Requirement::selects(&self.test.on, &facts) {
            return None;
        }
        let unmet = self.unmet(&device.facts);
        let is_measured =
            self.cases.iter().any(|case| is_of(case, node) && device.is_measured_by(&case.facts));
        if is_measured && unmet.is_none() {
            return None;
        }
        let known: Vec<String> = device.obstacle.iter().cloned().chain(unmet).collect();
        let mut why = match known.is_empty() {
            true => self.without_network(node, &device).unwrap_or_else(|| self.reason(node)),
            false => known.join("; "),
        };
        for (name, value) in facts.iter().filter(|(name, _)| device.facts.get(name).is_none()) {
            why += &format!("; {name}={value} is that of a device with the same PCI ids");
        }
        device.facts = facts;
        Some(UnmeasuredDevice { node: node.name.clone(), device, why })
    }

    /// The requirement that the device itself does not meet; other facts are those of a case.
    fn unmet(self, facts: &Params) -> Option<String> {
        let of_device = self.test.require.iter().filter(|(name, _)| facts.get(name).is_some());
        let require = of_device.map(|(name, requirement)| (name.clone(), requirement.clone())).collect();
        Test { require, ..self.test.clone() }.requirements_met(facts).err()
    }

    /// For an interface: that it is in no network of the nodes at the other end.
    fn without_network(self, node: &SiteNode, device: &Device) -> Option<String> {
        let own = nic(node, device.facts.text("name").ok()?)?;
        let sites =
            self.sites.iter().filter(|site| site.nodes.first().is_some_and(|one| one.name == node.name));
        let peers: Vec<&SiteNode> = sites.filter_map(|site| site.nodes.get(1)).collect();
        let reaches = |peer: &&SiteNode| {
            let theirs = peer.machine.nics.known().into_iter().flatten();
            theirs.filter(|nic| leaves_the_node(nic, &peer.machine)).any(|nic| share_a_network(own, nic))
        };
        if peers.is_empty() || peers.iter().any(reaches) {
            return None;
        }
        let names: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).collect();
        Some(match own.networks.known().map(Vec::as_slice) {
            None | Some([]) => "the port has no address".to_owned(),
            Some(networks) => {
                format!("{} has no port in {}", names.join(" or "), networks.join(" or "))
            }
        })
    }

    /// Why the test has no case on the node, or not this one.
    fn reason(self, node: &SiteNode) -> String {
        let told = self.settled.iter().rev().find(|(case, _)| is_of(case, node));
        if let Some((_, reason)) = told {
            return reason.text.clone();
        }
        let bench = self.about.id;
        match self.cases.iter().any(|case| is_of(case, node)) {
            true => format!("{bench} has no case for it"),
            false => format!("no case of {bench} begins on {}: give the test a partner", node.name),
        }
    }
}

/// Whether the case is about devices of this node: of two nodes, those of the first.
fn is_of(case: &Case, node: &SiteNode) -> bool {
    case.nodes.first() == Some(&node.name)
}

fn nic<'a>(node: &'a SiteNode, name: &str) -> Option<&'a Nic> {
    node.machine.nics.known()?.iter().find(|nic| nic.name == name)
}
