//! Which interface of each node a case between two nodes uses.

use std::cmp::Reverse;

use ipnet::IpNet;
use seatrial_model::machine::{Known, Machine, Nic, NicKind};
use seatrial_model::profile::Requirement;
use seatrial_model::{Cause, Kind, ParamSpec, Params, Reason, SiteNode};

/// Stands for several interfaces or ports, each of which is measured to the next one of the other node.
pub const CROSS: &str = "cross";

/// The interface of the first node.
pub const INTERFACE: ParamSpec = ParamSpec::new("interface", Kind::Text, "auto").word("auto").doc(
    "The network interface of the first node: its name, or the network that one of its addresses is in, as \
     10.168.0.0/16; auto: the fastest in a common network; in a profile, among those that the test's `on` selects.",
);

/// The interface of the second node.
pub const PEER_INTERFACE: ParamSpec = ParamSpec::new("peer_interface", Kind::Text, "auto").word("auto").doc(
    "The network interface of the second node, by name or network; auto is one in the same network as that of the first \
     node, of the same name if there is one.",
);

/// An interface of each node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InterfacePair<'a> {
    pub first: &'a Nic,
    pub second: &'a Nic,
}

/// How a parameter names an interface.
enum Asked<'a> {
    Auto,
    Name(&'a str),
    Network(&'a str, IpNet),
}

impl<'a> Asked<'a> {
    fn of(params: &'a Params, spec: &ParamSpec) -> Result<Self, Reason> {
        match params.text(spec.name) {
            Err(_) | Ok("auto") => Ok(Asked::Auto),
            Ok(text) if text.contains('/') => {
                let network = text.parse().map_err(|_| {
                    let text = format!("{}={text} is no network; one is written as 10.168.0.0/16", spec.name);
                    Reason::new(Cause::Contradiction, text)
                })?;
                Ok(Asked::Network(text, network))
            }
            Ok(name) => Ok(Asked::Name(name)),
        }
    }

    fn is_auto(&self) -> bool {
        matches!(self, Asked::Auto)
    }

    /// The interfaces of `node` that are meant, of which there must be one.
    fn among(&self, node: &'a SiteNode, nics: &'a [Nic]) -> Result<Vec<&'a Nic>, Reason> {
        let found: Vec<&Nic> = match self {
            Asked::Auto => {
                let all: Vec<&Nic> = nics.iter().filter(|nic| leaves_the_node(nic, &node.machine)).collect();
                let meant = |nic: &&&Nic| Requirement::selects(&node.on, &nic.facts());
                let meant: Vec<&Nic> = all.iter().filter(meant).copied().collect();
                // Without one that is meant, the others tell what the node has instead.
                return Ok(if meant.is_empty() { all } else { meant });
            }
            Asked::Name(name) => nics.iter().filter(|nic| nic.name == *name).collect(),
            Asked::Network(_, network) => nics.iter().filter(|nic| is_in(nic, network)).collect(),
        };
        let missing = match self {
            _ if !found.is_empty() => return Ok(found),
            Asked::Network(text, _) => format!("{} has no interface in {text}", node.name),
            Asked::Name(name) => format!("{} has no interface {name}", node.name),
            Asked::Auto => format!("{} has no interface", node.name),
        };
        Err(Reason::new(Cause::Inapplicable, format!("{missing}; it has {}", told(nics))))
    }
}

/// The interfaces that `params` asks for between two nodes; none where the nodes do not tell theirs, or have no network
/// in common and none is asked for.
///
/// # Errors
/// When a node has no such interface.
pub fn choose<'a>(
    first: &'a SiteNode,
    second: &'a SiteNode,
    params: &'a Params,
) -> Result<Option<InterfacePair<'a>>, Reason> {
    let (own, peer) = (Asked::of(params, &INTERFACE)?, Asked::of(params, &PEER_INTERFACE)?);
    let (Known::Known(ours), Known::Known(theirs)) = (&first.machine.nics, &second.machine.nics) else {
        return match [&own, &peer].into_iter().find(|asked| matches!(asked, Asked::Network(..))) {
            Some(Asked::Network(text, _)) => {
                let text = format!(
                    "the interfaces of {} or {} are not known, so none in {text} can be chosen",
                    first.name, second.name
                );
                Err(Reason::new(Cause::Missing, text))
            }
            _ => Ok(None),
        };
    };
    let from = own.among(first, ours)?;
    let by_network = matches!((&own, &peer), (Asked::Network(..), Asked::Auto));
    let to = if by_network { own.among(second, theirs)? } else { peer.among(second, theirs)? };
    // A name alone means both nodes; it need not be in a common network, which the routes may still connect.
    let by_name: Vec<&Nic> = match (&own, &peer) {
        (Asked::Name(name), Asked::Auto) => theirs.iter().filter(|nic| nic.name == *name).collect(),
        _ => Vec::new(),
    };
    let fits = |one: &Nic, other: &Nic| share_a_network(one, other) || !peer.is_auto();
    let pairs = from.iter().flat_map(|one| {
        let near = to.iter().filter(|other| fits(one, other));
        near.chain(&by_name).map(move |other| InterfacePair { first: one, second: other })
    });
    let best = pairs.min_by_key(|pair| {
        let InterfacePair { first, second } = pair;
        let is_named = !own.is_auto() && first.name == second.name;
        let speed = speed(first).min(speed(second));
        (!share_a_network(first, second), !is_named, Reverse(speed), &first.name, &second.name)
    });
    match best {
        None if !own.is_auto() || !peer.is_auto() => {
            let text = format!(
                "{} has no interface in a network of {} on {}; it has {}: name one with peer_interface",
                second.name,
                from.iter().map(|nic| nic.name.as_str()).collect::<Vec<_>>().join(" or "),
                first.name,
                told(theirs)
            );
            Err(Reason::new(Cause::Inapplicable, text))
        }
        best => Ok(best),
    }
}

/// `eth0 (10.0.0.0/24), ib0`.
fn told(nics: &[Nic]) -> String {
    let one = |nic: &Nic| match nic.networks.known().map(Vec::as_slice) {
        None | Some([]) => nic.name.clone(),
        Some(networks) => format!("{} ({})", nic.name, networks.join(", ")),
    };
    nics.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn speed(nic: &Nic) -> u64 {
    nic.speed_mbit_s.known().copied().unwrap_or(0)
}

/// Whether a network of the interface is `network` or a part of it.
fn is_in(nic: &Nic, network: &IpNet) -> bool {
    let own = nic.networks.listed().iter();
    own.filter_map(|text| text.parse::<IpNet>().ok()).any(|own| network.contains(&own))
}

pub fn share_a_network(one: &Nic, other: &Nic) -> bool {
    let (one, other) = (one.networks.known(), other.networks.known());
    one.zip(other).is_some_and(|(one, other)| one.iter().any(|network| other.contains(network)))
}

/// Whether packets on it can get to another node. Bridges of containers and virtual machines have the same network on
/// every node and lead nowhere: a bridge counts when something that leaves the node is a member of it.
pub fn leaves_the_node(nic: &Nic, machine: &Machine) -> bool {
    if nic.up == Known::Known(false) {
        return false;
    }
    let members = || {
        let all = machine.nics.listed().iter();
        all.filter(|other| nic.lower.contains(&other.name))
    };
    match nic.kind {
        NicKind::Loopback | NicKind::Tun | NicKind::Tap | NicKind::Tunnel => false,
        NicKind::Bridge => members().any(|member| member.kind.is_device() || member.kind == NicKind::Bond),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
