//! Memory that pairs of ranks copy: how large it is, and what bounds the copies.

use seatrial_bench::room;
use seatrial_inventory::memory_limit;
use seatrial_model::machine::Machine;
use seatrial_model::{Bound, Bytes, Case, Cause, Limit, Nanos, Quantity, Reason, Site, SiteNode};
use seatrial_mpi_job::between_nodes::{self, Senders};
use seatrial_mpi_job::ranks::used_cpus;

/// Least size of all regions together in sizes of the caches in use, as in `mem.bandwidth`.
const TIMES_CACHE: u64 = 4;

/// The same where the caches are not known.
const WITHOUT_CACHE_FACTS: u64 = 1 << 30;

/// Divisor of the available memory for all regions together.
const SHARE: u64 = 2;

/// Under what names `planned` has the region of a rank, and whether all regions together are larger than the caches.
const REGION: &str = "region";
const BEYOND_CACHES: &str = "beyond_caches";

/// What a case needs for fresh places.
pub struct FreshNeed {
    /// Regions of all ranks.
    pub regions: u64,
    /// Bytes of all messages or operations under way, at the largest size.
    pub bytes: u64,
    /// The parameters that lower it.
    pub remedy: &'static str,
}

/// The memory of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyMemory {
    /// Bytes of each region that messages take fresh places of; 0 where they have the same places again and again.
    region: u64,
    beyond_caches: bool,
}

impl CopyMemory {
    /// Regions larger than the caches that so many ranks use on each node of `site`, unless memory is short: as large as the
    /// node with the least memory allows.
    pub fn fresh(site: &Site, ranks: u64, need: FreshNeed) -> Result<Self, Reason> {
        let nodes = site.nodes.len().max(1) as u64;
        let of_node =
            |node: &SiteNode| Self::of_node(&node.machine, &used_cpus(node, ranks / nodes)?, &need, nodes);
        let all = site.nodes.iter().map(of_node).collect::<Result<Vec<Self>, Reason>>()?;
        Ok(all.into_iter().min_by_key(|memory| memory.region).unwrap_or_default())
    }

    fn of_node(machine: &Machine, cpus: &[u32], need: &FreshNeed, nodes: u64) -> Result<Self, Reason> {
        let regions = need.regions.div_ceil(nodes);
        let cache = machine.last_level_cache(cpus).known().map(|cache| cache.bytes);
        let all = cache.map_or(WITHOUT_CACHE_FACTS, |bytes| TIMES_CACHE * bytes);
        let wanted = (all / regions).max(need.bytes).next_multiple_of(64);
        let room = room(machine).map_or(u64::MAX, |room| room / SHARE / regions / 64 * 64);
        if need.bytes > room {
            let text = format!(
                "buffers=fresh: {regions} regions for {} under way each need more than half of the available memory; lower \
                 {}, or set buffers=one",
                Bytes(need.bytes).rounded(),
                need.remedy
            );
            return Err(Reason::new(Cause::NoSpace, text));
        }
        let region = wanted.min(room);
        Ok(Self { region, beyond_caches: cache.is_some() && region * regions >= all })
    }

    /// Writes this into the plan of `case`.
    pub fn set(self, case: &mut Case) {
        case.planned.set("buffers", if self.region > 0 { "fresh" } else { "one" });
        case.planned.set(REGION, Bytes(self.region));
        case.planned.set(BEYOND_CACHES, if self.beyond_caches { "yes" } else { "no" });
        // Contents are written and compared at a gigabyte a second at least.
        case.budget.overhead = case.budget.overhead.plus(Nanos(self.region));
    }
}

/// Bytes of the region that messages take fresh places of; 0 where they have the same places again and again.
pub fn region(case: &Case) -> Result<u64, Reason> {
    Ok(case.planned.bytes(REGION)?.map_or(0, Bytes::get))
}

/// What bounds the payload of all pairs together: the memory of a node, or the ports of several nodes of which `senders` send
/// messages of up to so many bytes.
pub fn bandwidth_limit(case: &Case, site: &Site, senders: Senders, largest: u64) -> Limit {
    if case.nodes.len() > 1 {
        return between_nodes::limit(case, site, senders, largest);
    }
    let machine = case.nodes.first().and_then(|node| site.machine(node));
    match (machine, case.planned.text(BEYOND_CACHES)) {
        (None, _) => Limit::unknown("the node is not in the inventory"),
        (Some(machine), Ok("yes")) => of_copies(memory_limit(machine)),
        _ => Limit::unknown(
            "the data may stay in the caches, whose speed no hardware fact tells; buffers=fresh moves it through memory",
        ),
    }
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
