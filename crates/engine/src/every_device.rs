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
            let theirs = peer.machine.nics.listed().iter();
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use seatrial_model::SiteNode;
    use seatrial_model::machine::{Disk, DiskBus, Known, Machine, NicKind};
    use seatrial_model::profile::Expect;

    use super::*;
    use crate::{Plan, PlanInputs};

    fn node(name: &str, nics: Vec<Nic>, disks: Vec<Disk>) -> SiteNode {
        let cpu = seatrial_testkit::cores([0]);
        let (nics, disks) = (Known::Known(nics), Known::Known(disks));
        SiteNode::new(name, Machine { cpu, nics, disks, ..Machine::default() })
    }

    fn nic(name: &str, network: &str) -> Nic {
        Nic {
            name: name.to_owned(),
            kind: NicKind::Physical,
            up: Known::Known(true),
            networks: Known::Known(vec![network.to_owned()]),
            ..Nic::default()
        }
    }

    /// The cases of a test of `bench` on all devices of a kind, and the devices without one.
    fn planned(
        bench: &str,
        kind: &str,
        partner: Option<&str>,
        nodes: Vec<SiteNode>,
    ) -> (Vec<String>, Vec<String>) {
        let test = Test {
            id: bench.to_owned(),
            bench: bench.to_owned(),
            on: Params::from([("kind", kind.into())]),
            require: BTreeMap::from([(
                "mounted".to_owned(),
                Requirement { equals: Some(seatrial_model::Value::Flag(true)), ..Default::default() },
            )]),
            expect: Some(Expect { all: true, ..Expect::default() }),
            partner: partner.map(str::to_owned),
            ..Test::default()
        };
        let site = Site { nodes };
        let plan = Plan::new(&[test], &seatrial_registry::REGISTRY, PlanInputs::of(&site)).expect("a plan");
        let settled = plan.settled.iter().filter(|(case, _)| !case.facts.is_empty());
        let cases = plan.cases.iter().map(|case| case.id.to_string()).collect();
        (
            cases,
            settled.map(|(case, why)| format!("{} {}: {}", case.nodes[0], case.subject, why.text)).collect(),
        )
    }

    #[test]
    fn every_interface_of_every_first_node_has_a_case_or_a_reason() {
        let bond = Nic { master: Some("bond0".to_owned()), ..nic("eth2", "10.1.0.0/16") };
        let own = vec![nic("eth0", "10.1.0.0/16"), nic("eth1", "10.2.0.0/16"), bond];
        let nodes = || {
            vec![node("n1", own.clone(), Vec::new()), node("n2", vec![nic("em1", "10.1.0.0/16")], Vec::new())]
        };
        let (cases, left) = planned("net.rr", "nic", None, nodes());
        assert_eq!(cases, ["net.rr@n1+n2/n1->n2"]);
        let (unreached, member) = (
            "n1 nic:eth1: n2 has no port in 10.2.0.0/16",
            "n1 nic:eth2: part of bond0: not measured by itself",
        );
        let second = "n2 nic:em1: no case of net.rr begins on n2: give the test a partner";
        assert_eq!(left, [unreached, member, second]);
        let (cases, left) = planned("net.rr", "nic", Some("any"), nodes());
        assert_eq!((cases.len(), left), (2, vec![unreached.to_owned(), member.to_owned()]));
    }

    #[test]
    fn a_disk_in_another_state_than_the_test_requires_is_not_read() {
        let disk = |name: &str, mounts: &[&str]| Disk {
            name: name.to_owned(),
            bus: DiskBus::Sata,
            mounts: mounts.iter().map(|mount| (*mount).to_owned()).collect(),
            ..Disk::default()
        };
        let (cases, left) = planned(
            "storage.raw",
            "disk",
            None,
            vec![node("n1", Vec::new(), vec![disk("sda", &["/"]), disk("sdb", &[])])],
        );
        assert_eq!(cases, ["storage.raw@n1/disk:sda"]);
        let why =
            "no file system of the disk is mounted; the test requires mounted exactly true, and it is false";
        assert_eq!(left, [format!("n1 disk:sdb: {why}")]);
    }
}
