//! One case of all nodes: its ranks, where they run, the memory that is exposed, and what bounds the copies.

use seatrial_model::{About, Case, Cause, Limit, Limits, Params, Reason, Site};
use seatrial_mpi_job::between_nodes::Senders;
use seatrial_mpi_job::ranks::{case_of_ranks, count_ranks, is_like_osu, pair_ranks};

use super::config::{OneSidedOp, sizes};
use crate::copies::{CopyMemory, FreshNeed, bandwidth_limit};
use crate::memory::stride;

/// Window of OSU's bandwidth benchmarks.
const OSU_WINDOW: u64 = 64;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    Ok(vec![case(about, params, site)?])
}

fn case(about: &About, params: &Params, site: &Site) -> Result<Case, Reason> {
    let (op, osu) = (OneSidedOp::of(params)?, is_like_osu(params));
    let ranks = count_ranks(params, site, 2, || Ok(pair_ranks(site)))?;
    let (depth, sync) = (params.count("depth")?, params.text("sync")?);
    let contradiction = |text: String| Err(Reason::new(Cause::Contradiction, text));
    if ranks % 2 == 1 {
        return contradiction(format!(
            "ranks={ranks}: one rank of a pair operates on the memory of the other, so their number is even"
        ));
    }
    if osu && ranks > 2 {
        return contradiction(format!(
            "ranks={ranks}: like=osu repeats benchmarks of two ranks; set ranks=2"
        ));
    }
    if osu && !matches!(sync, "flush" | "lock") {
        return contradiction(format!(
            "sync={sync}: like=osu repeats benchmarks in which one rank works; set sync=flush or sync=lock"
        ));
    }
    if osu && !(depth == 1 || depth == OSU_WINDOW && op.copies()) {
        return contradiction(format!(
            "depth={depth}: like=osu repeats benchmarks of latency (depth=1) and of the bandwidth of put and get \
             (depth={OSU_WINDOW})"
        ));
    }
    let sizes = sizes(op, params)?;
    let fresh = match params.text("buffers")? {
        "fresh" if osu => return contradiction("buffers=fresh: like=osu has one buffer".to_owned()),
        "fresh" if !op.copies() => {
            let text = "buffers=fresh: operations on elements count at the same places; set buffers=one";
            return contradiction(text.to_owned());
        }
        "fresh" => true,
        "one" => false,
        _ => !osu && op.copies() && depth > 1,
    };
    let mut case = case_of_ranks(about, params, site, ranks)?;
    if fresh {
        let largest = sizes.last().copied().unwrap_or(1);
        let need =
            FreshNeed { regions: ranks, bytes: depth * stride(largest), remedy: "depth=, size= or ranks=" };
        CopyMemory::fresh(site, ranks, need)?.set(&mut case);
    } else {
        CopyMemory::default().set(&mut case);
    }
    Ok(case)
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    about.limits(|metric| match metric {
        "bandwidth" if OneSidedOp::of(&case.params).is_ok_and(OneSidedOp::copies) => {
            let is_get = OneSidedOp::of(&case.params) == Ok(OneSidedOp::Get);
            let senders = if is_get { Senders::SecondHalf } else { Senders::FirstHalf };
            let largest = OneSidedOp::of(&case.params).and_then(|op| sizes(op, &case.params));
            let largest = largest.ok().and_then(|sizes| sizes.last().copied()).unwrap_or(1);
            bandwidth_limit(case, site, senders, largest)
        }
        "bandwidth" => {
            Limit::unknown("no hardware fact bounds how fast a library adds to the memory of another rank")
        }
        "slowest_bandwidth" => {
            Limit::unknown("memory or port of a node bounds all of its ranks together, not one of them")
        }
        "latency" | "slowest_latency" => Limit::unknown(
            "no hardware fact bounds the latency of an operation between processes; compare with other nodes",
        ),
        _ => Limit::unknown(
            "no hardware fact bounds how many operations an MPI library completes; compare with other nodes",
        ),
    })
}
