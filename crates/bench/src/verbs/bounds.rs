//! What the ports between two ends let through of messages.

use std::collections::BTreeMap;

use seatrial_inventory::{RdmaTraffic, hca_payload_limit};
use seatrial_model::{About, Better, Bound, Case, Limit, Limits, Site};
use seatrial_sys::verbs::{Transport, VerbKind};

use super::params::{MTU, TRANSPORT_ALL};
use super::{End, Method, config, end, transport};
use crate::Direction;
use crate::link_limits;

/// The largest packet that there is, in bytes of payload.
const LARGEST_MTU: u32 = 4096;

/// Limits of a benchmark of streams: the tighter of both ends' ports, for throughput; none for the rest, each with the
/// reason.
pub fn capacity(about: &About, method: Method, case: &Case, site: &Site) -> Limits {
    let largest = config::sizes(&case.params).ok().and_then(|sizes| sizes.last().copied()).unwrap_or(1);
    let one_way = one_way(method.verb, largest, case, site);
    let directions = Direction::of_case(case).len();
    let limit = |metric: &str| match (metric, &one_way) {
        ("throughput", Ok(bounds)) => Limit::Chain(link_limits::times(bounds, directions)),
        ("forward" | "reverse", Ok(bounds)) if directions > 1 => Limit::Chain(bounds.clone()),
        ("forward" | "reverse", Ok(_)) => unknown("only told where both nodes post at once"),
        ("throughput" | "forward" | "reverse", Err(why)) => unknown(why),
        ("messages", _) => unknown("no card states how many messages it handles"),
        ("loss", _) => unknown("none is best, and nothing says how much a path must lose"),
        ("registration", _) => unknown("no part of the machine states how long it takes"),
        _ => crate::no_limit(),
    };
    about.limits(limit)
}

fn unknown(reason: &str) -> Limit {
    Limit::unknown(reason)
}

/// Bounds on the payload of messages of so many bytes that gets one way: a path is as wide as its narrower end, so that
/// one end alone bounds it. Of several ports the bounds are added up.
pub fn one_way(verb: VerbKind, largest: u64, case: &Case, site: &Site) -> Result<Vec<Bound>, String> {
    let pairs = end::ends_of(case, site).ok_or("the inventory no longer has the ports of this case")?;
    let each = pairs.iter().map(|ends| of_pair(verb, largest, case, ends));
    let each = each.collect::<Result<Vec<Vec<Bound>>, String>>()?;
    if let [bounds] = each.as_slice() {
        return Ok(bounds.clone());
    }
    let tightest = each.iter().map(|bounds| Bound::tightest(bounds, Better::Higher).cloned());
    let tightest: Vec<Bound> = tightest.collect::<Option<_>>().ok_or("nothing bounds one of the ports")?;
    let mut bounds = vec![Bound::sum(&tightest)?];
    // Ports of one card share its link to the processor.
    for end in 0..2 {
        let of = |(ends, bounds): (&[End<'_>; 2], &Vec<Bound>)| {
            let begin = begin(&ends[end]);
            let is_its_link =
                |bound: &&Bound| bound.provenance == "pcie link" && bound.formula.starts_with(&begin);
            let link = Bound::tightest(bounds.iter().filter(is_its_link), Better::Higher)?;
            Some((ends[end].hca.card()?.to_owned(), link.clone()))
        };
        let links: Option<Vec<(String, Bound)>> = pairs.iter().zip(&each).map(of).collect();
        let cards: BTreeMap<String, Bound> = links.into_iter().flatten().collect();
        if !cards.is_empty() && cards.len() < pairs.len() {
            bounds.push(Bound::sum(&cards.into_values().collect::<Vec<_>>())?);
        }
    }
    Ok(bounds)
}

/// The same for one pair of ports.
fn of_pair(verb: VerbKind, largest: u64, case: &Case, ends: &[End<'_>; 2]) -> Result<Vec<Bound>, String> {
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
        let nics = end.node.machine.nics.listed();
        match hca_payload_limit(end.hca, end.port, nics, &traffic) {
            Limit::Chain(chain) => bounds.extend(
                chain
                    .into_iter()
                    .map(|bound| Bound { formula: format!("{}{}", begin(end), bound.formula), ..bound }),
            ),
            Limit::Unknown { reason } | Limit::AtMost { reason, .. } => {
                why.get_or_insert(format!("{}: {reason}", end.label()));
            }
        }
    }
    match why {
        Some(why) if bounds.is_empty() => Err(why),
        _ => Ok(bounds),
    }
}

/// What the formula of a bound of this end begins with.
fn begin(end: &End<'_>) -> String {
    format!("{}/{}: ", end.node.name, end.label())
}
