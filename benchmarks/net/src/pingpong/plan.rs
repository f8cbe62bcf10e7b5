//! The case between two ends, and the memory that it takes.

use seatrial_model::machine::Machine;
use seatrial_model::{
    About, Bound, Bytes, Case, Cause, Limit, Limits, Nanos, ParamError, Params, Reason, Site, Subject, Value,
};

use super::verbs::operation;
use crate::rails;
use seatrial_bench::affinity::{place_threads, place_threads_over};
use seatrial_bench::pingpong::{Mode, sizes};
use seatrial_bench::verbs::{self, End};
use seatrial_bench::{Ends, link_limits, room};

/// Region for buffers=different on a machine whose cache sizes are unknown.
const REGION: u64 = 256 << 20;

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
    if region > 0 {
        case.planned.set("region", Bytes(region));
    }
    let rails = rails::asked(params, site)?;
    let placement = if is_by_verbs(params) {
        let pair = by_verbs(&mut case, params, site)?;
        verbs::place_threads(site, params, pair, 1)?
    } else if rails.is_empty() {
        place_threads(&ends, site, params, 1)?
    } else {
        let nics = rails::interfaces(&rails, params, site)?;
        rails::plan(&mut case, &rails);
        place_threads_over(&ends, site, params, &nics, &[0])?
    };
    placement.apply(&ends, about.parts.names(), &mut case);
    case.budget.overhead = Nanos::millis(200);
    Ok(vec![case])
}

/// Parameters that one of the transports has only, each with its default.
const OF_TCP: &[(&str, &str)] = &[("socket_buffer", "auto"), ("mtu", "auto"), ("rails", "none")];
const OF_VERBS: &[(&str, &str)] = &[("operation", "write")];

fn contradictions(params: &Params) -> Result<(), Reason> {
    let refuse = |text: String| Err(Reason::new(Cause::Contradiction, text));
    let is_given =
        |(name, default): &&(&str, &str)| params.get(name).is_some_and(|value| value.to_string() != *default);
    let (others, transport) = if is_by_verbs(params) { (OF_TCP, "verbs") } else { (OF_VERBS, "tcp") };
    if let Some((name, _)) = others.iter().find(is_given) {
        return refuse(format!("transport={transport} does not support {name}=; leave it out"));
    }
    let buffers = params.text("buffers").unwrap_or("same");
    if buffers == "fresh" && !is_by_verbs(params) {
        return refuse("buffers=fresh registers memory with a card, which takes transport=verbs".to_owned());
    }
    if buffers == "different" && params.text("operation") == Ok("send") {
        let text = "operation=send receives all messages in the same memory; use buffers=same or fresh";
        return refuse(text.to_owned());
    }
    Ok(())
}

pub fn is_by_verbs(params: &Params) -> bool {
    params.text("transport") == Ok("verbs")
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
    let limit = throughput(case, site).map_or_else(|reason| Limit::Unknown { reason }, Limit::Chain);
    limits.insert("throughput".to_owned(), limit);
    limits
}

/// Bounds of the links. A shaper is no bound: its token bucket passes bursts, and a message that waits for the
/// previous one may be no more than a burst.
fn throughput(case: &Case, site: &Site) -> Result<Vec<Bound>, String> {
    let mode = mode(case).map_err(|error| error.to_string())?;
    let directions = if mode == Mode::Both { 2 } else { 1 };
    if is_by_verbs(&case.params) {
        let largest = range(&case.params).map_err(|error| error.to_string())?.1;
        let bounds = verbs::one_way(operation(&case.params), largest.get(), case, site)?;
        return Ok(link_limits::times(&bounds, directions));
    }
    let mut of_one = case.clone();
    of_one.params.set("flows", 1_u64);
    of_one.planned.set("direction", if mode == Mode::Stream { "forward" } else { "both" });
    Ok(link_limits::times(&rails::limits(&of_one, site, unshaped)?, directions))
}

fn unshaped(case: &Case, site: &Site) -> Result<Vec<Bound>, String> {
    let mut bounds = link_limits::tcp(case, site)?;
    bounds.retain(|bound| !bound.provenance.starts_with("qdisc"));
    match bounds.is_empty() {
        true => {
            Err("only a shaper bounds the path, and a shaper passes bursts faster than its rate".to_owned())
        }
        false => Ok(bounds),
    }
}

fn unreadable(error: ParamError) -> Reason {
    Reason::new(Cause::Protocol, error.to_string())
}

fn last_cache(machine: &Machine) -> Option<u64> {
    let cpus: Vec<u32> = machine.cpu.one_per_core().map(|thread| thread.id).collect();
    machine.last_level_cache(&cpus).known().map(|cache| cache.bytes)
}
