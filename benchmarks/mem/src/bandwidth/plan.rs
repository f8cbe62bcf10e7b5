//! Plans what is measured where, from the inventory.

use seatrial_inventory::memory_limit;
use seatrial_model::machine::{Known, Machine};
use seatrial_model::{
    About, Binding, Bytes, Case, Cause, Finding, Limit, Limits, Nanos, Params, PartPlacement, Reason,
    Severity, Site, SiteNode, Subject, Value,
};

use super::layout::{ALL, BandwidthLayout, CORES, MEMORY_NODES};
use crate::kernel::{Isa, Kernel, Store};
use seatrial_bench::{core_bindings, each_node, matrix_nodes, remote_memory, room};

/// Least size of an array in sizes of the caches in use, so that hardly any of it stays cached; also in STREAM's run
/// rules (McCalpin, "Memory Bandwidth and Machine Balance").
const TIMES_L3: u64 = 4;

/// Divisor of the available memory for all arrays together.
const SHARE: u64 = 2;

const LEAST_SHARD: u64 = 1 << 20;

const WITHOUT_CACHE_FACTS: u64 = 1 << 30;

/// Least number of slices of each point in a trial; of each core alone, since there may be hundreds.
const LEAST_SLICES: u64 = 4;
const LEAST_CORE_SLICES: u64 = 2;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    each_node(site, |node| Ok(vec![plan_node(about, params, node)?]))
}

fn plan_node(about: &About, params: &Params, node: &SiteNode) -> Result<Case, Reason> {
    let machine = &node.machine;
    let budget = seatrial_bench::budget(params)?;
    let kernel = wanted_kernel(params)?;
    let store = wanted_store(params, kernel)?;
    let isa = wanted_isa(params, machine)?;
    let bindings = core_bindings(machine)?;
    let (layout, key, value) = layout(params, machine, &bindings)?;

    let mut case = Case::new(about, &node.name, Subject::node(), params, budget);
    case.planned.set("isa", isa.name());
    case.planned.set("store", store.map_or("none", Store::name));
    case.planned.set(key, Value::from(value.as_str()));
    // A matrix names the node of each memory itself.
    case.findings.extend(remote_memory(&bindings).filter(|_| key != MEMORY_NODES));
    let cpus: Vec<u32> = bindings.iter().map(|binding| binding.cpu).collect();
    let l3 = machine.last_level_cache(&cpus);
    let array = array(params, machine, &l3, kernel, &layout)?;
    case.planned.set("array", array);
    if let Known::Known(cache) = &l3 {
        case.planned.set("l3", Bytes(cache.bytes));
        if array.get() < TIMES_L3 * cache.bytes {
            case.findings.push(cache_resident(array, Bytes(cache.bytes)));
        }
        if let Some(text) = &cache.disagreement {
            let text = format!("{text}; the array size follows the larger");
            case.findings.push(Finding::new("cache-size-disputed", Severity::Info, Subject::node(), text));
        }
    }
    case.facts.set("kind", "node");
    case.facts.set("cores", bindings.len() as u64);
    case.facts.set("numa_nodes", machine.numa.len() as u64);
    case.places = vec![PartPlacement::new("worker", 0, &node.name, bindings)];

    let least = if key == CORES { LEAST_CORE_SLICES } else { LEAST_SLICES };
    case.budget.measure = case.budget.measure.max(Nanos(layout.round().get() * least));
    case.budget.warm_up = case.budget.warm_up.max(layout.round());
    // First touch and check run at a few GB/s per core at least.
    let total = array.get() * kernel.arrays() as u64 * pools(&layout);
    let touch = Nanos(total / (2 * case.places[0].bindings.len().min(16) as u64).max(1));
    case.budget.overhead = Nanos::millis(100).plus(touch);
    case.budget.prepare = crate::sizing::prepare_time(touch);
    Ok(case)
}

fn wanted_kernel(params: &Params) -> Result<Kernel, Reason> {
    let word = params.text("kernel").map_err(|error| Reason::new(Cause::Protocol, error.to_string()))?;
    word.parse().map_err(|_| Reason::new(Cause::Protocol, format!("'{word}' is not a kernel")))
}

/// Kind of stores; `None` for kernels without a choice.
fn wanted_store(params: &Params, kernel: Kernel) -> Result<Option<Store>, Reason> {
    let word = params.text("store").map_err(|error| Reason::new(Cause::Protocol, error.to_string()))?;
    match (word, kernel.has_store_choice()) {
        ("auto", false) => Ok(None),
        (_, false) => {
            let why =
                if kernel == Kernel::Read { "it stores nothing" } else { "the C library chooses the stores" };
            Err(Reason::new(Cause::Inapplicable, format!("store= does not apply to kernel {kernel}: {why}")))
        }
        ("regular", true) => Ok(Some(Store::Regular)),
        (_, true) => Ok(Some(Store::NonTemporal)),
    }
}

fn wanted_isa(params: &Params, machine: &Machine) -> Result<Isa, Reason> {
    let word = params.text("isa").map_err(|error| Reason::new(Cause::Protocol, error.to_string()))?;
    let has: Vec<Isa> = Isa::ALL.iter().copied().filter(|isa| machine.cpu.has_isa(isa.feature())).collect();
    let isa = if word == "auto" { has.last() } else { has.iter().find(|isa| isa.name() == word) };
    isa.copied().ok_or_else(|| {
        let names: Vec<_> = has.iter().map(|isa| isa.name()).collect();
        let text = match machine.cpu.isa.why() {
            Some(why) => format!("the instruction sets of this CPU are not known: {why}"),
            None => format!("isa={word}: this CPU does not have it; it has: {}", names.join(", ")),
        };
        Reason::new(Cause::Inapplicable, text)
    })
}

fn layout(
    params: &Params,
    machine: &Machine,
    bindings: &[Binding],
) -> Result<(BandwidthLayout, &'static str, String), Reason> {
    let word = |number: &u32| if *number == ALL { "all".to_owned() } else { number.to_string() };
    let join = |numbers: &[u32]| numbers.iter().map(word).collect::<Vec<_>>().join(" ");
    match params.text("scope") {
        Ok("matrix") => {
            let memories = matrix_nodes(machine)?;
            return Ok((BandwidthLayout::matrix(bindings, &memories), MEMORY_NODES, join(&memories)));
        }
        Ok("cores") if bindings.len() < 2 => {
            let text = "scope=cores compares cores, and this process may use only one";
            return Err(Reason::new(Cause::Inapplicable, text));
        }
        Ok("cores") => return Ok((BandwidthLayout::cores(bindings), CORES, "each".to_owned())),
        _ => {}
    }
    let levels = match params.get("threads") {
        Some(Value::Count(count)) => vec![u32::try_from(*count).unwrap_or(ALL)],
        _ => vec![1, 2, 4, ALL],
    };
    let largest = largest_domain(bindings);
    if let [level] = levels[..]
        && level as usize > largest
    {
        let text = format!(
            "threads={level}: the largest L3 domain has only {largest} cores that this process may use"
        );
        return Err(Reason::new(Cause::Inapplicable, text));
    }
    let as_sizes: Vec<usize> = levels.iter().map(|level| *level as usize).collect();
    Ok((BandwidthLayout::levels(bindings, &as_sizes), "levels", join(&levels)))
}

fn largest_domain(bindings: &[Binding]) -> usize {
    bindings
        .iter()
        .map(|binding| bindings.iter().filter(|other| other.domain == binding.domain).count())
        .max()
        .unwrap_or(0)
}

/// Copies of every array: one, or one per memory node.
fn pools(layout: &BandwidthLayout) -> u64 {
    let threads = layout.points.iter().map(|point| point.threads.len()).max().unwrap_or(1).max(1);
    (layout.slots.len() / threads).max(1) as u64
}

/// Size of each array, over all slots of one copy.
fn array(
    params: &Params,
    machine: &Machine,
    l3: &Known<seatrial_model::machine::LastLevelCache>,
    kernel: Kernel,
    layout: &BandwidthLayout,
) -> Result<Bytes, Reason> {
    let shards = layout.slots.len() as u64 / pools(layout);
    let granule = shards * LEAST_SHARD;
    let copies = kernel.arrays() as u64 * pools(layout);
    let room = room(machine).map(|room| room / SHARE / copies);
    let asked = params.bytes("array").ok().flatten();
    let wanted = match (asked, l3) {
        (Some(bytes), _) => bytes.get(),
        (None, Known::Known(cache)) => TIMES_L3 * cache.bytes,
        (None, Known::Unknown(_)) => WITHOUT_CACHE_FACTS,
    };
    let wanted = wanted.max(granule);
    let size = match (room, asked) {
        (Some(room), Some(_)) if wanted > room => {
            let text = format!(
                "array={}: {copies} arrays of this size need more than half of the available memory; at most \
                 {} each",
                Bytes(wanted).rounded(),
                Bytes(room).rounded()
            );
            return Err(Reason::new(Cause::NoSpace, text));
        }
        (Some(room), None) => wanted.min(room),
        _ => wanted,
    };
    let size = size / granule * granule;
    if size == 0 {
        let text = format!("less than {} per array is available; free memory", Bytes(granule).rounded());
        return Err(Reason::new(Cause::NoSpace, text));
    }
    Ok(Bytes(size))
}

fn cache_resident(array: Bytes, l3: Bytes) -> Finding {
    let text = format!(
        "an array of {} is less than {TIMES_L3} times the {} of last-level cache in use: part of the traffic \
         stays in the cache, so the result is not memory bandwidth; free memory or set a larger -p array=",
        array.rounded(),
        l3.rounded()
    );
    Finding::new("cache-resident", Severity::Warning, Subject::node(), text)
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let machine = case.nodes.first().and_then(|node| site.machine(node));
    let whole = machine.map_or_else(|| Limit::unknown("the node is not in the inventory"), memory_limit);
    let pair = "the system does not report the speed of the links between NUMA nodes";
    let core = "no hardware fact bounds the bandwidth of one core";
    let limit = |metric: &str| match metric {
        "local" | "remote" => Limit::unknown(pair),
        "one_core" | "slowest_core" | "gain" => Limit::unknown(core),
        _ => whole.clone(),
    };
    about.limits(limit)
}
