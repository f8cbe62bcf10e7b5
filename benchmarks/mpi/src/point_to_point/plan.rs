//! One case a node: its ranks, where they run, the memory of their messages, and what bounds them.

use std::time::Duration;

use seatrial_bench::{core_bindings, each_node, room, worker_case};
use seatrial_inventory::memory_limit;
use seatrial_model::machine::Machine;
use seatrial_model::{
    About, Bound, Bytes, Case, Cause, Finding, Limit, Limits, Nanos, Params, Quantity, Reason, Severity,
    Site, SiteNode, Subject,
};

use super::config::{Op, is_like_osu, sizes, stride, window};

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

/// Time to find and load the library and to start the ranks, and again to check the data and end them; that of each rank.
const PREPARE: Nanos = Nanos::secs(60);
const OF_A_RANK: Nanos = Nanos::millis(50);

/// What the iterations of OSU's benchmarks may take, and what they usually take.
const OSU_MOST: Nanos = Nanos::secs(120);
const OSU_USUAL: Nanos = Nanos::secs(5);

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    each_node(site, |node| Ok(vec![case(about, params, node)?]))
}

/// Time that the part gives its ranks before the supervisor ends the part.
pub fn patience(case: &Case) -> Duration {
    Duration::from_nanos(case.budget.prepare.get() / 6 * 5)
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
    let cores = core_bindings(&node.machine)?;
    let is_pinned = ranks as usize <= cores.len();
    let count = cores.len();
    let used: Vec<u32> = cores.iter().map(|core| core.cpu).take(ranks as usize).collect();
    let bindings = if is_pinned { cores[..ranks as usize].to_vec() } else { Vec::new() };
    let mut case = worker_case(about, params, node, bindings)?;
    let largest = sizes.last().copied().unwrap_or(1);
    let memory =
        memory(op, &node.machine, &used, Window { ranks, fresh, bytes: window as u64 * stride(largest) })?;
    case.planned.set("buffers", if fresh { "fresh" } else { "one" });
    case.planned.set(REGION, Bytes(memory.region));
    case.planned.set(BEYOND_CACHES, if memory.beyond_caches { "yes" } else { "no" });
    case.facts.set("kind", "node");
    if !is_pinned {
        let text = format!(
            "{ranks} ranks on {count} cores: ranks take turns on the cores and are not pinned, so times contain those of the \
             scheduler"
        );
        case.findings.push(Finding::new("oversubscribed", Severity::Warning, Subject::node(), text));
    }
    let budget = &mut case.budget;
    budget.prepare = PREPARE.plus(Nanos(OF_A_RANK.get() * ranks));
    // Contents are written and compared at a gigabyte a second at least.
    let contents = Nanos(memory.region);
    budget.overhead = Nanos::secs(1).plus(Nanos(OF_A_RANK.get() * ranks)).plus(contents);
    if osu {
        budget.measure = OSU_MOST;
        budget.slack = Nanos(OSU_MOST.get() - OSU_USUAL.get());
    }
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
