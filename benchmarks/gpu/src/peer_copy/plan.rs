//! Plans one case with all GPUs of a node, from the inventory.

use seatrial_inventory::gpu_peer_limit;
use seatrial_model::machine::Gpu;
use seatrial_model::{
    About, Bytes, Case, Cause, Finding, Limit, Limits, Nanos, Params, PartPlacement, Reason, Severity, Site,
    SiteNode, Subject,
};

use super::cell::{CopyPath, cells};
use seatrial_bench::{core_bindings, each_node};

/// Time per slice: some copies of the default size even on fast links.
pub const SLICE: Nanos = Nanos::millis(25);

/// Chases per pair and round: one lap to fill the cache, one timed, one from memory.
const CHASES: u64 = 3;

/// Multiprocessors that go round the ring together, each with its part. The next round takes their neighbours: after
/// twelve rounds all 132 of an H200 had a turn.
pub const PROCESSORS: u32 = 16;

/// Time of a lap round the ring over a link with 1 us latency.
const CHASE: Nanos = Nanos::millis(16);

/// Rounds of a warm-up that must agree; one more precedes them, in which slices do not have all their copies yet.
const WARM_UP_ROUNDS: u64 = 3;

const LEAST_SLICES: u64 = 3;

pub fn wanted(params: &Params, count: usize) -> Vec<CopyPath> {
    let word = params.text("among").unwrap_or("auto");
    cells(count, word != "groups", word != "pairs")
}

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    each_node(site, |node| plan_node(about, params, node).map(|case| vec![case]))
}

fn plan_node(about: &About, params: &Params, node: &SiteNode) -> Result<Case, Reason> {
    let machine = &node.machine;
    let gpus = crate::measured(&Params::default(), machine)?;
    if gpus.len() < 2 {
        let text = "copies between GPUs need two GPUs; this node has one";
        return Err(Reason::new(Cause::Inapplicable, text));
    }
    let size = params.bytes("size").ok().flatten().unwrap_or_default();
    if !size.get().is_multiple_of(16) {
        let text = format!("size={size} is not a multiple of the 16 B vectors that kernels copy");
        return Err(Reason::new(Cause::Contradiction, text));
    }
    let needed = size.get() * gpus.len() as u64;
    if let Some(least) = gpus.iter().filter_map(|gpu| gpu.memory_bytes.known()).min()
        && needed > *least / 2
    {
        let text = format!(
            "size={size}: {} with {} GPUs are more than half of a GPU's {}",
            Bytes(needed).rounded(),
            gpus.len(),
            Bytes(*least).rounded()
        );
        return Err(Reason::new(Cause::NoSpace, text));
    }
    let all = core_bindings(machine)?;
    let (binding, _) = crate::near(machine, gpus[0], &all, 0);
    let mut case = Case::new(about, &node.name, Subject::node(), params, seatrial_bench::budget(params)?);
    case.facts.set("kind", "node");
    case.facts.set("gpus", gpus.len() as u64);
    crate::chosen(&mut case, &gpus);
    case.places = vec![PartPlacement::new("worker", 0, &node.name, vec![binding])];
    case.findings.extend(redirected(&gpus));
    let pairs = (gpus.len() * (gpus.len() - 1)) as u64;
    let round = SLICE.get() * wanted(params, gpus.len()).len() as u64 + CHASE.get() * CHASES * pairs;
    case.budget.measure = case.budget.measure.max(Nanos(round * LEAST_SLICES * 3 / 2));
    case.budget.warm_up = case.budget.warm_up.max(Nanos::millis(300)).max(Nanos(round * WARM_UP_ROUNDS));
    case.budget.overhead = Nanos::millis(800 * gpus.len() as u64);
    case.budget.prepare = Nanos::secs(90);
    Ok(case)
}

/// Finding: GPUs without NVLink copy over PCIe, where ports with ACS may redirect everything to the CPU.
fn redirected(gpus: &[&Gpu]) -> Option<Finding> {
    let over_the_bus = gpus.iter().filter(|gpu| gpu.nvlinks.known().is_some_and(Vec::is_empty));
    let mut ports: Vec<&String> =
        over_the_bus.filter_map(|gpu| gpu.redirected_by.known()).flatten().collect();
    ports.sort();
    ports.dedup();
    (!ports.is_empty()).then(|| {
        let named: Vec<&str> = ports.iter().map(|port| port.as_str()).collect();
        let text = format!(
            "PCIe Access Control Services (ACS) of the ports {} redirect copies between GPUs through the \
             CPU's root complex: expect only the bandwidth of its links, and possibly wrong data with an \
             IOMMU; disable ACS in the firmware or with setpci",
            named.join(", ")
        );
        Finding::new("peer-redirected", Severity::Warning, Subject::node(), text)
    })
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let unknown = |reason: &str| Limit::unknown(reason);
    let machine = case.nodes.first().and_then(|node| site.machine(node));
    let gpus: Vec<&Gpu> =
        machine.and_then(|machine| crate::measured(&Params::default(), machine).ok()).unwrap_or_default();
    // The slowest pair is measured, and no pair is faster than its own links: the narrowest bound of all holds for it.
    let mut tightest: Option<Limit> = None;
    let value = |limit: &Limit| match limit {
        Limit::Chain(bounds) => {
            let base = |bound: &seatrial_model::Bound| bound.value.base();
            bounds.iter().map(base).fold(f64::MAX, f64::min)
        }
        Limit::AtMost { .. } | Limit::Unknown { .. } => f64::MAX,
    };
    for (at, from) in gpus.iter().enumerate() {
        for to in &gpus[at + 1..] {
            let limit = gpu_peer_limit(from, to, &gpus);
            if tightest.as_ref().is_none_or(|other| value(&limit) < value(other)) {
                tightest = Some(limit);
            }
        }
    }
    let one_way = tightest.unwrap_or_else(|| unknown("the GPUs are not in the inventory"));
    let twice = match one_way.clone() {
        Limit::Chain(bounds) => Limit::Chain(bounds.into_iter().map(crate::both_ways).collect()),
        other => other,
    };
    let limit = |metric: &str| match metric {
        "write" | "read" => one_way.clone(),
        "both_write" | "both_read" => twice.clone(),
        "latency" | "latency_memory" => unknown("no data sheet states the latency of a link"),
        _ => unknown("which links several GPUs share is not known"),
    };
    about.limits(limit)
}
