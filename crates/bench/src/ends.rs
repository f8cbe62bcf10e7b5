//! The two ends of a benchmark between nodes: which nodes, which interfaces, what the case is called.

use std::cmp::Reverse;

use seatrial_model::machine::{Known, Machine, Nic, NicKind};
use seatrial_model::{
    About, Binding, Budget, Case, Cause, Kind, ParamSpec, Params, PartPlacement, Reason, Site, SiteNode,
    Subject,
};

/// The interface of both ends.
pub const INTERFACE: ParamSpec = ParamSpec::new("interface", Kind::Text, "auto")
    .word("auto")
    .doc("The network interface of both nodes; auto is the fastest that both have in one network.");

/// Under what name the plan notes the interface of the first end, when it knows it.
const OF_FIRST: &str = INTERFACE.name;

/// The same of the second end.
const OF_SECOND: &str = "peer_interface";

/// The first two nodes of a site: which two these are is the pattern's decision. A site of one node talks to itself
/// over the loopback, which measures the protocol stack without a wire.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    first: &'a SiteNode,
    second: &'a SiteNode,
    asked: Option<&'a str>,
    interfaces: Option<InterfacePair<'a>>,
}

/// An interface of each end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InterfacePair<'a> {
    /// Of the first end.
    pub first: &'a Nic,
    /// Of the second end.
    pub second: &'a Nic,
}

impl<'a> Ends<'a> {
    /// The ends on `site`, for the `interface` of `params`.
    ///
    /// # Errors
    /// When there is no node, when a single node is to talk to itself over an interface, or when a node that tells its
    /// interfaces has none of that name.
    pub fn of(site: &'a Site, params: &'a Params) -> Result<Self, Reason> {
        let (first, second) = match site.nodes.as_slice() {
            [] => return Err(Reason::new(Cause::Inapplicable, "there is no node to measure on")),
            [one] => (one, one),
            [one, other, ..] => (one, other),
        };
        let asked = params.text(INTERFACE.name).ok().filter(|name| *name != "auto");
        let alone = first.name == second.name;
        if alone && asked.is_some() {
            let text =
                "-p interface= needs two nodes: name them with -w, or leave it out to measure the loopback";
            return Err(Reason::new(Cause::Missing, text));
        }
        let interfaces = match asked {
            _ if alone => None,
            Some(name) => match (nic(first, name)?, nic(second, name)?) {
                (Some(first), Some(second)) => Some(InterfacePair { first, second }),
                _ => None,
            },
            None => fastest(&first.machine, &second.machine),
        };
        Ok(Self { first, second, asked, interfaces })
    }

    /// Whether both ends are one node.
    pub fn alone(&self) -> bool {
        self.first.name == self.second.name
    }

    /// Whether both ends have the same CPUs: they are one node, or two that run on one kernel, as the identity of its
    /// boot tells.
    pub fn on_one_kernel(&self) -> bool {
        let boot = |node: &SiteNode| node.machine.boot_id.known().cloned();
        self.alone() || boot(self.first).is_some_and(|id| boot(self.second) == Some(id))
    }

    /// The interfaces between the two, as far as they are known before a connection is made.
    pub fn interfaces(&self) -> Option<InterfacePair<'a>> {
        self.interfaces
    }

    /// A case between the two: its subject is the pair, its group the benchmark, its facts those that a profile may
    /// select by. Nobody is placed yet.
    pub fn case(&self, about: &About, params: &Params, budget: Budget) -> Case {
        let (first, second) = (&self.first.name, &self.second.name);
        let end = |node: &str| self.asked.map_or(node.to_owned(), |interface| format!("{node}/{interface}"));
        let subject = if self.alone() {
            Subject::device("nic", "lo")
        } else {
            format!("{}->{}", end(first), end(second)).parse().unwrap_or_else(|_| Subject::node())
        };
        let mut case = Case::new(about, first, subject, params, budget);
        if !self.alone() {
            case.nodes.push(second.clone());
            // The id tells all nodes of the case.
            case = case.in_group(about, about.id);
        }
        // What a profile may select an interface by, it may select its connections by.
        case.facts.set("kind", "nic");
        if self.alone() {
            case.facts.set("name", "lo");
            case.facts.set("type", NicKind::Loopback.word());
        }
        if let Some(interfaces) = self.interfaces {
            case.facts = interfaces.first.facts();
            case.planned.set(OF_FIRST, interfaces.first.name.as_str());
            case.planned.set(OF_SECOND, interfaces.second.name.as_str());
        }
        case
    }

    /// The two places of a case whose parts are `parts`, in the order of the ends.
    pub fn places(&self, parts: &[&str], [first, second]: [Vec<Binding>; 2]) -> Vec<PartPlacement> {
        let ends = [(self.first, first), (self.second, second)];
        let place = |(index, (part, (node, bindings))): (usize, (&&str, (&SiteNode, Vec<Binding>)))| {
            PartPlacement { part: (*part).to_owned(), index: index as u32, node: node.name.clone(), bindings }
        };
        parts.iter().zip(ends).enumerate().map(place).collect()
    }
}

/// The interfaces of a planned case, as far as the plan knew them.
pub fn interfaces<'a>(case: &Case, site: &'a Site) -> Option<InterfacePair<'a>> {
    let find = |node: Option<&String>, name: &str| -> Option<&'a Nic> {
        let interface = case.planned.text(name).ok()?;
        site.machine(node?)?.nics.known()?.iter().find(|nic| nic.name == interface)
    };
    let first = find(case.nodes.first(), OF_FIRST)?;
    Some(InterfacePair { first, second: find(case.nodes.get(1), OF_SECOND)? })
}

/// The interface that the part at `index` (0 or 1) is to use; none leaves it to the routes.
pub fn interface_for(case: &Case, index: u32) -> Option<String> {
    let name = if index == 0 { OF_FIRST } else { OF_SECOND };
    let asked = || case.params.text(INTERFACE.name).ok().filter(|name| *name != "auto");
    case.planned.text(name).ok().or_else(asked).map(str::to_owned)
}

/// The interface of that name; none when the node does not tell its interfaces.
fn nic<'a>(node: &'a SiteNode, name: &str) -> Result<Option<&'a Nic>, Reason> {
    let Known::Known(nics) = &node.machine.nics else { return Ok(None) };
    match nics.iter().find(|nic| nic.name == name) {
        Some(nic) => Ok(Some(nic)),
        None => {
            let names: Vec<&str> = nics.iter().map(|nic| nic.name.as_str()).collect();
            let text = format!("{} has no interface {name}; it has {}", node.name, names.join(", "));
            Err(Reason::new(Cause::Inapplicable, text))
        }
    }
}

/// The fastest pair of interfaces with a network in common; the slower end counts, and names decide between equals.
fn fastest<'a>(first: &'a Machine, second: &'a Machine) -> Option<InterfacePair<'a>> {
    let reach = |machine: &'a Machine| {
        machine.nics.known().into_iter().flatten().filter(|nic| leaves_the_node(nic, machine))
    };
    let speed = |nic: &Nic| nic.speed_mbit_s.known().copied().unwrap_or(0);
    let pairs = reach(first).flat_map(|one| {
        reach(second).filter(|other| share_a_network(one, other)).map(move |other| (one, other))
    });
    pairs
        .min_by_key(|(one, other)| {
            (Reverse(speed(one).min(speed(other))), one.name.clone(), other.name.clone())
        })
        .map(|(first, second)| InterfacePair { first, second })
}

fn share_a_network(one: &Nic, other: &Nic) -> bool {
    let (one, other) = (one.networks.known(), other.networks.known());
    one.zip(other).is_some_and(|(one, other)| one.iter().any(|network| other.contains(network)))
}

/// Whether packets on it can get to another node. Bridges of containers and virtual machines have the same network on
/// every node and lead nowhere: a bridge counts when something that leaves the node is a member of it.
fn leaves_the_node(nic: &Nic, machine: &Machine) -> bool {
    if nic.up == Known::Known(false) {
        return false;
    }
    let members = |nic: &Nic| {
        let all = machine.nics.known().into_iter().flatten();
        all.filter(|other| nic.lower.contains(&other.name)).cloned().collect::<Vec<Nic>>()
    };
    match nic.kind {
        NicKind::Loopback | NicKind::Tun | NicKind::Tap | NicKind::Tunnel => false,
        NicKind::Bridge => {
            members(nic).iter().any(|member| member.kind.is_device() || member.kind == NicKind::Bond)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::machine::{Cpu, CpuThread};

    fn nic(name: &str, kind: NicKind, mbit: Option<u64>, network: &str) -> Nic {
        Nic {
            name: name.to_owned(),
            kind,
            up: Known::Known(true),
            speed_mbit_s: mbit.map_or_else(Known::default, Known::Known),
            networks: Known::Known(vec![network.to_owned()]),
            ..Nic::default()
        }
    }

    fn node(name: &str, nics: Vec<Nic>) -> SiteNode {
        let thread =
            |id| CpuThread { id, core: Some(id), online: true, allowed: true, ..CpuThread::default() };
        let cpu = Cpu { threads: (0..3).map(thread).collect(), ..Cpu::default() };
        SiteNode::new(name, Machine { cpu, nics: Known::Known(nics), ..Machine::default() })
    }

    fn params(interface: &str) -> Params {
        [(INTERFACE.name.to_owned(), interface.into())].into_iter().collect()
    }

    /// A slow interface for the administration, a fast one, and a bridge of containers.
    fn server(name: &str) -> SiteNode {
        let nics = vec![
            nic("docker0", NicKind::Bridge, Some(400_000), "172.17.0.0/16"),
            nic("eno1", NicKind::Physical, Some(1_000), "10.0.0.0/16"),
            nic("ens1", NicKind::Physical, Some(100_000), "10.1.0.0/16"),
            nic("lo", NicKind::Loopback, None, "127.0.0.0/8"),
        ];
        node(name, nics)
    }

    #[test]
    fn the_fastest_way_that_both_have_is_taken() {
        let site = Site { nodes: vec![server("n1"), server("n2")] };
        let auto = params("auto");
        let ends = Ends::of(&site, &auto).expect("ends");
        let interfaces = ends.interfaces().expect("a way");
        assert_eq!((interfaces.first.name.as_str(), interfaces.second.name.as_str()), ("ens1", "ens1"));
        let slow = node("n3", vec![nic("eth0", NicKind::Physical, Some(10_000), "10.0.0.0/16")]);
        let site = Site { nodes: vec![server("n1"), slow] };
        let ends = Ends::of(&site, &auto).expect("ends");
        let interfaces = ends.interfaces().expect("a way");
        assert_eq!((interfaces.first.name.as_str(), interfaces.second.name.as_str()), ("eno1", "eth0"));
    }

    #[test]
    fn a_bridge_counts_when_it_has_a_port_to_the_outside() {
        let mut bridge = nic("br0", NicKind::Bridge, None, "10.2.0.0/16");
        bridge.lower = vec!["ens1".to_owned()];
        let port = Nic { networks: Known::Known(Vec::new()), ..nic("ens1", NicKind::Physical, Some(1), "") };
        let host = |name| node(name, vec![bridge.clone(), port.clone()]);
        let site = Site { nodes: vec![host("n1"), host("n2")] };
        let auto = params("auto");
        let ends = Ends::of(&site, &auto).expect("ends");
        assert_eq!(ends.interfaces().map(|interfaces| interfaces.first.name.as_str()), Some("br0"));
    }

    #[test]
    fn nodes_without_a_network_in_common_are_left_to_their_routes() {
        let other = node("n2", vec![nic("eth0", NicKind::Physical, None, "192.168.0.0/24")]);
        let site = Site { nodes: vec![server("n1"), other] };
        assert!(Ends::of(&site, &params("auto")).expect("ends").interfaces().is_none());
    }

    #[test]
    fn an_interface_that_is_not_there_is_named_with_those_that_are() {
        let site = Site { nodes: vec![server("n1"), server("n2")] };
        let reason = Ends::of(&site, &params("ens7")).expect_err("refused");
        assert_eq!(reason.cause, Cause::Inapplicable);
        assert!(reason.text.contains("n1 has no interface ens7; it has docker0, eno1, ens1, lo"), "{reason}");
        let alone = Site { nodes: vec![server("n1")] };
        assert!(Ends::of(&alone, &params("ens1")).is_err());
    }
}
