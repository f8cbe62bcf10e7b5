//! Plans what is measured where, from the inventory.

use std::collections::BTreeSet;

use seatrial_model::machine::{Known, LastLevelCache, Machine};
use seatrial_model::{
    About, Binding, Bytes, Case, Cause, Finding, Nanos, Params, PartPlacement, Reason, Severity, Site,
    SiteNode, Subject,
};

use super::layout::PipelineLayout;
use super::ring::{BlockRings, TIMES_CACHE};
use super::settings::{Blocks, Mode, Settings, Threads};
use super::window::LEAD;

/// Divisor of the available memory for all blocks together.
const SHARE: u64 = 2;

/// Bytes between two uses of a block when no cache size is known.
const WITHOUT_CACHE_FACTS: Bytes = Bytes::gib(1);

/// Rounds before the clock starts, to warm up caches, page tables and clock frequency.
const WARM_UP_ROUNDS: u64 = 6;

/// Least measuring time of a search: about eight tries of a few rounds.
const SHORTEST_SEARCH: Nanos = Nanos::secs(2);

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let settings = Settings::of(params)?;
    seatrial_bench::each_node(site, |node| plan_node(about, params, &settings, node).map(|case| vec![case]))
}

fn plan_node(about: &About, params: &Params, settings: &Settings, node: &SiteNode) -> Result<Case, Reason> {
    let machine = &node.machine;
    let scenario = &settings.scenario;
    let mut budget = seatrial_bench::budget(params)?;
    let rounds = rounds(settings, budget.measure)?;
    let bindings = core_bindings(machine, settings.threads)?;
    let layout = PipelineLayout::new(scenario.stations, scenario.steps.len(), &bindings, settings.threads);
    let cpus: Vec<u32> = bindings.iter().map(|binding| binding.cpu).collect();
    let cache = machine.last_level_cache(&cpus);
    let rings = rings(settings, &cache, room(machine, &layout, &bindings))?;

    let round = scenario.round().get();
    budget.warm_up = Nanos(WARM_UP_ROUNDS * round).plus(LEAD);
    budget.measure = Nanos(rounds * round).plus(LEAD);
    // First touch and check run at 1 GB/s per core at least.
    let workers = layout.threads().min(bindings.len()).clamp(1, 16) as u64;
    let touch = Nanos(rings.memory.get() / workers);
    budget.overhead = Nanos::millis(100).plus(touch);
    budget.prepare = crate::sizing::prepare_time(touch);

    let mut case = Case::new(about, &node.name, Subject::node(), params, budget);
    let ring: Vec<String> = rings.blocks.iter().map(u64::to_string).collect();
    case.planned.set("ring", ring.join(" ").as_str());
    case.planned.set("memory", rings.memory);
    case.planned.set("rounds", rounds);
    case.planned.set("workers", layout.threads() as u64);
    if let Known::Known(cache) = &cache {
        case.planned.set("l3", Bytes(cache.bytes));
        case.findings.extend(about_cache(cache, &rings, settings.blocks));
    }
    case.findings.extend(seatrial_bench::remote_memory(&bindings));
    case.facts.set("kind", "node");
    case.facts.set("cores", machine.cpu.one_per_core().count() as u64);
    case.facts.set("numa_nodes", machine.numa.len() as u64);
    case.places = vec![PartPlacement::new("worker", 0, &node.name, bindings)];
    Ok(case)
}

fn rounds(settings: &Settings, time: Nanos) -> Result<u64, Reason> {
    let round = settings.scenario.round();
    let (least, what) = match settings.mode {
        Mode::Paced => (round, format!("one round of the scenario, {round}")),
        Mode::Max => (SHORTEST_SEARCH, format!("{SHORTEST_SEARCH}, which the tries of mode=max take")),
    };
    if time < least {
        return Err(Reason::new(Cause::Contradiction, format!("time={time} is shorter than {what}")));
    }
    Ok(time.get() / round.get())
}

/// One binding per core; with threads=step every allowed CPU, because the kernel schedules the threads.
fn core_bindings(machine: &Machine, threads: Threads) -> Result<Vec<Binding>, Reason> {
    let per_core = seatrial_bench::core_bindings(machine)?;
    if threads == Threads::Core {
        return Ok(per_core);
    }
    let binding = |id: u32, node: u32, l3: Option<u32>| {
        let alike = per_core.iter().find(|binding| binding.node == node);
        Binding {
            cpu: id,
            node,
            domain: l3.unwrap_or(1 << 16 | node),
            memory: alike.and_then(|binding| binding.memory),
        }
    };
    Ok(machine.cpu.usable().map(|thread| binding(thread.id, thread.node.unwrap_or(0), thread.l3)).collect())
}

/// Bytes that the blocks of all stations may use: a share of the available memory, in total and on each node for its
/// stations.
fn room(machine: &Machine, layout: &PipelineLayout, bindings: &[Binding]) -> Option<Bytes> {
    let whole = machine.memory.effective_available_bytes.known().map(|bytes| bytes / SHARE);
    let memory_of = |node: u32| bindings.iter().find(|binding| binding.node == node)?.memory;
    let memories: BTreeSet<u32> = layout.nodes().into_iter().filter_map(memory_of).collect();
    let nodes = memories.into_iter().filter_map(|memory| {
        let available = machine.node(memory)?.available_bytes.known()?;
        let here = layout.streams.iter().filter(|stream| memory_of(stream.node) == Some(memory)).count();
        let part = here as f64 / layout.streams.len() as f64;
        Some((*available as f64 / SHARE as f64 / part) as u64)
    });
    whole.into_iter().chain(nodes).min().map(Bytes)
}

fn rings(
    settings: &Settings,
    cache: &Known<LastLevelCache>,
    room: Option<Bytes>,
) -> Result<BlockRings, Reason> {
    let scenario = &settings.scenario;
    let single = BlockRings::single(scenario);
    let rings = match (settings.blocks, cache) {
        (Blocks::One, _) => Some(single.clone()).filter(|rings| room.is_none_or(|room| rings.memory <= room)),
        (Blocks::Rotate, Known::Known(cache)) => {
            BlockRings::past(scenario, Bytes(TIMES_CACHE * cache.bytes), room)
        }
        (Blocks::Rotate, Known::Unknown(_)) => BlockRings::past(scenario, WITHOUT_CACHE_FACTS, room),
    };
    rings.ok_or_else(|| {
        let (memory, room) = (single.memory.rounded(), room.unwrap_or_default().rounded());
        let text = format!(
            "one block of every step takes {memory} for {} stations, more than {room}, half of the available \
             memory (also per NUMA node for its stations); free memory",
            scenario.stations
        );
        Reason::new(Cause::NoSpace, text)
    })
}

fn about_cache(cache: &LastLevelCache, rings: &BlockRings, blocks: Blocks) -> Vec<Finding> {
    let mut findings = Vec::new();
    if rings.reuse.get() < TIMES_CACHE * cache.bytes {
        let (severity, remedy) = match blocks {
            Blocks::Rotate => (Severity::Warning, "free memory to use more blocks"),
            Blocks::One => (Severity::Info, "COBALT2's program does the same; -p blocks=rotate avoids it"),
        };
        let text = format!(
            "a block is reused after {} of other blocks, less than {TIMES_CACHE} times the {} of last-level \
             cache in use: part of the traffic stays in the cache, so the result is not of memory alone; \
             {remedy}",
            rings.reuse.rounded(),
            Bytes(cache.bytes).rounded()
        );
        findings.push(Finding::new("cache-resident", severity, Subject::node(), text));
    }
    if let Some(text) = &cache.disagreement {
        let text = format!("{text}; the number of blocks follows the larger");
        findings.push(Finding::new("cache-size-disputed", Severity::Info, Subject::node(), text));
    }
    findings
}
