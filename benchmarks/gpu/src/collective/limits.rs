//! Limits of `busbw`, by what the GPUs have to send over their links and the nodes over their ports with each algorithm.

use seatrial_inventory::{gpu_links_limit, hca_rate, nic_rate};
use seatrial_model::machine::{Known, Machine};
use seatrial_model::{About, Bound, Case, Limit, Limits, Quantity, Site, Unit};

use super::operation::Operation;
use super::plan::{COULD_NVLS, RANKS};
use super::steer;

/// Under what name the measurement tells the algorithm of the largest size.
pub const ALGORITHM: &str = "nccl_algorithm";

/// Bytes that pass the links of a GPU or the ports of a node for a byte of `busbw`, turned over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// `busbw` over the rate of a GPU's links; none where they do not bound it.
    pub of_links: Option<f64>,
    /// `busbw` over the rate of a node's ports.
    pub of_ports: f64,
}

/// The shares with an algorithm as NCCL's log names it; where it is unknown, the highest of all without sums in the switches of
/// the network. `could_nvls`: whether the switches of a node could add up.
pub fn shares(
    operation: Operation,
    algorithm: Option<&str>,
    (ranks, nodes): (usize, usize),
    could_nvls: bool,
) -> Shares {
    let each = ranks / nodes;
    let both = operation.bus_factor(ranks);
    // With rings and trees one GPU of a node sends over the ports in place of its links, in each ring or tree another one.
    let passed_on = match nodes {
        1 => Some(1.0),
        _ => (each > 1).then(|| each as f64 / (each as f64 - 1.0)),
    };
    let is_reduction = operation == Operation::AllReduce;
    let of_ports = operation.of_ports(ranks, nodes);
    match algorithm {
        // Every GPU sends its data once, and the switch of the node sends the sums.
        Some("NVLS" | "NVLS_TREE") if is_reduction => Shares { of_links: Some(both), of_ports },
        // The switches of the network add up: a node sends its sums once.
        Some("COLLNET_DIRECT" | "COLLNET_CHAIN") if is_reduction => {
            Shares { of_links: passed_on.map(|share| share.max(both)), of_ports: both }
        }
        // What goes around passes every node.
        Some("RING") => Shares { of_links: passed_on, of_ports: 1.0 },
        None if is_reduction && could_nvls => {
            Shares { of_links: passed_on.map(|share| share.max(both)), of_ports }
        }
        // A part of what each GPU sends stays within the node.
        _ if matches!(operation, Operation::AllToAll | Operation::SendReceive) => {
            Shares { of_links: (nodes == 1).then_some(1.0), of_ports }
        }
        _ => Shares { of_links: passed_on, of_ports },
    }
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    about.limits(|metric| match metric {
        "busbw" => of_busbw(case, site),
        "algbw" => Limit::unknown("that of busbw, divided by the factor of the operation"),
        _ => Limit::unknown("no hardware fact bounds it; compare with other nodes"),
    })
}

fn of_busbw(case: &Case, site: &Site) -> Limit {
    let (Ok(operation), Ok(ranks)) = (Operation::of(&case.params), case.planned.count(RANKS)) else {
        return Limit::unknown("the case names no operation");
    };
    let algorithm = case.planned.text(ALGORITHM).ok();
    let could_nvls = case.planned.flag(COULD_NVLS).unwrap_or(false);
    let nodes = case.nodes.len().max(1);
    let shares = shares(operation, algorithm, (ranks as usize, nodes), could_nvls);
    let why = match algorithm {
        Some(name)
            if steer::algorithm(&case.params).is_some_and(|asked| name.eq_ignore_ascii_case(asked)) =>
        {
            format!("{name}, which algorithm={} makes NCCL use", name.to_lowercase())
        }
        Some(name) => format!("{name}, which NCCL chose for the largest size"),
        None if operation.in_log().is_none() => "sends and receives".to_owned(),
        None => "the algorithm with the highest limit: NCCL's log tells none".to_owned(),
    };
    let links = shares.of_links.map(|share| (share, links(case, site)));
    if nodes == 1 {
        let Some((share, links)) = links else { return Limit::unknown("the case names no GPU") };
        return times(share, links, &why);
    }
    let ports = match least_ports(case, site) {
        Ok(bound) => times(shares.of_ports, Limit::Chain(vec![bound]), &why),
        Err(why) => return Limit::unknown(why),
    };
    match (ports, links.map(|(share, links)| times(share, links, &why))) {
        (Limit::Chain(mut all), Some(Limit::Chain(links))) => {
            all.extend(links);
            Limit::Chain(all)
        }
        (ports, _) => ports,
    }
}

/// Bounds of a rate, multiplied.
fn times(share: f64, limit: Limit, why: &str) -> Limit {
    let Limit::Chain(bounds) = limit else { return limit };
    let scaled = bounds.into_iter().map(|bound| {
        let value = Quantity::new(share * bound.value.base() / 1e9, Unit::GigabytesPerSecond)?;
        let is_one = (share - 1.0).abs() < 1e-9;
        let formula = if is_one { bound.formula } else { format!("{share:.3} x ({})", bound.formula) };
        let provenance = format!("{}; {why}", bound.provenance);
        Ok::<_, seatrial_model::QuantityError>(Bound { value, formula, provenance, nominal: None })
    });
    match scaled.collect() {
        Ok(bounds) => Limit::Chain(bounds),
        Err(error) => Limit::unknown(error.to_string()),
    }
}

/// The ports of the node that has the least.
fn least_ports(case: &Case, site: &Site) -> Result<Bound, String> {
    let mut least: Option<(f64, String)> = None;
    for node in &case.nodes {
        match site.machine(node).map(ports) {
            Some(Known::Known((rate, _))) if least.as_ref().is_some_and(|(before, _)| *before <= rate) => {}
            Some(Known::Known((rate, formula))) => least = Some((rate, format!("{node}: {formula}"))),
            Some(Known::Unknown(why)) => return Err(format!("{node}: {why}")),
            None => return Err(format!("{node} is not in the inventory")),
        }
    }
    let (rate, formula) = least.ok_or("the case names no node")?;
    let value = Quantity::new(rate / 1e9, Unit::GigabytesPerSecond).map_err(|error| error.to_string())?;
    Ok(Bound::new(value, formula, "ports"))
}

/// Bytes a second that all ports of a node send: of its HCAs, and of its network cards where no HCA has an active port.
fn ports(machine: &Machine) -> Known<(f64, String)> {
    let hcas = machine.hcas.listed().iter();
    let mut rates: Vec<(String, f64)> = hcas
        .flat_map(|hca| hca.ports.iter().map(move |port| (hca, port)))
        .filter_map(|(hca, port)| Some((hca.name.clone(), hca_rate(hca, port).known()?.value.base())))
        .collect();
    if rates.is_empty() {
        let cards = machine.nics.listed().iter();
        for nic in cards.filter(|nic| nic.kind.is_device() && nic.up == Known::Known(true)) {
            match nic_rate(nic) {
                Known::Known(bound) => rates.push((nic.name.clone(), bound.value.base())),
                Known::Unknown(why) => return Known::unknown(format!("{}: {why}", nic.name)),
            }
        }
    }
    if rates.is_empty() {
        return Known::unknown("no rate of a port is known");
    }
    let terms: Vec<String> = rates.iter().map(|(name, rate)| format!("{name} {:.2}", rate / 1e9)).collect();
    Known::Known((rates.iter().map(|(_, rate)| rate).sum(), format!("{} GB/s", terms.join(" + "))))
}

/// The links of the GPU that has the least of all nodes, in one direction.
fn links(case: &Case, site: &Site) -> Limit {
    let Ok(addresses) = crate::address_of(case) else { return Limit::unknown("the case names no GPU") };
    let places = case.places.iter().zip(&addresses);
    let ours = places.filter_map(|(place, address)| {
        let gpus = site.machine(&place.node)?.gpus.known()?;
        gpus.iter().find(|gpu| gpu.pci.address == *address)
    });
    let least = |limit: &Limit| match limit {
        Limit::Chain(bounds) => bounds.iter().map(|bound| bound.value.base()).min_by(f64::total_cmp),
        _ => None,
    };
    let mut found: Option<Limit> = None;
    for limit in ours.map(gpu_links_limit) {
        let Some(value) = least(&limit) else { return limit };
        if found.as_ref().and_then(least).is_none_or(|before| value < before) {
            found = Some(limit);
        }
    }
    found.unwrap_or_else(|| Limit::unknown("the GPUs are not in the inventory"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Operation::{AllGather, AllReduce, AllToAll, Broadcast, SendReceive};

    /// Links and ports of one byte a second.
    fn bound(
        operation: Operation,
        algorithm: Option<&str>,
        ranks: usize,
        nodes: usize,
        nvls: bool,
    ) -> (f64, f64) {
        let found = shares(operation, algorithm, (ranks, nodes), nvls);
        let round = |share: f64| (share * 1e3).round() / 1e3;
        (round(found.of_links.unwrap_or(f64::INFINITY)), round(found.of_ports))
    }

    #[test]
    fn on_one_node_only_sums_in_its_switch_go_beyond_the_links() {
        let of = |operation, algorithm, nvls| bound(operation, algorithm, 8, 1, nvls).0;
        for algorithm in [Some("RING"), Some("TREE"), None] {
            assert_eq!(of(AllReduce, algorithm, false), 1.0, "{algorithm:?}");
        }
        assert_eq!(of(AllReduce, Some("NVLS"), true), 1.75);
        assert_eq!(of(AllReduce, None, true), 1.75, "the log tells nothing, and it could have been");
        assert_eq!(of(AllReduce, Some("RING"), true), 1.0);
        assert_eq!(of(AllGather, Some("NVLS"), true), 1.0, "each GPU has to receive all");
        assert_eq!(of(AllToAll, None, true), 1.0);
    }

    #[test]
    fn between_nodes_a_ring_passes_every_node_and_a_tree_sends_once() {
        let of = |algorithm, ranks, nodes| bound(AllReduce, algorithm, ranks, nodes, true);
        assert_eq!(of(Some("RING"), 16, 2), (1.143, 1.0));
        assert_eq!(of(Some("TREE"), 16, 2), (1.143, 1.875));
        assert_eq!(of(Some("TREE"), 32, 4), (1.143, 1.292));
        assert_eq!(of(Some("NVLS_TREE"), 16, 2), (1.875, 1.875));
        assert_eq!(of(Some("COLLNET_DIRECT"), 32, 4), (1.938, 1.938));
        assert_eq!(of(None, 16, 2), (1.875, 1.875));
        assert_eq!(of(Some("RING"), 2, 2), (f64::INFINITY, 1.0), "one GPU of each node has no links to use");
        assert_eq!(bound(AllToAll, None, 16, 2, true), (f64::INFINITY, 0.234));
        assert_eq!(bound(SendReceive, None, 16, 2, true), (f64::INFINITY, 1.0));
        assert_eq!(bound(Broadcast, Some("RING"), 16, 2, true), (1.143, 1.0));
    }
}
