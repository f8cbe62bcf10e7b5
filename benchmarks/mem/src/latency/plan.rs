//! Plans what is chased where, from the inventory.

use seatrial_model::machine::Known;
use seatrial_model::{
    About, Binding, Bytes, Case, Cause, Finding, Limit, Limits, Nanos, Params, PartPlacement, Reason,
    Severity, Site, SiteNode, Subject, Value,
};

use super::layout::LatencyLayout;
use crate::sizes::{self, Level};
use crate::sizing::{self, TIMES_CACHE};
use seatrial_bench::{core_bindings, matrix_nodes, remote_memory, room};

/// Divisor of the available memory for all rings together.
const SHARE: u64 = 2;

/// Time of a timed run: long compared with the clock and an interrupt, short compared with drift.
pub const SLICE: Nanos = Nanos::millis(2);

pub const RUNS: u64 = 2;

const LEAST_VISITS: u64 = 3;

/// Estimated time of an uncached hop, of a swept line, and of a line when the order is made.
const HOP_NS: u64 = 100;
const SWEEP_NS: u64 = 10;
const ORDER_NS: u64 = 15;

/// Most hops that settle a point; see [`crate::chase::Chaser::settle`].
const SETTLING: u64 = 1 << 15;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    seatrial_bench::each_node(site, |node| Ok(vec![plan_node(about, params, node)?]))
}

fn plan_node(about: &About, params: &Params, node: &SiteNode) -> Result<Case, Reason> {
    let machine = &node.machine;
    let budget = seatrial_bench::budget(params)?;
    let all = core_bindings(machine)?;
    let matrix = params.text("scope").is_ok_and(|scope| scope == "matrix");
    let places = if matrix { first_of_each_node(&all) } else { vec![all[0]] };
    let cpus: Vec<u32> = places.iter().map(|binding| binding.cpu).collect();
    let cache = sizing::cache(machine, &cpus);

    let mut case = Case::new(about, &node.name, Subject::node(), params, budget);
    let line = sizing::line(machine);
    case.planned.set("line", Bytes(line));
    case.planned.set("cpu", Value::from(join(&cpus).as_str()));
    let memories = if matrix { matrix_nodes(machine)? } else { Vec::new() };
    if matrix {
        case.planned.set("memory_nodes", Value::from(join(&memories).as_str()));
    } else {
        case.findings.extend(remote_memory(&places));
    }
    case.places = vec![PartPlacement::new("worker", 0, &node.name, places.clone())];

    let asked = params.bytes("size").ok().flatten();
    let layout_of = |size: u64| match (asked, matrix) {
        (_, true) => LatencyLayout::matrix(&places, &memories, size),
        (Some(_), false) => LatencyLayout::single(places[0], size),
        (None, false) => LatencyLayout::sizes(places[0], size, line),
    };
    let room = room(machine).map(|room| room / SHARE);
    let fits = |size: u64| room.is_none_or(|room| layout_of(size).bytes(line) <= room);
    let size = match asked {
        Some(size) => given(size.get() / line * line, room, fits)?,
        None => sizing::ring(&cache, fits).ok_or_else(|| too_small(room))?,
    };
    case.planned.set("size", Bytes(size));
    if let (None, Known::Known(cache)) = (asked, &cache) {
        if size < TIMES_CACHE * cache.bytes {
            case.findings.push(cache_resident(Bytes(size), Bytes(cache.bytes)));
        }
        if let Some(text) = &cache.disagreement {
            let text = format!("{text}; the ring size follows the larger");
            case.findings.push(Finding::new("cache-size-disputed", Severity::Info, Subject::node(), text));
        }
    }
    if let (None, false) = (asked, matrix) {
        for Level { level, bytes, at } in sizes::levels(machine, cpus[0], &sizes::sizes(size / 2)) {
            case.planned.set(&format!("l{level}"), Bytes(bytes));
            if let Some(at) = at {
                case.planned.set(&format!("l{level}_at"), Bytes(at));
            }
        }
    }
    case.facts.set("kind", "node");
    case.facts.set("cores", all.len() as u64);
    case.facts.set("numa_nodes", machine.numa.len() as u64);
    time(&mut case, &layout_of(size), line);
    Ok(case)
}

fn time(case: &mut Case, layout: &LatencyLayout, line: u64) {
    let lines = |ring: usize| layout.rings[ring].bytes / line;
    let visits = layout.points.iter().map(|point| {
        let sweep = if point.swept { lines(point.ring) * SWEEP_NS } else { 0 };
        sweep + (2 * lines(point.ring)).min(SETTLING) * HOP_NS + RUNS * SLICE.get()
    });
    let round = Nanos(visits.sum());
    case.budget.measure = case.budget.measure.max(Nanos(round.get() * LEAST_VISITS));
    // The order is made twice, to lay and to check the rings; memory is touched at a few GB/s.
    let longest = layout.rings.iter().map(|ring| ring.bytes).max().unwrap_or(0) / line;
    let pointers: u64 = (0..layout.rings.len()).map(lines).sum();
    let work = 2 * (longest * ORDER_NS + pointers * SWEEP_NS) + layout.bytes(line) / 2;
    case.budget.overhead = Nanos::millis(100).plus(Nanos(work));
    case.budget.prepare = sizing::prepare_time(Nanos(work));
}

fn first_of_each_node(bindings: &[Binding]) -> Vec<Binding> {
    let mut first: Vec<Binding> = Vec::new();
    for binding in bindings {
        if first.iter().all(|known| known.node != binding.node) {
            first.push(*binding);
        }
    }
    first.sort_by_key(|binding| binding.node);
    first
}

fn join(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

fn given(size: u64, room: Option<u64>, fits: impl Fn(u64) -> bool) -> Result<u64, Reason> {
    if fits(size) {
        return Ok(size);
    }
    let text = format!(
        "size={} does not fit: all rings together may use half of the available memory, which is {}",
        Bytes(size),
        Bytes(room.unwrap_or_default()).rounded()
    );
    Err(Reason::new(Cause::NoSpace, text))
}

fn too_small(room: Option<u64>) -> Reason {
    let (least, room) = (Bytes(sizing::LEAST), Bytes(room.unwrap_or_default()).rounded());
    let text = format!("no rings up to {least} fit into {room}, half of the available memory; free memory");
    Reason::new(Cause::NoSpace, text)
}

fn cache_resident(size: Bytes, cache: Bytes) -> Finding {
    let text = format!(
        "a ring of {} is less than {TIMES_CACHE} times the {} of last-level cache: some loads may hit the \
         cache, so the result may be below the memory latency; free memory",
        size.rounded(),
        cache.rounded()
    );
    Finding::new("cache-resident", Severity::Warning, Subject::node(), text)
}

pub fn limits(about: &About) -> Limits {
    let memory = "the memory latency is not known beforehand: memory modules do not report it, and the \
        inventory does not hold the firmware's ACPI HMAT table";
    let cache = "the system does not report the latency of its caches";
    let reason = |metric: &str| if metric.starts_with('l') && metric.len() == 2 { cache } else { memory };
    about.metrics.iter().map(|metric| (metric.name.to_owned(), Limit::unknown(reason(metric.name)))).collect()
}
