//! The case over all nodes, and the limits that follow from their ports.

use seatrial_model::{
    About, Bound, Case, Cause, Limit, Limits, Nanos, Params, Quantity, Reason, Site, SiteNode,
};

use super::{Exchange, SHIFT};
use crate::WARM_UP;
use crate::group::{NodePlan, PARTS, PER_NODE, group_case};

/// Threads of `auto` at most, for each direction.
const MOST_THREADS: usize = 4;

/// Parts of an exchange of all with all: each flow takes a connection, and a number in the record.
const MOST_OF_ALL: u32 = 1024;

/// Flows that start at one moment lose packets to each other before they share the ports.
const AUTO_WARM_UP: Nanos = Nanos::millis(500);

/// Slices of a trial.
const SLICES: u64 = 40;

/// Shortest slice in nanoseconds.
const SLICE_NS: u64 = 10_000_000;

/// The parameter of threads, and under what name `planned` has those of a part in each direction.
pub const THREADS: &str = "threads";

/// How many threads a part has.
#[derive(Clone, Copy, Debug)]
pub struct TeamSize {
    /// Flows that a thread moves before `threads=auto` takes another.
    pub flows_of_thread: usize,
    /// Teams of a part: one that sends, or another that receives, too.
    pub teams: usize,
}

/// The number of flows that each part of a case over `site` sends, and receives.
///
/// # Errors
/// When an exchange of so many parts is too large, or would have nodes send to themselves.
pub fn flows(params: &Params, site: &Site) -> Result<usize, Reason> {
    let parts = site.nodes.len() * params.count(PER_NODE.name)? as usize;
    let parts =
        u32::try_from(parts).map_err(|_| Reason::new(Cause::Contradiction, "these are too many parts"))?;
    if params.count(SHIFT.name).is_err() && parts > MOST_OF_ALL {
        let text = format!(
            "shift=all of {parts} parts has too many connections, {MOST_OF_ALL} parts are the most: set -p shift=1,2,4..."
        );
        return Err(Reason::new(Cause::Contradiction, text));
    }
    // What is no group is refused by the case.
    if site.nodes.len() < 2 { Ok(1) } else { Ok(Exchange::of(params, parts)?.flows()) }
}

/// The case of `about` on all nodes of `site`, whose threads `place` places on each node.
///
/// # Errors
/// When there are fewer than two nodes, the exchange is too large, or `place` fails.
pub fn case(
    about: &About,
    params: &Params,
    site: &Site,
    size: TeamSize,
    place: impl Fn(&SiteNode, &SiteNode, usize, usize) -> Result<NodePlan, Reason>,
) -> Result<Case, Reason> {
    let mut budget = crate::budget(params)?;
    let flows = flows(params, site)?;
    let auto = flows.div_ceil(size.flows_of_thread).clamp(1, MOST_THREADS);
    let threads = params.count(THREADS).map_or(auto, |threads| threads as usize).min(flows);
    if params.nanos(WARM_UP.name).is_err() {
        budget.warm_up = AUTO_WARM_UP;
    }
    let of_part = size.teams * threads;
    let mut case = group_case(about, params, site, budget, of_part, place)?;
    case.budget.overhead = Nanos::millis(250 + flows as u64);
    // The ends of its flows are compared one after the other.
    case.budget.prepare = case.budget.prepare.max(Nanos::secs(30)).plus(Nanos::millis(20 * flows as u64));
    case.planned.set(THREADS, threads as u64);
    Ok(case)
}

/// Nanoseconds of a slice of the samples.
pub fn slice_ns(case: &Case) -> u64 {
    (case.budget.measure.get() / SLICES).max(SLICE_NS)
}

/// The limits of a case whose ports let out `ports`: those of all nodes together, and those of the slowest node.
pub fn limits(about: &About, case: &Case, ports: Result<(Bound, Bound), String>) -> Limits {
    let parts = case.planned.count(PARTS).unwrap_or(0) as u32;
    let flows = Exchange::of(&case.params, parts).map_or(1, Exchange::flows);
    let per_node = case.params.count(PER_NODE.name).unwrap_or(1);
    about.limits(|metric| match (metric, &ports) {
        ("throughput", Ok((all, _))) => Limit::Chain(vec![all.clone()]),
        ("slowest_node" | "slowest_exchange", Ok((_, slowest))) => Limit::Chain(vec![slowest.clone()]),
        ("slowest_flow", Ok((_, slowest))) => Limit::Chain(vec![share(slowest, flows as u64 * per_node)]),
        ("throughput" | "slowest_node" | "slowest_exchange" | "slowest_flow", Err(why)) => {
            Limit::unknown(why.clone())
        }
        ("fairness", _) => Limit::unknown("1 by definition, so no limit of the hardware"),
        _ => crate::no_limit(),
    })
}

/// The slowest of the flows of a port is not faster than their mean.
fn share(port: &Bound, flows: u64) -> Bound {
    let value = Quantity::new(port.value.value() / flows as f64, port.value.unit());
    let value = value.expect("a finite number over a count");
    let formula = format!("{} / {flows} flows", port.formula);
    Bound { value, formula, nominal: None, ..port.clone() }
}
