//! The case over all nodes, and what their ports let through.

use seatrial_bench::WARM_UP;
use seatrial_bench::group::{PARTS, PER_NODE, group_case, send_limits};
use seatrial_model::{About, Bound, Case, Cause, Limit, Limits, Nanos, Params, Quantity, Reason, Site};

use super::exchange::Exchange;

/// Flows that a thread moves before `threads=auto` takes another.
const FLOWS_OF_A_THREAD: usize = 8;

/// Threads of `auto` for each direction.
const MOST_THREADS: usize = 4;

/// Parts of an exchange of all with all: each flow takes a connection, and a number in the record.
const MOST_OF_ALL: u32 = 1024;

/// Flows that start at one moment lose packets to each other before they share the ports.
const AUTO_WARM_UP: Nanos = Nanos::millis(500);

/// Under what name `chosen` has the threads of a part in each direction.
pub const THREADS: &str = "threads";

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let parts = site.nodes.len() * params.count(PER_NODE.name)? as usize;
    let parts =
        u32::try_from(parts).map_err(|_| Reason::new(Cause::Contradiction, "these are too many parts"))?;
    if params.count("shift").is_err() && parts > MOST_OF_ALL {
        let text = format!(
            "shift=all of {parts} parts has too many connections, {MOST_OF_ALL} parts are the most: set -p shift=1,2,4..."
        );
        return Err(Reason::new(Cause::Contradiction, text));
    }
    // What is no group is refused by the case.
    let flows = if site.nodes.len() < 2 { 1 } else { Exchange::of(params, parts)?.flows() };
    let auto = flows.div_ceil(FLOWS_OF_A_THREAD).clamp(1, MOST_THREADS);
    let threads = params.count(THREADS).map_or(auto, |threads| threads as usize).min(flows);
    let mut budget = seatrial_bench::budget(params)?;
    if params.nanos(WARM_UP.name).is_err() {
        budget.warm_up = AUTO_WARM_UP;
    }
    let mut case = group_case(about, params, site, budget, 2 * threads)?;
    case.budget.overhead = Nanos::millis(250 + flows as u64);
    // The ends of its flows are compared one after the other.
    case.budget.prepare = case.budget.prepare.max(Nanos::secs(30)).plus(Nanos::millis(20 * flows as u64));
    case.planned.set(THREADS, threads as u64);
    Ok(vec![case])
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let parts = case.planned.count(PARTS).unwrap_or(0) as u32;
    let flows = Exchange::of(&case.params, parts).map_or(1, Exchange::flows);
    let per_node = case.params.count(PER_NODE.name).unwrap_or(1);
    let ports = send_limits(case, site);
    about.limits(|metric| match (metric, &ports) {
        ("throughput", Ok((all, _))) => Limit::Chain(vec![all.clone()]),
        ("slowest_node" | "slowest_exchange", Ok((_, slowest))) => Limit::Chain(vec![slowest.clone()]),
        ("slowest_flow", Ok((_, slowest))) => Limit::Chain(vec![share(slowest, flows as u64 * per_node)]),
        ("throughput" | "slowest_node" | "slowest_exchange" | "slowest_flow", Err(why)) => {
            Limit::unknown(why.clone())
        }
        ("fairness", _) => Limit::unknown("1 by definition, so no limit of the hardware"),
        _ => seatrial_bench::no_limit(),
    })
}

/// The slowest of the flows of a port is not faster than their mean.
fn share(port: &Bound, flows: u64) -> Bound {
    let value = Quantity::new(port.value.value() / flows as f64, port.value.unit());
    let value = value.expect("a finite number over a count");
    let formula = format!("{} / {flows} flows", port.formula);
    Bound { value, formula, nominal: None, ..port.clone() }
}
