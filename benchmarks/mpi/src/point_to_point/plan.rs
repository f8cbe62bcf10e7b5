//! One case of all nodes: its ranks, where they run, the memory of their messages, and what bounds them.

use seatrial_model::{About, Case, Cause, Limit, Limits, Params, Reason, Site};
use seatrial_mpi_job::between_nodes::Senders;
use seatrial_mpi_job::ranks::{case_of_ranks, count_ranks, is_like_osu, pair_ranks};

use super::config::{Op, sizes, window};
use crate::copies::{CopyMemory, FreshNeed, bandwidth_limit};
use crate::memory::stride;

/// Window of OSU's benchmarks.
const OSU_WINDOW: usize = 64;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    Ok(vec![case(about, params, site)?])
}

fn case(about: &About, params: &Params, site: &Site) -> Result<Case, Reason> {
    let (op, osu) = (Op::of(params)?, is_like_osu(params));
    let ranks = count_ranks(params, site, 2, || Ok(pair_ranks(site)))?;
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
    let mut case = case_of_ranks(about, params, site, ranks)?;
    let largest = sizes.last().copied().unwrap_or(1);
    if fresh {
        let need = FreshNeed {
            regions: ranks * if op.is_both_ways() { 2 } else { 1 },
            bytes: window as u64 * stride(largest),
            remedy: "window=, size= or ranks=",
        };
        CopyMemory::fresh(site, ranks, need)?.set(&mut case);
    } else {
        CopyMemory::default().set(&mut case);
    }
    Ok(case)
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let senders =
        if Op::of(&case.params) == Ok(Op::BothDirections) { Senders::All } else { Senders::FirstHalf };
    let largest = Op::of(&case.params).and_then(|op| sizes(op, &case.params));
    let largest = largest.ok().and_then(|sizes| sizes.last().copied()).unwrap_or(1);
    let bandwidth = bandwidth_limit(case, site, senders, largest);
    about.limits(|metric| match metric {
        "bandwidth" => bandwidth.clone(),
        "slowest_bandwidth" => {
            Limit::unknown("memory or port of a node bounds all of its ranks together, not one of them")
        }
        "latency" | "slowest_latency" => Limit::unknown(
            "no hardware fact bounds the latency of a message between processes; compare with other nodes",
        ),
        _ => Limit::unknown(
            "no hardware fact bounds how many messages an MPI library moves; compare with other nodes",
        ),
    })
}
