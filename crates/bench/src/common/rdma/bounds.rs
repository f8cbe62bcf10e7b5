//! What the ports between two ends let through of messages.

use seatrial_inventory::{RdmaTraffic, hca_payload_limit};
use seatrial_model::{About, Bound, Case, Limit, Limits, Site};
use seatrial_sys::verbs::{Transport, VerbKind};

use super::params::{MTU, TRANSPORT_ALL};
use super::{Method, Way, ports, terms, transport};
use crate::common::{self, carry};

/// The largest packet that there is, in bytes of payload.
const LARGEST_MTU: u32 = 4096;

/// Limits of a benchmark of streams: the tighter of both ends' ports, for throughput; none for the rest, each with the
/// reason.
pub fn capacity(about: &About, method: Method, case: &Case, site: &Site) -> Limits {
    let largest = terms::sizes(&case.params).ok().and_then(|sizes| sizes.last().copied()).unwrap_or(1);
    let one_way = one_way(method.verb, largest, case, site);
    let ways = Way::of(case.params.text("direction").unwrap_or("forward")).len();
    let limit = |metric: &str| match (metric, &one_way) {
        ("throughput", Ok(bounds)) => Limit::Chain(carry::times(bounds, ways)),
        ("forward" | "reverse", Ok(bounds)) if ways > 1 => Limit::Chain(bounds.clone()),
        ("forward" | "reverse", Ok(_)) => unknown("only told where both nodes post at once"),
        ("throughput" | "forward" | "reverse", Err(why)) => unknown(why),
        ("messages", _) => unknown("no card states how many messages it handles"),
        ("loss", _) => unknown("none is best, and nothing says how much a path must lose"),
        ("registration", _) => unknown("no part of the machine states how long it takes"),
        _ => common::unstated(),
    };
    about.metrics.iter().map(|metric| (metric.name.to_owned(), limit(metric.name))).collect()
}

fn unknown(reason: &str) -> Limit {
    Limit::Unknown { reason: reason.to_owned() }
}

/// Bounds on the payload of messages of so many bytes that gets one way: a way is as wide as its narrower end, so that one
/// end alone bounds it.
///
/// # Errors
/// Why nothing bounds it.
pub fn one_way(verb: VerbKind, largest: u64, case: &Case, site: &Site) -> Result<Vec<Bound>, String> {
    let ends = ports::ends_of(case, site).ok_or("the inventory no longer has the ports of this case")?;
    if ends[0].label() == ends[1].label() && case.nodes.len() == 1 {
        return Err(
            "both ends are one port, whose data need not leave the card: memory and PCIe are the bound"
                .to_owned(),
        );
    }
    let asked = case.params.text(MTU.name).ok().and_then(|word| word.parse().ok());
    // Packets are no larger than both ports have active; where that is not told, than any port has.
    let active = ends.iter().filter_map(|end| end.port.active_mtu.known().copied()).min();
    let traffic = RdmaTraffic {
        transport: case.params.text(TRANSPORT_ALL.name).map_or(Transport::Rc, transport),
        verb,
        mtu_bytes: asked.or(active).unwrap_or(LARGEST_MTU),
        message_bytes: largest,
    };
    let mut bounds = Vec::new();
    let mut why = None;
    for end in ends {
        let nics = end.node.machine.nics.known().map_or(&[][..], Vec::as_slice);
        match hca_payload_limit(end.hca, end.port, nics, &traffic) {
            Limit::Chain(chain) => bounds.extend(chain.into_iter().map(|bound| Bound {
                formula: format!("{}/{}: {}", end.node.name, end.label(), bound.formula),
                ..bound
            })),
            Limit::Unknown { reason } => {
                why.get_or_insert(format!("{}: {reason}", end.label()));
            }
        }
    }
    match why {
        Some(why) if bounds.is_empty() => Err(why),
        _ => Ok(bounds),
    }
}
