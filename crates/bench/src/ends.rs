//! The two ends of a benchmark between nodes: which nodes, which interfaces, what the case is called.

use seatrial_model::machine::{Nic, NicKind};
use seatrial_model::{
    About, Binding, Budget, Case, Cause, Params, PartPlacement, Reason, Site, SiteNode, Subject,
};

use crate::interfaces::{INTERFACE, InterfacePair, PEER_INTERFACE, choose};

/// The parameters of the interfaces, and under what names the plan notes those that it chose.
const OF_ENDS: [&str; 2] = [INTERFACE.name, PEER_INTERFACE.name];

/// The first two nodes of a site: which two these are is the pattern's decision. A site of one node talks to itself
/// over the loopback, which measures the protocol stack without a wire.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    first: &'a SiteNode,
    second: &'a SiteNode,
    /// The interfaces that parameters ask for, as written.
    asked: [Option<&'a str>; 2],
    interfaces: Option<InterfacePair<'a>>,
}

impl<'a> Ends<'a> {
    /// The ends on `site`, for `interface` and `peer_interface` of `params`.
    ///
    /// # Errors
    /// When there is no node, when a single node is to talk to itself over an interface, or when a node that tells its
    /// interfaces has none such.
    pub fn of(site: &'a Site, params: &'a Params) -> Result<Self, Reason> {
        let (first, second) = match site.nodes.as_slice() {
            [] => return Err(Reason::new(Cause::Inapplicable, "there is no node to measure on")),
            [one] => (one, one),
            [one, other, ..] => (one, other),
        };
        let asked = OF_ENDS.map(|name| asked(params, name));
        let alone = first.name == second.name;
        if alone && asked.iter().any(Option::is_some) {
            let text =
                "-p interface= needs two nodes: name them with -w, or leave it out to measure the loopback";
            return Err(Reason::new(Cause::Missing, text));
        }
        let interfaces = if alone { None } else { choose(first, second, params)? };
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
        let subject = if self.alone() { Subject::device("nic", "lo") } else { self.path() };
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
            for (name, nic) in OF_ENDS.iter().zip([interfaces.first, interfaces.second]) {
                case.planned.set(name, nic.name.as_str());
            }
        }
        case
    }

    /// `n1->n2`, with the interfaces where one is asked for: `n1/eth0->n2/eth1`.
    fn path(&self) -> Subject {
        let chosen = self.interfaces.map(|pair| [pair.first.name.as_str(), pair.second.name.as_str()]);
        let [own, peer] =
            chosen.map_or([self.asked[0], self.asked[1].or(self.asked[0])], |names| names.map(Some));
        let is_asked = self.asked.iter().any(Option::is_some);
        let end = |node: &str, interface: Option<&str>| match interface.filter(|_| is_asked) {
            Some(interface) => format!("{node}/{interface}"),
            None => node.to_owned(),
        };
        let path = format!("{}->{}", end(&self.first.name, own), end(&self.second.name, peer));
        path.parse().unwrap_or_else(|_| Subject::node())
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
    let [own, peer] = OF_ENDS;
    Some(InterfacePair { first: find(case.nodes.first(), own)?, second: find(case.nodes.get(1), peer)? })
}

/// The interface that the part at `index` (0 or 1) is to use; none leaves it to the routes.
pub fn interface_for(case: &Case, index: u32) -> Option<String> {
    let [own, peer] = OF_ENDS;
    let name = if index == 0 { own } else { peer };
    let asked = || asked(&case.params, name).or_else(|| asked(&case.params, own));
    case.planned.text(name).ok().or_else(asked).map(str::to_owned)
}

fn asked<'a>(params: &'a Params, name: &str) -> Option<&'a str> {
    params.text(name).ok().filter(|name| *name != "auto")
}

#[cfg(test)]
mod tests {
    use seatrial_model::machine::{Known, Machine};

    use super::*;

    fn node(name: &str, interface: &str) -> SiteNode {
        let nic = Nic {
            name: interface.to_owned(),
            networks: Known::Known(vec!["10.0.0.0/24".to_owned()]),
            ..Nic::default()
        };
        SiteNode::new(name, Machine { nics: Known::Known(vec![nic]), ..Machine::default() })
    }

    fn params(interface: &str) -> Params {
        [(INTERFACE.name.to_owned(), interface.into())].into_iter().collect()
    }

    #[test]
    fn the_subject_has_interfaces_where_one_is_asked_for() {
        let site = Site { nodes: vec![node("n1", "eno1"), node("n2", "em1")] };
        let path = |asked: &str| Ends::of(&site, &params(asked)).expect("ends").path().to_string();
        assert_eq!(path("auto"), "n1->n2");
        assert_eq!(path("eno1"), "n1/eno1->n2/em1");
        assert_eq!(path("10.0.0.0/16"), "n1/eno1->n2/em1");
    }

    #[test]
    fn one_node_has_its_loopback_only() {
        let alone = Site { nodes: vec![node("n1", "eno1")] };
        assert!(Ends::of(&alone, &params("auto")).expect("ends").alone());
        let reason = Ends::of(&alone, &params("eno1")).expect_err("refused");
        assert_eq!(reason.cause, Cause::Missing);
    }
}
