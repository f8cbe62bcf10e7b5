//! One case of all GPUs of all nodes, a process for each.

use seatrial_model::machine::{Gpu, Known};
use seatrial_model::{
    About, Bytes, Case, CaseId, Cause, Nanos, Params, PartPlacement, Reason, Site, SiteNode, Subject, Value,
};

use super::item::ItemType;
use super::operation::{Operation, sizes};
use super::steer;
use seatrial_bench::core_bindings;

/// Under what names the plan keeps the number of ranks, and the GPU of each rank.
pub const RANKS: &str = "ranks";
pub const LARGEST: &str = "largest";

/// Bytes that a rank may send and receive.
const ROOM: &str = "room";

/// Whether all nodes have an active port of InfiniBand or RoCE hardware.
pub const ACTIVE_HCA: &str = "active_hca";

/// Whether NVLink switches can add up for the GPUs of each node.
pub const COULD_NVLS: &str = "could_nvls";

/// Divisor of a GPU's memory for what a rank sends and receives.
const SHARE: u64 = 4;

/// The GPUs of a node that take part.
fn chosen<'a>(params: &Params, node: &'a SiteNode) -> Result<Vec<&'a Gpu>, Reason> {
    let all = crate::measured(params, &node.machine)?;
    let Ok(wanted) = params.count("gpus") else { return Ok(all) };
    if (all.len() as u64) < wanted {
        let text = format!("gpus={wanted}: {} has {} GPUs", node.name, all.len());
        return Err(Reason::new(Cause::Missing, text));
    }
    Ok(all.into_iter().take(wanted as usize).collect())
}

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let (operation, element) = (Operation::of(params)?, ItemType::of(params)?);
    steer::check(params)?;
    let first = site.nodes.first();
    let first = first.ok_or_else(|| Reason::new(Cause::Inapplicable, "there is no node to measure on"))?;
    let budget = seatrial_bench::budget(params)?;
    let mut case = Case::new(about, &first.name, Subject::node(), params, budget);
    let (mut addresses, mut memory, mut could_nvls) = (Vec::new(), None, true);
    for node in &site.nodes {
        let cores = core_bindings(&node.machine)?;
        let gpus = chosen(params, node)?;
        could_nvls &= operation == Operation::AllReduce && has_switch_sums(&gpus);
        for (turn, gpu) in gpus.into_iter().enumerate() {
            let (binding, findings) = crate::near(&node.machine, gpu, &cores, turn);
            // How a rank reaches its GPU hardly matters for what GPUs do among themselves.
            drop(findings);
            let index = u32::try_from(case.places.len()).unwrap_or(u32::MAX);
            case.places.push(PartPlacement::new("rank", index, &node.name, vec![binding]));
            addresses.push(gpu.pci.address.clone());
            memory = [memory, gpu.memory_bytes.known().copied()].into_iter().flatten().min();
        }
    }
    let ranks = case.places.len();
    if ranks < 2 {
        return Err(Reason::new(Cause::Inapplicable, "a collective operation needs 2 GPUs, there is 1"));
    }
    if site.nodes.len() > 1 {
        case.nodes = site.nodes.iter().map(|node| node.name.clone()).collect();
        case.subject = Subject::device("nodes", &site.nodes.len().to_string());
        case.id = CaseId::new(about, about.id, &case.nodes, &case.subject, params);
        case.facts.set("kind", "nodes");
        case.facts.set("nodes", site.nodes.len() as u64);
        case.budget.connect = seatrial_model::Budget::connect_of(ranks);
    } else {
        case.facts.set("kind", "node");
    }
    case.facts.set("gpus", ranks as u64);
    let room = memory.map_or(u64::MAX, |memory| memory / SHARE);
    let all = sizes(operation, params, ranks)?;
    element.modulus(ranks)?;
    let is_shared = params.flag("in_place")?;
    let needed = |size: u64| needed(operation, (size, ranks, element), is_shared);
    let largest = all.iter().copied().filter(|size| needed(*size) <= room).max().ok_or_else(|| {
        let text = format!(
            "size={}: a rank needs {}, more than a quarter of its GPU's memory",
            Bytes(all[0]).rounded(),
            Bytes(needed(all[0])).rounded()
        );
        Reason::new(Cause::NoSpace, text)
    })?;
    case.planned.set(RANKS, ranks as u64);
    case.planned.set(LARGEST, Bytes(largest));
    case.planned.set(ROOM, Bytes(room));
    case.planned.set("gpus", addresses.join(" ").as_str());
    let has_port = |node: &SiteNode| {
        let hcas = node.machine.hcas.listed().iter().filter(|hca| !hca.is_software);
        hcas.flat_map(|hca| &hca.ports).any(|port| port.is_active() == Known::Known(true))
    };
    case.planned.set(ACTIVE_HCA, Value::Flag(site.nodes.iter().all(has_port)));
    case.planned.set(COULD_NVLS, Value::Flag(could_nvls));
    // The first operation of each size makes connections.
    case.budget.warm_up = case.budget.warm_up.max(Nanos::secs(1));
    case.budget.prepare = Nanos::secs(90);
    case.budget.connect = case.budget.connect.plus(Nanos::secs(60));
    case.budget.overhead = Nanos::secs(3);
    Ok(vec![case])
}

/// From how many GPUs of a compute capability on NCCL lets the switches of a node add up (acceptance tests of eight GPUs; its
/// own table of costs decides).
const SWITCH_SUMS: [(&str, usize); 2] = [("9.", 5), ("10.", 6)];

fn has_switch_sums(gpus: &[&Gpu]) -> bool {
    let is_of = |gpu: &&&Gpu| {
        let capability = gpu.capability.known();
        SWITCH_SUMS.iter().any(|(first, least)| {
            gpus.len() >= *least && capability.is_some_and(|capability| capability.starts_with(first))
        })
    };
    gpus.iter().filter(is_of).count() == gpus.len()
}

/// Bytes that a rank sends and receives.
fn needed(operation: Operation, (size, ranks, element): (u64, usize, ItemType), is_shared: bool) -> u64 {
    let counts = operation.counts(size, ranks, element.bytes());
    let count = if is_shared { counts.out.max(counts.into) } else { counts.out + counts.into };
    element.bytes() * count as u64
}

/// The sizes of a series that the case leaves out since a rank has no room for them, with what it would need.
pub fn without_room(case: &Case) -> Result<Vec<(u64, String)>, Reason> {
    let (operation, element) = (Operation::of(&case.params)?, ItemType::of(&case.params)?);
    let (ranks, room) = (case.planned.count(RANKS)? as usize, case.planned.bytes(ROOM)?.unwrap_or_default());
    let is_shared = case.params.flag("in_place")?;
    let text = |size: u64| {
        let needed = Bytes(needed(operation, (size, ranks, element), is_shared)).rounded();
        format!("a rank needs {needed}, and may take {}, a quarter of its GPU's memory", room.rounded())
    };
    let largest = case.planned.bytes(LARGEST)?.map_or(u64::MAX, Bytes::get);
    let all = sizes(operation, &case.params, ranks)?;
    Ok(all.into_iter().filter(|size| *size > largest).map(|size| (size, text(size))).collect())
}

/// The sizes that a case measures.
pub fn sizes_of(case: &Case) -> Result<Vec<u64>, Reason> {
    let ranks = case.planned.count(RANKS)? as usize;
    let largest = case.planned.bytes(LARGEST)?.map_or(u64::MAX, Bytes::get);
    let all = sizes(Operation::of(&case.params)?, &case.params, ranks)?;
    Ok(all.into_iter().filter(|size| *size <= largest).collect())
}
