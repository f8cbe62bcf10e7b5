//! Plans which cores chase and load, from the inventory.

use seatrial_inventory::memory_limit;
use seatrial_model::machine::{Known, Machine};
use seatrial_model::{
    About, Binding, Bytes, Case, Cause, Finding, Limit, Limits, Nanos, Params, PartPlacement, Reason,
    Severity, Site, SiteNode, Subject,
};

use super::team::FLAT_BLOCK;
use crate::kernel::{Isa, Kernel, Store};
use crate::sizing::{self, TIMES_CACHE};
use seatrial_bench::{core_bindings, remote_memory, room};

/// Divisor of the available memory for ring and arrays together.
const SHARE: u64 = 2;

const WITHOUT_CACHE_FACTS: u64 = 1 << 30;

const LEAST_SHARD: u64 = 1 << 20;

/// Time of a timed run: enough hops for a mean that queue fluctuations do not move.
pub const SLICE: Nanos = Nanos::millis(5);

/// Estimated time of a visit besides its timed run.
const SETTLING: Nanos = Nanos::millis(6);

const LEAST_VISITS: u64 = 3;

pub fn kernel(load: &str) -> Option<(Kernel, Option<Store>)> {
    match load {
        "read" => Some((Kernel::Read, None)),
        // Non-temporal, so that counted bytes equal bus traffic: as many bytes read as written.
        "copy" => Some((Kernel::Copy, Some(Store::NonTemporal))),
        _ => None,
    }
}

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    seatrial_bench::each_node(site, |node| Ok(vec![plan_node(about, params, node)?]))
}

fn plan_node(about: &About, params: &Params, node: &SiteNode) -> Result<Case, Reason> {
    let machine = &node.machine;
    let word =
        |name: &str| params.text(name).map_err(|error| Reason::new(Cause::Protocol, error.to_string()));
    let budget = seatrial_bench::budget(params)?;
    let steps = params.count("steps").map_err(|error| Reason::new(Cause::Protocol, error.to_string()))?;
    let (kernel, _) = kernel(word("load")?).ok_or_else(|| Reason::new(Cause::Protocol, "no such load"))?;
    let all = core_bindings(machine)?;
    let places = chaser_and_loaders(&all, word("loaders")? == "node")?;
    let isa = widest(machine)?;

    let mut case = Case::new(about, &node.name, Subject::node(), params, budget);
    let line = sizing::line(machine);
    let sizes = Sizes::of(machine, &places, kernel, line)?;
    case.planned.set("cpu", u64::from(places[0].cpu));
    case.planned.set("loading_cpus", places.len() as u64 - 1);
    case.planned.set("isa", isa.name());
    case.planned.set("line", Bytes(line));
    case.planned.set("ring", Bytes(sizes.ring));
    case.planned.set("array", Bytes(sizes.array));
    case.findings.extend(sizes.finding);
    case.findings.extend(remote_memory(&places));
    case.facts.set("kind", "node");
    case.facts.set("cores", all.len() as u64);
    case.facts.set("numa_nodes", machine.numa.len() as u64);

    let loaders = places.len() as u64 - 1;
    case.places = vec![PartPlacement::new("worker", 0, &node.name, places)];
    let round = Nanos((SLICE.get() + SETTLING.get()) * (steps + 1));
    case.budget.measure = case.budget.measure.max(Nanos(round.get() * LEAST_VISITS));
    // Every loader goes through its arrays once, and a few runs determine the full rate.
    let total = sizes.array * kernel.arrays() as u64;
    case.budget.warm_up =
        case.budget.warm_up.max(Nanos::millis(100)).plus(Nanos(total / loaders.min(16) / 4));
    // First touch and check run at a few GB/s per core at least; the ring is made and checked at 25 ns per line.
    let touch = Nanos(total / (2 * loaders.min(16)) + sizes.ring / line * 50);
    case.budget.overhead = Nanos::millis(150).plus(touch);
    case.budget.prepare = sizing::prepare_time(touch);
    Ok(case)
}

/// The first core chases; the others, or those of its NUMA node, load.
fn chaser_and_loaders(all: &[Binding], node_only: bool) -> Result<Vec<Binding>, Reason> {
    let chaser = all[0];
    let mut places = vec![chaser];
    places.extend(all[1..].iter().filter(|binding| !node_only || binding.node == chaser.node));
    if places.len() > 1 {
        return Ok(places);
    }
    let text = if all.len() == 1 {
        "this process may use one core only: one core must chase and another must load".to_owned()
    } else {
        format!(
            "this process may use only one core of NUMA node {}, which chases; use loaders=machine",
            chaser.node
        )
    };
    Err(Reason::new(Cause::Inapplicable, text))
}

fn widest(machine: &Machine) -> Result<Isa, Reason> {
    let has = Isa::ALL.iter().rfind(|isa| machine.cpu.has_isa(isa.feature())).copied();
    has.ok_or_else(|| {
        let why = machine.cpu.isa.why().unwrap_or("none with loops in this program");
        Reason::new(Cause::Inapplicable, format!("the instruction sets of this CPU: {why}"))
    })
}

/// Sizes in bytes.
struct Sizes {
    ring: u64,
    array: u64,
    finding: Option<Finding>,
}

impl Sizes {
    fn of(machine: &Machine, places: &[Binding], kernel: Kernel, line: u64) -> Result<Self, Reason> {
        let cpus: Vec<u32> = places.iter().map(|binding| binding.cpu).collect();
        let (loaders, copies) = (places.len() as u64 - 1, kernel.arrays() as u64);
        let room = room(machine).map(|room| room / SHARE);
        // The order exists while the ring is laid or checked.
        let of_ring = |ring: u64| ring + ring / line * size_of::<u32>() as u64;
        let own = sizing::cache(machine, &cpus[..1]);
        // Half of the allowed memory is for the arrays.
        let ring = sizing::ring(&own, |ring| room.is_none_or(|room| of_ring(ring) <= room / 2));
        let whole = machine.last_level_cache(&cpus[1..]);
        let wanted = match &whole {
            Known::Known(cache) => TIMES_CACHE * cache.bytes,
            Known::Unknown(_) => WITHOUT_CACHE_FACTS,
        };
        let granule = loaders * LEAST_SHARD.max((FLAT_BLOCK * size_of::<f64>()) as u64);
        let wanted = wanted.max(granule);
        let array = match (room, ring) {
            (Some(room), Some(ring)) => wanted.min(room.saturating_sub(of_ring(ring)) / copies),
            _ => wanted,
        };
        let array = array / granule * granule;
        let Some(ring) = ring.filter(|_| array > 0) else {
            let text = format!(
                "a ring of {} and {copies} arrays of {} do not fit into {}, half of the available memory; \
                 free memory",
                Bytes(sizing::LEAST),
                Bytes(granule).rounded(),
                Bytes(room.unwrap_or_default()).rounded()
            );
            return Err(Reason::new(Cause::NoSpace, text));
        };
        let short = |size: u64, cache: &Known<_>| {
            let cache: Option<&seatrial_model::machine::LastLevelCache> = cache.known();
            cache.is_some_and(|cache| size < TIMES_CACHE * cache.bytes)
        };
        let finding = (short(ring, &own) || short(array, &whole)).then(|| cache_resident(ring, array));
        Ok(Self { ring, array, finding })
    }
}

fn cache_resident(ring: u64, array: u64) -> Finding {
    let text = format!(
        "a ring of {} or arrays of {} are less than {TIMES_CACHE} times the last-level cache: part of the \
         load stays in the cache, so the results are not of memory alone; free memory",
        Bytes(ring).rounded(),
        Bytes(array).rounded()
    );
    Finding::new("cache-resident", Severity::Warning, Subject::node(), text)
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let whole = case.params.text("loaders").is_ok_and(|loaders| loaders == "machine");
    let machine = case.nodes.first().and_then(|node| site.machine(node));
    let bandwidth = match machine {
        _ if !whole => Limit::unknown("which memory channels belong to the NUMA node is not known"),
        Some(machine) => memory_limit(machine),
        None => Limit::unknown("the node is not in the inventory"),
    };
    let none = "the system does not report the memory latency under load";
    let limit = |metric: &str| match metric {
        "bandwidth" => bandwidth.clone(),
        _ => Limit::unknown(none),
    };
    about.limits(limit)
}
