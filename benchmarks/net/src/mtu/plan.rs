//! The case between two ends, and the limits of their interfaces.

use seatrial_model::machine::Nic;
use seatrial_model::{About, Bound, Case, Limit, Limits, Nanos, Params, Quantity, Reason, Site, Unit};

use super::client::{MOST, WAITS_MS};
use super::search::{Fate, search};
use seatrial_bench::affinity::place_threads;
use seatrial_bench::{Ends, ends};

const LEAST: u32 = 576;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let ends = Ends::of(site, params)?;
    let mut case = ends.case(about, params, seatrial_bench::budget(params)?);
    case.places = ends.places(about.parts.names(), place_threads(&ends, site, params, 1)?.bindings);
    // A search makes many tries on a path that loses packets, each with a wait.
    let lost = ends
        .interfaces()
        .and_then(|interfaces| Some(lost(*interfaces.first.mtu.known()?, *interfaces.second.mtu.known()?)));
    let wait_ms: u32 = WAITS_MS.iter().sum();
    case.budget.overhead = Nanos::millis(300 + u64::from(lost.unwrap_or(0)) * u64::from(wait_ms));
    Ok(vec![case])
}

/// Lost sizes of a search in each direction between interfaces of these MTUs, on a path without a smaller limit.
fn lost(first: u64, second: u64) -> u32 {
    let of_way = |from: u64, to: u64| {
        let mut lost = 0;
        let send = |size: u32| {
            let size = u64::from(size);
            let is_lost = size <= from && size > to + ROOM_FOR_TAG;
            lost += u32::from(is_lost);
            Ok(if size > from {
                Fate::Refused
            } else if is_lost {
                Fate::Lost
            } else {
                Fate::Arrived
            })
        };
        let _ = search(LEAST, MOST, send);
        lost
    };
    of_way(first, second) + of_way(second, first)
}

/// Bytes that Linux lets an interface receive beyond its MTU: room for a VLAN tag, which an untagged packet may fill
/// (`VLAN_HLEN` in `__is_skb_forwardable`, include/linux/netdevice.h, and in the frame size that drivers configure).
const ROOM_FOR_TAG: u64 = 4;

/// The smaller MTU of both interfaces is the limit. An end sends no more than its MTU, and receives a little more.
pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let nics: Vec<(&str, &Nic)> = match ends::interfaces(case, site) {
        Some(interfaces) => {
            let names = case.nodes.iter().map(String::as_str);
            names.zip([interfaces.first, interfaces.second]).collect()
        }
        None if case.nodes.len() == 1 => {
            let node = case.nodes[0].as_str();
            let nics = site.machine(node).and_then(|machine| machine.nics.known());
            nics.into_iter().flatten().filter(|nic| nic.name == "lo").map(|nic| (node, nic)).collect()
        }
        None => Vec::new(),
    };
    let limit = |metric: &str| {
        let bound = |(at, (node, nic)): (usize, &(&str, &Nic))| {
            let only_receives = matches!((metric, at), ("forward", 1) | ("reverse", 0)) && nics.len() > 1;
            let (room, formula) = match only_receives {
                true => (ROOM_FOR_TAG, format!("MTU of {node}/{} + {ROOM_FOR_TAG} for a VLAN tag", nic.name)),
                false => (0, format!("MTU of {node}/{}", nic.name)),
            };
            Some(Bound {
                value: Quantity::new((*nic.mtu.known()? + room).min(MOST.into()) as f64, Unit::Byte).ok()?,
                formula,
                provenance: "interface mtu".to_owned(),
                nominal: None,
            })
        };
        let bounds: Vec<Bound> = nics.iter().enumerate().filter_map(bound).collect();
        if bounds.is_empty() {
            let reason = "the inventories of the nodes show no common network: set -p interface=";
            return Limit::unknown(reason);
        }
        Limit::Chain(bounds)
    };
    about.limits(limit)
}
