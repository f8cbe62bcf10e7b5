//! Between whom, and what the interfaces allow.

use seatrial_model::machine::Nic;
use seatrial_model::{About, Bound, Case, Limit, Limits, Nanos, Params, Quantity, Reason, Site, Unit};

use crate::common::seating::seating;
use crate::common::{self, Ends, ends};

/// The largest IP packet.
const MOST_OF_IP: u64 = 65_535;

/// One case between the two ends of the site.
pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let ends = Ends::of(site, params)?;
    let mut case = ends.case(about, params, common::budget(params)?);
    case.places = ends.places(about.parts, seating(&ends, site, params, 1)?.seats);
    // A path that loses packets is asked many times, each with a wait.
    case.budget.overhead = Nanos::millis(300);
    Ok(vec![case])
}

/// The MTUs of both interfaces: the smaller one binds.
pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let nics: Vec<(&str, &Nic)> = match ends::way(case, site) {
        Some(way) => {
            let names = case.nodes.iter().map(String::as_str);
            names.zip([way.first, way.second]).collect()
        }
        None if case.nodes.len() == 1 => {
            let node = case.nodes[0].as_str();
            let nics = site.machine(node).and_then(|machine| machine.nics.known());
            nics.into_iter().flatten().filter(|nic| nic.name == "lo").map(|nic| (node, nic)).collect()
        }
        None => Vec::new(),
    };
    let bound = |(node, nic): &(&str, &Nic)| {
        let mtu = *nic.mtu.known()?;
        Some(Bound {
            value: Quantity::new(mtu.min(MOST_OF_IP) as f64, Unit::Byte).ok()?,
            formula: format!("MTU of {node}/{}", nic.name),
            provenance: "interface mtu".to_owned(),
        })
    };
    let bounds: Vec<Bound> = nics.iter().filter_map(bound).collect();
    let limit = if bounds.is_empty() {
        let reason = "the nodes share no network that their interfaces tell of: name one with -p interface=";
        Limit::Unknown { reason: reason.to_owned() }
    } else {
        Limit::Chain(bounds)
    };
    about.metrics.iter().map(|metric| (metric.name.to_owned(), limit.clone())).collect()
}
