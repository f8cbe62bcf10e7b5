//! Which ports are measured with which, decided from the inventory alone, and the cases that makes.

use seatrial_model::machine::{Machine, Nic};
use seatrial_model::profile::Requirement;
use seatrial_model::{About, Bytes, Case, Cause, Nanos, Params, Reason, Site, SiteNode, Subject, Value};

use super::end::{End, are_distinct, partner, wanted};
use super::memory::BESIDE;
use super::params::{BUFFERS, DEVICE, FENCE_PUT, THREADS, TRANSPORT_ALL, UP_TO};
use super::port_list::{PORTS, joined};
use super::{Layout, config, params, several};
use crate::affinity::{ThreadPlacement, place_threads_over};
use crate::{Ends, room};

/// The same of the interfaces under them, which are noted of what software plays: it has no counters of bytes itself.
pub const INTERFACES: [&str; 2] = ["interface", "peer_interface"];

/// Under what name the plan notes of ports of one node whether they are on cards of their own.
pub const DISTINCT: &str = crate::DISTINCT_CARDS;

/// Memory that messages walk through on a machine that does not tell its caches.
const REGION: u64 = 256 << 20;

/// A region holds this many times the last-level cache, so that no message is still there when its place is used again.
const TIMES_THE_CACHE: u64 = 4;

/// A region is never larger: 1 GiB.
const LARGEST_REGION: u64 = 1 << 30;

/// Bytes a second that the slowest of machines writes before the clock, and looks at after it: an emulated one. Slower
/// is taken for a hang.
const SLOWEST: u64 = 16 << 20;

/// Time to write so many bytes of memory before the clock, and to look at them after it.
pub fn time_to_fill(bytes: u64) -> Nanos {
    Nanos::secs(bytes / SLOWEST)
}

/// The largest packet of InfiniBand and RoCE, which is the largest datagram.
const LARGEST_PACKET: u64 = 4096;

/// One case for each port of the first node, with the port that it is measured against; or where several ports are
/// asked for together, one case over all of them.
///
/// # Errors
/// When a node has no device, or what is asked for cannot be.
pub fn plan_ports(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let [first, second] = both(site)?;
    let together = several::pairs(first, second, params)?;
    contradictions(params)?;
    if let Some(pairs) = together {
        return Ok(vec![case(about, params, site, &pairs)?]);
    }
    let own = wanted(first, params.text(DEVICE.name).unwrap_or("auto"), DEVICE.name)?;
    let pairs =
        own.iter().map(|own| Ok([*own, partner(*own, second, params)?])).collect::<Result<Vec<_>, Reason>>();
    pairs?.into_iter().map(|pair| case(about, params, site, &[pair])).collect()
}

/// The nodes of the two ends.
fn both(site: &Site) -> Result<[&SiteNode; 2], Reason> {
    match site.nodes.as_slice() {
        [] => Err(Reason::new(Cause::Inapplicable, "there is no node to measure on")),
        [one] => Ok([one, one]),
        [one, other, ..] => Ok([one, other]),
    }
}

/// Notes the two ports in a case, and how they lie to each other.
pub fn note(case: &mut Case, own: End<'_>, other: End<'_>) {
    note_all(case, &[[own, other]]);
}

/// Notes the ports in a case, and how the two of each pair lie to each other.
fn note_all(case: &mut Case, pairs: &[[End<'_>; 2]]) {
    let mut put = |name: &str, end: usize, of: &dyn Fn(End<'_>) -> Option<String>| {
        if let Some(all) = pairs.iter().map(|pair| of(pair[end])).collect::<Option<Vec<String>>>() {
            case.planned.set(name, joined(all).as_str());
        }
    };
    for (end, slot) in ["slot", "peer_slot"].into_iter().enumerate() {
        put(PORTS[end], end, &|end| Some(end.label()));
        put(slot, end, &|end| Some(end.hca.card()?.to_owned()));
        put(INTERFACES[end], end, &|end| end.port.netdevs.first().filter(|_| end.hca.is_software).cloned());
    }
    if pairs.iter().all(|[own, other]| own.node.name == other.node.name) {
        let distinct = pairs.iter().all(|[own, other]| are_distinct(own.hca, other.hca) == Ok(true));
        case.planned.set(DISTINCT, Value::Flag(distinct));
    }
}

/// One over all of these pairs.
fn case(about: &About, params: &Params, site: &Site, pairs: &[[End<'_>; 2]]) -> Result<Case, Reason> {
    let mut budget = crate::budget(params)?;
    budget.overhead = Nanos::millis(300);
    // Sizes of a sweep share the time: each must get some of it.
    let sizes = config::sizes(params)?.len() as u64;
    budget.measure = budget.measure.max(Nanos::millis(60 * sizes));
    budget.warm_up = budget.warm_up.max(Nanos::millis(20 * sizes));
    let [own, other] = pairs[0];
    let labels = |end: usize| joined(pairs.iter().map(|pair| pair[end].label()));
    let device = Subject::device("hca", &labels(0));
    let mut case = Case::new(about, &own.node.name, device, params, budget);
    if own.node.name != other.node.name {
        let pair = format!("{}/{}->{}/{}", own.node.name, labels(0), other.node.name, labels(1));
        case.subject = pair.parse().unwrap_or_else(|_| Subject::node());
        case.nodes.push(other.node.name.clone());
    }
    case = case.in_group(about, about.id);
    let keys = pairs.iter().map(|[own, _]| format!("{}/{}", own.hca.key(), own.port.number));
    case.key = Some(joined(keys));
    // Facts are those of one port, by which profiles select it: several together are none that they mean.
    if pairs.len() == 1 {
        case.facts = own.hca.facts(own.port);
    }
    note_all(&mut case, pairs);
    let region = region(params, &[own, other]);
    if region > 0 {
        case.planned.set("region", Bytes(region));
    }
    let largest = config::sizes(params)?.last().copied().unwrap_or(1);
    // More beside each message makes larger slots, but perhaps fewer.
    let queue_pairs = params.count("queue_pairs").unwrap_or(1);
    let [bare, wide] = [0, BESIDE].map(|beside| Layout::new(queue_pairs, largest, beside, region).bytes());
    let memory = bare.max(wide);
    let all = pairs.len() as u64;
    check_room(all * (memory + largest + fresh(params, largest)?), own, other)?;
    case.budget.prepare = case.budget.prepare.plus(time_to_fill(all * memory));
    let threads = params.count(THREADS.name).unwrap_or(1).min(queue_pairs).max(1) as usize;
    let placement = place_threads_of_pairs(site, params, pairs, threads)?;
    placement.apply(&Ends::of(site, params)?, about.parts.names(), &mut case);
    Ok(case)
}

/// Bindings for so many threads of each end, next to the cards.
pub fn place_threads(
    site: &Site,
    params: &Params,
    pair: [End<'_>; 2],
    threads: usize,
) -> Result<ThreadPlacement, Reason> {
    place_threads_of_pairs(site, params, &[pair], threads)
}

/// The same for so many threads of each port, those of the first port first.
fn place_threads_of_pairs(
    site: &Site,
    params: &Params,
    pairs: &[[End<'_>; 2]],
    threads: usize,
) -> Result<ThreadPlacement, Reason> {
    let ends = Ends::of(site, params)?;
    let nics: Vec<[Nic; 2]> = pairs.iter().map(|[own, other]| [own.nic(), other.nic()]).collect();
    let paths: Vec<[Option<&Nic>; 2]> = nics.iter().map(|[own, other]| [Some(own), Some(other)]).collect();
    let path_of: Vec<usize> = (0..pairs.len() * threads).map(|thread| thread / threads).collect();
    place_threads_over(&ends, site, params, &paths, &path_of)
}

/// The first pair of active ports between the nodes of a site, for a benchmark that has one case between two nodes;
/// where an interface is asked for, that under which it is; else one that the test's `on` selects, if there is one.
pub fn first_pair<'a>(params: &'a Params, site: &'a Site) -> Result<[End<'a>; 2], Reason> {
    let [first, second] = both(site)?;
    let asked = params.text(crate::interfaces::INTERFACE.name).ok().filter(|name| *name != "auto");
    let active = wanted(first, "auto", DEVICE.name)?;
    let fits = |end: &&End<'a>| asked.is_none_or(|name| end.port.netdevs.iter().any(|netdev| netdev == name));
    let meant = |end: &&End<'a>| Requirement::selects(&first.on, &end.hca.facts(end.port));
    let own = active.iter().find(|end| fits(end) && meant(end)).or_else(|| active.iter().find(fits));
    let own = *own.ok_or_else(|| {
        let text = format!("no RDMA port of {} is on interface {}", first.name, asked.unwrap_or("auto"));
        Reason::new(Cause::Missing, text)
    })?;
    Ok([own, partner(own, second, params)?])
}

fn contradictions(params: &Params) -> Result<(), Reason> {
    let refuse = |text: String| Err(Reason::new(Cause::Contradiction, text));
    let transport = params.text(TRANSPORT_ALL.name).unwrap_or("rc");
    let last = config::sizes(params)?.last().copied().unwrap_or(1);
    let asked = params.bytes(params::SIZE.name).ok().flatten().map_or(1, Bytes::get);
    let up_to = params.bytes(UP_TO.name).ok().flatten().map_or(asked, Bytes::get);
    if up_to < asked {
        return refuse(format!(
            "up_to={} contradicts size={}: the sweep would go down",
            Bytes(up_to),
            Bytes(asked)
        ));
    }
    if transport == "ud" && last > LARGEST_PACKET {
        let text = format!(
            "transport=ud: a datagram holds {LARGEST_PACKET} B at most, and {} is asked for",
            Bytes(last)
        );
        return refuse(text);
    }
    if params.flag(params::MULTICAST.name).unwrap_or(false) && transport != "ud" {
        return refuse(format!(
            "multicast=true sends datagrams, which transport={transport} does not: transport=ud"
        ));
    }
    if params.flag(FENCE_PUT.name).unwrap_or(false) && transport != "rc" {
        return refuse(format!("fence=true waits for a read, which transport={transport} has not"));
    }
    Ok(())
}

/// Bytes of the pieces of memory that are registered for one message each.
///
/// # Errors
/// When more than one message is to be posted, or told of, at a time.
fn fresh(params: &Params, largest: u64) -> Result<u64, Reason> {
    if params.text(BUFFERS.name) != Ok("fresh") {
        return Ok(0);
    }
    let count = |name: &str| params.count(name).unwrap_or(1);
    if count(params::POST_LIST.name) > 1
        || count(params::MODERATION.name) > 1
        || params.flag(FENCE_PUT.name).unwrap_or(false)
    {
        let text = "buffers=fresh registers memory for one message at a time: leave post_list=, moderation= and fence= out";
        return Err(Reason::new(Cause::Contradiction, text));
    }
    // Whole pages, of which the smallest have 4 KiB.
    Ok(count("queue_pairs") * count(params::DEPTH.name) * largest.next_multiple_of(4096))
}

fn region(params: &Params, ends: &[End<'_>; 2]) -> u64 {
    if params.text(BUFFERS.name) != Ok("different") {
        return 0;
    }
    let caches = ends.iter().filter_map(|end| last_cache(&end.node.machine)).max();
    caches.map_or(REGION, |bytes| bytes.saturating_mul(TIMES_THE_CACHE)).min(LARGEST_REGION)
}

/// Bytes of the largest cache of a machine.
fn last_cache(machine: &Machine) -> Option<u64> {
    let cpus: Vec<u32> = machine.cpu.one_per_core().map(|thread| thread.id).collect();
    machine.last_level_cache(&cpus).known().map(|cache| cache.bytes)
}

/// `needed` is what each end registers.
fn check_room(needed: u64, own: End<'_>, other: End<'_>) -> Result<(), Reason> {
    let alone = own.node.name == other.node.name;
    let needed = if alone { 2 * needed } else { needed };
    [own, other].iter().try_for_each(|end| require_room_on(needed, end.node, "size=, up_to= or queue_pairs="))
}

/// Refuses to register more memory on a node than it has left; `lower` names the parameters that take less.
///
/// # Errors
/// When it has less.
pub fn require_room_on(needed: u64, node: &SiteNode, lower: &str) -> Result<(), Reason> {
    if let Some(left) = room(&node.machine).filter(|left| *left < needed) {
        let text = format!(
            "messages take {} of registered memory, and {} has {} left: lower -p {lower}",
            Bytes(needed).rounded(),
            node.name,
            Bytes(left).rounded()
        );
        return Err(Reason::new(Cause::NoSpace, text));
    }
    Ok(())
}
