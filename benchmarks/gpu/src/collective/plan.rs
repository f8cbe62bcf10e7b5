//! One case of all GPUs of all nodes, a process for each, and the limit of its rate.

use seatrial_inventory::{gpu_links_limit, hca_rate, nic_rate};
use seatrial_model::machine::{Gpu, Known, Machine};
use seatrial_model::{
    About, Bound, Bytes, Case, CaseId, Cause, Limit, Limits, Nanos, Params, PartPlacement, Quantity, Reason,
    Site, SiteNode, Subject, Unit, Value,
};

use super::item::ItemType;
use super::operation::{Operation, sizes};
use super::steer;
use seatrial_bench::core_bindings;

/// Under what names the plan keeps the number of ranks, and the GPU of each rank.
pub const RANKS: &str = "ranks";
pub const LARGEST: &str = "largest";

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
    let needed = |size: u64| {
        let counts = operation.counts(size, ranks, element.bytes());
        let count = if is_shared { counts.out.max(counts.into) } else { counts.out + counts.into };
        element.bytes() * count as u64
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
    let has_port = |node: &SiteNode| {
        let hcas = node.machine.hcas.known().into_iter().flatten().filter(|hca| !hca.is_software);
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

/// The sizes that a case measures.
pub fn sizes_of(case: &Case) -> Result<Vec<u64>, Reason> {
    let ranks = case.planned.count(RANKS)? as usize;
    let largest = case.planned.bytes(LARGEST)?.map_or(u64::MAX, Bytes::get);
    let all = sizes(Operation::of(&case.params)?, &case.params, ranks)?;
    Ok(all.into_iter().filter(|size| *size <= largest).collect())
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    about.limits(|metric| match metric {
        "busbw" if case.nodes.len() > 1 => between_nodes(case, site),
        "busbw" => of_node(case, site),
        "algbw" => Limit::unknown("that of busbw, divided by the factor of the operation"),
        _ => Limit::unknown("no hardware fact bounds it; compare with other nodes"),
    })
}

/// Of several: what each node has to send or receive, by the ports of the node that has the least.
fn between_nodes(case: &Case, site: &Site) -> Limit {
    let (Ok(operation), Ok(ranks)) = (Operation::of(&case.params), case.planned.count(RANKS)) else {
        return Limit::unknown("the case names no operation");
    };
    let mut least: Option<(f64, String)> = None;
    for node in &case.nodes {
        match site.machine(node).map(ports) {
            Some(Known::Known((rate, _))) if least.as_ref().is_some_and(|(before, _)| *before <= rate) => {}
            Some(Known::Known((rate, formula))) => least = Some((rate, format!("{node}: {formula}"))),
            Some(Known::Unknown(why)) => return Limit::unknown(format!("{node}: {why}")),
            None => return Limit::unknown(format!("{node} is not in the inventory")),
        }
    }
    let Some((rate, formula)) = least else { return Limit::unknown("the case names no node") };
    let times = operation.of_ports(ranks as usize, case.nodes.len());
    match Quantity::new(rate * times / 1e9, Unit::GigabytesPerSecond) {
        Ok(value) => Limit::Chain(vec![Bound {
            value,
            formula: format!("{times:.3} x ({formula})"),
            provenance: "ports, without sums in switches".to_owned(),
            nominal: None,
        }]),
        Err(error) => Limit::unknown(error.to_string()),
    }
}

/// Bytes a second that all ports of a node send: of its HCAs, and of its network cards where no HCA has an active port.
fn ports(machine: &Machine) -> Known<(f64, String)> {
    let hcas = machine.hcas.known().into_iter().flatten();
    let mut rates: Vec<(String, f64)> = hcas
        .flat_map(|hca| hca.ports.iter().map(move |port| (hca, port)))
        .filter_map(|(hca, port)| Some((hca.name.clone(), hca_rate(hca, port).known()?.value.base())))
        .collect();
    if rates.is_empty() {
        let cards = machine.nics.known().into_iter().flatten();
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

/// Of one node: the links of the GPU that has the least.
fn of_node(case: &Case, site: &Site) -> Limit {
    let ([node], Ok(addresses)) = (case.nodes.as_slice(), crate::address_of(case)) else {
        return Limit::unknown("the case names no node");
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
