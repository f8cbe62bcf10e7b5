//! What a job over several nodes is told of the network between them, what bounds it, and the bytes that it moved.

use std::collections::BTreeMap;

use seatrial_bench::group::{send_limit, sum_of_nodes};
use seatrial_bench::interfaces::INTERFACE;
use seatrial_inventory::{RdmaTraffic, hca_payload_limit};
use seatrial_model::machine::{Hca, HcaPort};
use seatrial_model::{
    Better, Bound, Case, Fact, Limit, Measures, Moved, MovedRows, PartRecord, PathEnd, Sample, Site,
};
use seatrial_sys::verbs::{Transport, VerbKind};

use crate::JobHosts;
use crate::network::{NETWORK, active_ports};
use crate::ranks::per_node;

/// The channel of samples of messages that ranks exchanged.
pub const MESSAGES: &str = "messages";

/// The largest packet of an RDMA port, in bytes of payload.
const LARGEST_MTU: u32 = 4096;

/// The nodes of a job as the launcher gets them.
pub fn hosts(case: &Case, names: Vec<String>, addresses: Vec<String>) -> JobHosts {
    JobHosts {
        names,
        addresses,
        interface: case.planned.text(INTERFACE.name).ok().map(str::to_owned),
        network: case.planned.text(NETWORK).ok().map(str::to_owned),
        has_hca: case.planned.flag(MovedRows::ACTIVE_HCA) == Ok(true),
    }
}

/// Which nodes send data in a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Senders {
    FirstHalf,
    SecondHalf,
    All,
}

/// What the ports of the nodes that send let out of the payload of messages of so many bytes: of the RDMA ports where all nodes
/// have active ones, else of the interfaces.
pub fn limit(case: &Case, site: &Site, senders: Senders, largest: u64) -> Limit {
    let half = case.nodes.len().div_ceil(2);
    let nodes = match senders {
        Senders::FirstHalf => &case.nodes[..half],
        Senders::SecondHalf => &case.nodes[case.nodes.len() - half..],
        Senders::All => &case.nodes[..],
    };
    let sending = Case { nodes: nodes.to_vec(), ..case.clone() };
    let bounds = if case.planned.flag(MovedRows::ACTIVE_HCA) == Ok(true) {
        sum_of_nodes(&sending, |own| rdma_limit(own, site, largest))
    } else {
        match case.planned.text(INTERFACE.name) {
            Ok(interface) => sum_of_nodes(&sending, |own| send_limit(own, site, interface)),
            Err(_) => {
                Err("the nodes do not tell one interface that all of them use; name it with -p interface="
                    .to_owned())
            }
        }
    };
    match bounds {
        Ok((_, one)) if nodes.len() == 1 => Limit::Chain(vec![one]),
        Ok((all, _)) => Limit::Chain(vec![all]),
        Err(why) => Limit::unknown(why),
    }
}

/// What all active RDMA ports of the node let out together.
fn rdma_limit(own: &Case, site: &Site, largest: u64) -> Result<Bound, String> {
    let machine =
        own.nodes.first().and_then(|node| site.machine(node)).ok_or("the node is not in the inventory")?;
    let nics = machine.nics.listed();
    let of_port = |(hca, port): (&Hca, &HcaPort)| {
        let mtu_bytes = port.active_mtu.known().copied().unwrap_or(LARGEST_MTU);
        let traffic = RdmaTraffic {
            transport: Transport::Rc,
            verb: VerbKind::Write,
            mtu_bytes,
            message_bytes: largest,
        };
        let named = |bound: &Bound| Bound {
            formula: format!("{}/{}: {}", hca.name, port.number, bound.formula),
            ..bound.clone()
        };
        match hca_payload_limit(hca, port, nics, &traffic) {
            Limit::Chain(chain) => Bound::tightest(&chain, Better::Higher)
                .map(named)
                .ok_or("the chain of bounds is empty".to_owned()),
            Limit::Unknown { reason } | Limit::AtMost { reason, .. } => Err(reason),
        }
    };
    let bounds = active_ports(machine).map(of_port).collect::<Result<Vec<Bound>, String>>()?;
    match bounds.as_slice() {
        [one] => Ok(one.clone()),
        all => Bound::sum(all),
    }
}

/// Bytes that a sample's messages moved: to the other rank of the pair, and back.
pub struct PairBytes {
    pub forward: u64,
    pub back: u64,
}

/// Adds the bytes that the pairs of ranks of all trials moved between nodes; `of` tells those of a sample of a rank.
pub fn tell_moved(
    case: &Case,
    parts: &[PartRecord],
    measures: &mut Measures,
    of: impl Fn(u64, &Sample) -> PairBytes,
) {
    let (Ok(of_node), true) = (per_node(case), case.nodes.len() > 1) else { return };
    let ranks = of_node * case.nodes.len() as u64;
    let mut moved: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let samples = parts.iter().flat_map(|part| &part.samples).filter(|sample| sample.channel == MESSAGES);
    for sample in samples {
        let rank = sample.at.count("rank").unwrap_or(0);
        let (own, peer) = (rank / of_node, (rank + ranks / 2) % ranks / of_node);
        let bytes = of(rank, sample);
        *moved.entry((own, peer)).or_default() += bytes.forward;
        *moved.entry((peer, own)).or_default() += bytes.back;
    }
    let node = |at: u64| case.nodes.get(at as usize).cloned().unwrap_or_default();
    let row = |((from, to), bytes): ((u64, u64), u64)| Moved {
        from: node(from),
        to: node(to),
        bytes,
        buffered: 0,
        sender: Some(PathEnd::Any),
        receiver: Some(PathEnd::Any),
    };
    let rows = moved.into_iter().filter(|((from, to), bytes)| from != to && *bytes > 0).map(row);
    MovedRows(rows.collect()).put(&mut measures.evidence);
}
