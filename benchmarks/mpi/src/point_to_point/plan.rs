//! One case a node: its ranks, where they run, the memory of their messages, and what bounds them.

use seatrial_bench::{each_node, room};
use seatrial_inventory::memory_limit;
use seatrial_model::machine::Machine;
use seatrial_model::{
    About, Bound, Bytes, Case, Cause, Limit, Limits, Nanos, Params, Quantity, Reason, Site, SiteNode,
};

use super::config::{Op, sizes, stride, window};
use crate::ranks::{case_of_ranks, is_like_osu};

/// Least size of all regions together in sizes of the caches in use, as in `mem.bandwidth`.
const TIMES_CACHE: u64 = 4;

/// The same where the caches are not known.
const WITHOUT_CACHE_FACTS: u64 = 1 << 30;

/// Divisor of the available memory for all regions together.
const SHARE: u64 = 2;

/// Window of OSU's benchmarks.
const OSU_WINDOW: usize = 64;

/// Under what names `planned` has the region of a rank, and whether all regions together are larger than the caches.
const REGION: &str = "region";
const BEYOND_CACHES: &str = "beyond_caches";

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    each_node(site, |node| Ok(vec![case(about, params, node)?]))
}

fn case(about: &About, params: &Params, node: &SiteNode) -> Result<Case, Reason> {
    let (op, ranks, osu) = (Op::of(params)?, params.count("ranks")?, is_like_osu(params));
    let contradiction = |text: String| Err(Reason::new(Cause::Contradiction, text));
    if ranks % 2 == 1 {
        return contradiction(format!(
            "ranks={ranks}: ranks exchange messages in pairs, so their number is even"
        ));
    }
    if osu && ranks > 2 {
        return contradiction(format!(
            "ranks={ranks}: like=osu repeats benchmarks of two ranks; set ranks=2"
        ));
    }
    let (sizes, window) = (sizes(op, params)?, window(op, params)?);
    if osu && op != Op::Latency && window != OSU_WINDOW {
        return contradiction(format!("window={window}: the window of like=osu is {OSU_WINDOW}"));
    }
    let fresh = match params.text("buffers")? {
        "fresh" if osu => return contradiction("buffers=fresh: like=osu has one buffer".to_owned()),
        "fresh" => true,
        "one" => false,
        _ => !osu && matches!(op, Op::Bandwidth | Op::BothDirections),
    };
    let (mut case, used) = case_of_ranks(about, params, node, ranks)?;
    let largest = sizes.last().copied().unwrap_or(1);
    let memory =
        memory(op, &node.machine, &used, Window { ranks, fresh, bytes: window as u64 * stride(largest) })?;
    case.planned.set("buffers", if fresh { "fresh" } else { "one" });
    case.planned.set(REGION, Bytes(memory.region));
    case.planned.set(BEYOND_CACHES, if memory.beyond_caches { "yes" } else { "no" });
    // Contents are written and compared at a gigabyte a second at least.
    case.budget.overhead = case.budget.overhead.plus(Nanos(memory.region));
    Ok(case)
}

/// What the messages of a case need.
struct Window {
    ranks: u64,
    fresh: bool,
    /// All messages of a window, at the largest size.
    bytes: u64,
}

#[derive(Debug, PartialEq, Eq)]
struct Memory {
    /// Bytes of each region; 0 where all messages have one place.
    region: u64,
    beyond_caches: bool,
}

fn memory(op: Op, machine: &Machine, cpus: &[u32], window: Window) -> Result<Memory, Reason> {
    if !window.fresh {
        return Ok(Memory { region: 0, beyond_caches: false });
    }
    let regions = window.ranks * if op.is_both_ways() { 2 } else { 1 };
    let cache = machine.last_level_cache(cpus).known().map(|cache| cache.bytes);
    let all = cache.map_or(WITHOUT_CACHE_FACTS, |bytes| TIMES_CACHE * bytes);
    let wanted = (all / regions).max(window.bytes).next_multiple_of(64);
    let room = room(machine).map_or(u64::MAX, |room| room / SHARE / regions / 64 * 64);
    if window.bytes > room {
        let text = format!(
            "buffers=fresh: {regions} regions for a window of {} each need more than half of the available memory; lower \
             window=, size= or ranks=, or set buffers=one",
            Bytes(window.bytes).rounded()
        );
        return Err(Reason::new(Cause::NoSpace, text));
    }
    let region = wanted.min(room);
    Ok(Memory { region, beyond_caches: cache.is_some() && region * regions >= all })
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let machine = case.nodes.first().and_then(|node| site.machine(node));
    let bandwidth = match (machine, case.planned.text(BEYOND_CACHES)) {
        (None, _) => Limit::unknown("the node is not in the inventory"),
        (Some(machine), Ok("yes")) => of_copies(memory_limit(machine)),
        _ => Limit::unknown(
            "the messages may stay in the caches, whose speed no hardware fact tells; buffers=fresh moves them through memory",
        ),
    };
    about.limits(|metric| match metric {
        "bandwidth" => bandwidth.clone(),
        "slowest_bandwidth" => {
            Limit::unknown("the memory of a node bounds all ranks together, not one of them")
        }
        "latency" | "slowest_latency" => Limit::unknown(
            "no hardware fact bounds the latency of a message between processes; compare with other nodes",
        ),
        _ => Limit::unknown(
            "no hardware fact bounds how many messages an MPI library moves; compare with other nodes",
        ),
    })
}

/// Within a node a message is copied, at best once: each byte is read from memory and written to memory.
pub fn of_copies(memory: Limit) -> Limit {
    let half = |bound: &Bound| {
        let value = Quantity::new(bound.value.value() / 2.0, bound.value.unit());
        let value = value.expect("half of a finite number");
        let formula = format!("({}) / 2, as a copy reads and writes each byte", bound.formula);
        Bound { value, formula, ..bound.clone() }
    };
    match memory {
        Limit::Chain(bounds) => Limit::Chain(bounds.iter().map(half).collect()),
        Limit::AtMost { bound, reason } => Limit::AtMost { bound: half(&bound), reason },
        unknown @ Limit::Unknown { .. } => unknown,
    }
}
