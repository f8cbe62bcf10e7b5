//! One case of all GPUs of all nodes, a process for each, and the limit of its rate.

use seatrial_inventory::gpu_links_limit;
use seatrial_model::machine::Gpu;
use seatrial_model::{
    About, Bytes, Case, CaseId, Cause, Limit, Limits, Nanos, Params, PartPlacement, Reason, Site, SiteNode,
    Subject,
};

use super::operation::{Operation, sizes};
use seatrial_bench::core_bindings;

/// Under what names the plan keeps the number of ranks, and the GPU of each rank.
pub const RANKS: &str = "ranks";
pub const LARGEST: &str = "largest";

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
    let operation = Operation::of(params)?;
    let first = site.nodes.first();
    let first = first.ok_or_else(|| Reason::new(Cause::Inapplicable, "there is no node to measure on"))?;
    let budget = seatrial_bench::budget(params)?;
    let mut case = Case::new(about, &first.name, Subject::node(), params, budget);
    let (mut addresses, mut memory) = (Vec::new(), None);
    for node in &site.nodes {
        let cores = core_bindings(&node.machine)?;
        for (turn, gpu) in chosen(params, node)?.into_iter().enumerate() {
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
    let needed = |size: u64| {
        let counts = operation.counts(size, ranks);
        4 * (counts.out + counts.into) as u64
    };
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
    case.planned.set("gpus", addresses.join(" ").as_str());
    // The first operation of each size makes connections.
    case.budget.warm_up = case.budget.warm_up.max(Nanos::secs(1));
    case.budget.prepare = Nanos::secs(90);
    case.budget.connect = case.budget.connect.plus(Nanos::secs(60));
    case.budget.overhead = Nanos::secs(3);
    Ok(vec![case])
}

/// The sizes that a case measures.
pub fn sizes_of(case: &Case) -> Result<Vec<u64>, Reason> {
    let ranks = case.planned.count(RANKS)? as usize;
    let largest = case.planned.bytes(LARGEST)?.map_or(u64::MAX, Bytes::get);
    let all = sizes(Operation::of(&case.params)?, &case.params, ranks)?;
    Ok(all.into_iter().filter(|size| *size <= largest).collect())
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    about.limits(|metric| match metric {
        "busbw" => of_node(case, site),
        "algbw" => Limit::unknown("that of busbw, divided by the factor of the operation"),
        _ => Limit::unknown("no hardware fact bounds it; compare with other nodes"),
    })
}

/// Of one node: the links of the GPU that has the least.
fn of_node(case: &Case, site: &Site) -> Limit {
    let ([node], Ok(addresses)) = (case.nodes.as_slice(), crate::address_of(case)) else {
        return Limit::unknown(
            "between nodes it depends on which way NCCL takes and which algorithm; measure the ways with rdma.write_bw",
        );
    };
    let gpus = site.machine(node).and_then(|machine| machine.gpus.known());
    let ours = gpus.into_iter().flatten().filter(|gpu| addresses.contains(&gpu.pci.address));
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
