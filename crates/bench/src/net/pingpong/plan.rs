//! Who sends to whom, and how much memory that takes.

use seatrial_model::machine::Machine;
use seatrial_model::{
    About, Bytes, Case, Cause, Limit, Limits, Nanos, ParamError, Params, Reason, Site, Value,
};

use crate::Error;
use crate::common::pingpong::{Mode, sizes};
use crate::common::seating::seating;
use crate::common::{self, Ends, room};

/// Memory of a machine that does not tell its caches through which messages walk that are to come from elsewhere.
const REGION: u64 = 256 << 20;

/// A region holds this many times the last-level cache, so that no message is still there when it is used again.
const TIMES_THE_CACHE: u64 = 4;

/// A region is never larger: 1 GiB.
const LARGEST_REGION: u64 = 1 << 30;

/// One case between the two ends of the site.
pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let ends = Ends::of(site, params)?;
    let mut case = ends.case(about, params, common::budget(params)?);
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
        case.chosen.set("region", Bytes(region));
    }
    let seating = seating(&ends, site, params, 1)?;
    seating.note(&mut case);
    case.places = ends.places(about.parts, seating.seats);
    case.budget.overhead = Nanos::millis(200);
    Ok(vec![case])
}

/// The smallest and the largest message.
pub fn range(params: &Params) -> Result<(Bytes, Bytes), ParamError> {
    let size = |name: &str| params.bytes(name).map(|bytes| bytes.unwrap_or(Bytes(1)));
    Ok((size("from")?, size("to")?))
}

/// Every size of a case.
pub fn sizes_of(case: &Case) -> Result<Vec<u64>, ParamError> {
    let (from, to) = range(&case.params)?;
    let beside = match case.params.get("beside") {
        Some(Value::Count(bytes)) => *bytes,
        _ => 0,
    };
    Ok(sizes(from.get(), to.get(), beside))
}

/// How messages flow in a case.
pub fn mode(case: &Case) -> Result<Mode, Error> {
    let word = case.params.text("mode")?;
    Mode::of(word).ok_or_else(|| Error::new(Cause::Protocol, format!("{} has no mode {word}", case.id)))
}

pub fn limits(about: &About, _: &Case, _: &Site) -> Limits {
    let reason =
        "no part of the way states how long it takes: compare with other pairs, or with the loopback";
    let limit = |metric: &str| (metric.to_owned(), Limit::Unknown { reason: reason.to_owned() });
    about.metrics.iter().map(|metric| limit(metric.name)).collect()
}

fn unreadable(error: ParamError) -> Reason {
    Reason::new(Cause::Protocol, error.to_string())
}

/// Bytes of the largest cache of a machine.
fn last_cache(machine: &Machine) -> Option<u64> {
    let cpus: Vec<u32> = machine.cpu.one_per_core().map(|thread| thread.id).collect();
    machine.last_level_cache(&cpus).known().map(|cache| cache.bytes)
}
