//! The case between two ends, and the memory that it takes.

use seatrial_model::machine::Machine;
use seatrial_model::{
    About, Bound, Bytes, Case, Cause, Limit, Limits, Nanos, ParamError, Params, Reason, Site, Subject, Value,
};

use super::layer::Layer;
use super::verbs::operation;
use crate::rails;
use seatrial_bench::affinity::{place_threads, place_threads_over};
use seatrial_bench::interfaces::PEER_INTERFACE;
use seatrial_bench::pingpong::{Mode, sizes};
use seatrial_bench::verbs::{self, End};
use seatrial_bench::{Ends, link_limits, room};
use seatrial_mpi_job::between_nodes::{self, Senders};
use seatrial_mpi_job::ranks::case_of_ranks;

/// Region for buffers=different on a machine whose cache sizes are unknown.
const REGION: u64 = 256 << 20;

/// Under what name `planned` has the region.
const REGION_NAME: &str = "region";

/// A region holds this many times the last-level cache, so that no message is still cached when its memory is used
/// again.
const TIMES_THE_CACHE: u64 = 4;

const LARGEST_REGION: u64 = 1 << 30;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let ends = Ends::of(site, params)?;
    let mut case = ends.case(about, params, seatrial_bench::budget(params)?);
    contradictions(params)?;
    let (from, to) = range(params).map_err(unreadable)?;
    if from > to {
        let text =
            format!("from={from} contradicts to={to}: the smallest message is larger than the largest");
        return Err(Reason::new(Cause::Contradiction, text));
    }
    let caches = site.nodes.iter().take(2).filter_map(|node| last_cache(&node.machine)).max();
    let region = caches.map_or(REGION, |bytes| bytes.saturating_mul(TIMES_THE_CACHE)).min(LARGEST_REGION);
    let region = if params.text("buffers").is_ok_and(|which| which == "different") { region } else { 0 };
    let memory = 2 * region.max(to.get());
    for node in site.nodes.iter().take(2) {
        let needed = if ends.alone() { 2 * memory } else { memory };
        if let Some(left) = room(&node.machine).filter(|left| *left < needed) {
            let text = format!(
                "messages of up to {to} take {} of memory, and {} has {} left: lower -p to=",
                Bytes(needed).rounded(),
                node.name,
                Bytes(left).rounded()
            );
            return Err(Reason::new(Cause::NoSpace, text));
        }
    }
    if Layer::of(params) == Layer::Mpi {
        by_mpi(&mut case, about, params, site)?;
    } else {
        place(&mut case, &ends, about, params, site)?;
        case.budget.overhead = Nanos::millis(200);
    }
    if region > 0 {
        case.planned.set(REGION_NAME, Bytes(region));
    }
    Ok(vec![case])
}

/// Places the threads of a case over TCP or verbs.
fn place(
    case: &mut Case,
    ends: &Ends<'_>,
    about: &About,
    params: &Params,
    site: &Site,
) -> Result<(), Reason> {
    let rails = rails::asked(params, site)?;
    let placement = if Layer::of(params) == Layer::Verbs {
        let pair = by_verbs(case, params, site)?;
        verbs::place_threads(site, params, pair, 1)?
    } else if rails.is_empty() {
        place_threads(ends, site, params, 1)?
    } else {
        let nics = rails::interfaces(&rails, params, site)?;
        rails::plan(case, &rails);
        place_threads_over(ends, site, params, &nics, &[0])?
    };
    placement.apply(ends, about.parts.names(), case);
    Ok(())
}

/// Changes the case to a job of two ranks. On one node one part starts both.
fn by_mpi(case: &mut Case, about: &About, params: &Params, site: &Site) -> Result<(), Reason> {
    let mut job = case_of_ranks(about, params, site, 2)?;
    for (place, part) in job.places.iter_mut().zip(about.parts.names()) {
        (*part).clone_into(&mut place.part);
    }
    if case.nodes.len() == 1 {
        *case = job;
    } else {
        // The path has the same name as with the other transports.
        let Case { places, mut planned, budget, findings, .. } = job;
        if let Some(peer) = case.planned.get(PEER_INTERFACE.name) {
            planned.set(PEER_INTERFACE.name, peer.clone());
        }
        (case.places, case.planned, case.budget, case.findings) = (places, planned, budget, findings);
    }
    Ok(())
}

/// Parameters that not all transports have, each with its default and the transports that have it. Those of MPI are not among
/// them, so that a run over several transports may name a library.
const OF_SOME: &[(&str, &str, &[Layer])] = &[
    ("socket_buffer", "auto", &[Layer::Tcp]),
    ("mtu", "auto", &[Layer::Tcp]),
    ("rails", "none", &[Layer::Tcp]),
    ("operation", "write", &[Layer::Verbs]),
    (PEER_INTERFACE.name, PEER_INTERFACE.default, &[Layer::Tcp, Layer::Verbs]),
];

fn contradictions(params: &Params) -> Result<(), Reason> {
    let refuse = |text: String| Err(Reason::new(Cause::Contradiction, text));
    let layer = Layer::of(params);
    let is_refused = |(name, default, layers): &&(&str, &str, &[Layer])| {
        !layers.contains(&layer) && params.get(name).is_some_and(|value| value.to_string() != *default)
    };
    if let Some((name, ..)) = OF_SOME.iter().find(is_refused) {
        return refuse(format!("transport={} does not support {name}=; leave it out", layer.word()));
    }
    let buffers = params.text("buffers").unwrap_or("same");
    if buffers == "fresh" && layer != Layer::Verbs {
        return refuse("buffers=fresh registers memory with a card, which takes transport=verbs".to_owned());
    }
    if buffers == "different" && params.text("operation") == Ok("send") {
        let text = "operation=send receives all messages in the same memory; use buffers=same or fresh";
        return refuse(text.to_owned());
    }
    Ok(())
}

/// Changes the case to the RDMA ports that belong to the interface.
fn by_verbs<'a>(case: &mut Case, params: &'a Params, site: &'a Site) -> Result<[End<'a>; 2], Reason> {
    let [own, other] = verbs::first_pair(params, site)?;
    // Removes the planned interfaces of TCP.
    let is_other = |(name, _): &(&str, &Value)| !name.ends_with("interface");
    let others = case.planned.iter().filter(is_other).map(|(name, value)| (name.to_owned(), value.clone()));
    case.planned = others.collect();
    verbs::note(case, own, other);
    if case.nodes.len() == 1 {
        case.subject = Subject::device("hca", &own.label());
    }
    case.facts = own.hca.facts(own.port);
    Ok([own, other])
}

pub fn range(params: &Params) -> Result<(Bytes, Bytes), ParamError> {
    let size = |name: &str| params.bytes(name).map(|bytes| bytes.unwrap_or(Bytes(1)));
    Ok((size("from")?, size("to")?))
}

/// Bytes of the region that messages walk through; 0 where each is in the same place.
pub fn region_of(case: &Case) -> usize {
    case.planned.bytes(REGION_NAME).ok().flatten().map_or(0, |bytes| bytes.get() as usize)
}

pub fn sizes_of(case: &Case) -> Result<Vec<u64>, ParamError> {
    let (from, to) = range(&case.params)?;
    let beside = match case.params.get("beside") {
        Some(Value::Count(bytes)) => *bytes,
        _ => 0,
    };
    Ok(sizes(from.get(), to.get(), beside))
}

pub fn mode(case: &Case) -> Result<Mode, Reason> {
    let word = case.params.text("mode")?;
    Mode::of(word).ok_or_else(|| Reason::new(Cause::Protocol, format!("{} has no mode {word}", case.id)))
}

/// The path bounds the throughput of one connection; latencies have no bound.
pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let mut limits = seatrial_bench::no_limits(about);
    let limit = if Layer::of(&case.params) == Layer::Mpi {
        between_ranks(case, site)
    } else {
        throughput(case, site).map_or_else(|reason| Limit::Unknown { reason }, Limit::Chain)
    };
    limits.insert("throughput".to_owned(), limit);
    limits
}

/// Bounds of the links. A shaper is no bound: its token bucket passes bursts, and a message that waits for the
/// previous one may be no more than a burst.
fn throughput(case: &Case, site: &Site) -> Result<Vec<Bound>, String> {
    let mode = mode(case).map_err(|error| error.to_string())?;
    let directions = if mode == Mode::Both { 2 } else { 1 };
    if Layer::of(&case.params) == Layer::Verbs {
        let largest = range(&case.params).map_err(|error| error.to_string())?.1;
        let bounds = verbs::one_way(operation(&case.params), largest.get(), case, site)?;
        return Ok(link_limits::times(&bounds, directions));
    }
    let mut of_one = case.clone();
    of_one.params.set("flows", 1_u64);
    of_one.planned.set("direction", if mode == Mode::Stream { "forward" } else { "both" });
    Ok(link_limits::times(&rails::limits(&of_one, site, unshaped)?, directions))
}

/// What the ports of the nodes that send let out, whichever of them the library uses.
fn between_ranks(case: &Case, site: &Site) -> Limit {
    if case.nodes.len() == 1 {
        return Limit::unknown(
            "two ranks of one node exchange messages through its memory, not over a network",
        );
    }
    let (Ok(mode), Ok((_, largest))) = (mode(case), range(&case.params)) else {
        return Limit::unknown("the case has no mode or no largest size");
    };
    let senders = if mode == Mode::Both { Senders::All } else { Senders::FirstHalf };
    match between_nodes::limit(case, site, senders, largest.get()) {
        Limit::Chain(bounds) if bounds.iter().any(is_of_shaper) => Limit::unknown(ONLY_SHAPED),
        limit => limit,
    }
}

const ONLY_SHAPED: &str = "only a shaper bounds the path, and a shaper passes bursts faster than its rate";

fn is_of_shaper(bound: &Bound) -> bool {
    bound.provenance.starts_with("qdisc")
}

fn unshaped(case: &Case, site: &Site) -> Result<Vec<Bound>, String> {
    let mut bounds = link_limits::tcp(case, site)?;
    bounds.retain(|bound| !is_of_shaper(bound));
    if bounds.is_empty() { Err(ONLY_SHAPED.to_owned()) } else { Ok(bounds) }
}

fn unreadable(error: ParamError) -> Reason {
    Reason::new(Cause::Protocol, error.to_string())
}

fn last_cache(machine: &Machine) -> Option<u64> {
    let cpus: Vec<u32> = machine.cpu.one_per_core().map(|thread| thread.id).collect();
    machine.last_level_cache(&cpus).known().map(|cache| cache.bytes)
}
