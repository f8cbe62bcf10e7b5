//! What the interfaces between two ends let through of a protocol's payload.

use seatrial_inventory::nic_limit;
use seatrial_model::machine::{Nic, NicKind};
use seatrial_model::{Bound, Case, Limit, Quantity, Site};

use super::ends;
use super::goodput::{Framing, Goodput, Ip};

/// Bounds on the payload that gets one way: those of both ends' interfaces, times what `goodput` says that headers and
/// gaps leave of them for this framing, this IP and this MTU. `who` names what takes the way, with its verb.
///
/// # Errors
/// Why nothing bounds it, or why that is not known.
pub fn bounds(
    case: &Case,
    site: &Site,
    who: &str,
    goodput: impl FnOnce(Framing, Ip, u64) -> Result<Goodput, String>,
) -> Result<Vec<Bound>, String> {
    if case.nodes.len() == 1 {
        return Err("the loopback has no wire that would limit it: CPU and memory do".to_owned());
    }
    let Some(way) = ends::way(case, site) else {
        return Err(format!("it is not known which interfaces {who}; name them with -p interface="));
    };
    let mtu = [way.first, way.second].into_iter().map(|nic| nic.mtu.known().copied()).min().flatten();
    let mtu = mtu.ok_or("the MTU of an interface is not known")?;
    let ip = if speaks_ipv4(way.first) && speaks_ipv4(way.second) { Ip::V4 } else { Ip::V6 };
    let goodput = goodput(framing(way.first), ip, mtu)?;
    let mut bounds = Vec::new();
    for (node, nic) in case.nodes.iter().zip([way.first, way.second]) {
        // A way is as wide as its narrowest end, so that the other end alone still bounds it.
        let Limit::Chain(chain) = nic_limit(nic) else { continue };
        bounds.extend(chain.iter().map(|bound| {
            let payload = goodput.within(bound, bound.provenance != "nic speed");
            Bound { formula: format!("{node}/{}: {}", nic.name, payload.formula), ..payload }
        }));
    }
    match (bounds.is_empty(), nic_limit(way.first)) {
        (true, Limit::Unknown { reason }) => Err(format!("{}: {reason}", way.first.name)),
        _ => Ok(bounds),
    }
}

/// The same of so many directions together.
pub fn times(bounds: &[Bound], ways: usize) -> Vec<Bound> {
    let twice = |bound: &Bound| Bound {
        value: Quantity::new(bound.value.value() * ways as f64, bound.value.unit())
            .expect("a finite number times a small one"),
        formula: format!("{ways} directions x {}", bound.formula),
        provenance: bound.provenance.clone(),
    };
    if ways == 1 { bounds.to_vec() } else { bounds.iter().map(twice).collect() }
}

/// Connections are tried by IPv4 first. An end of which no networks are known may have it: the bound is then the wider.
fn speaks_ipv4(nic: &Nic) -> bool {
    nic.networks.known().is_none_or(|networks| networks.iter().any(|network| network.contains('.')))
}

/// What its packets are framed in.
fn framing(nic: &Nic) -> Framing {
    match nic.link_layer.known().map(String::as_str) {
        Some("infiniband") => Framing::Infiniband,
        _ => Framing::Ethernet { tags: u32::from(nic.kind == NicKind::Vlan) },
    }
}
