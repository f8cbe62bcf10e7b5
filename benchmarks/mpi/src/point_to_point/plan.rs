//! One case a node: its ranks, where they run, the memory of their messages, and what bounds them.

use seatrial_bench::each_node;
use seatrial_model::{About, Case, Cause, Limit, Limits, Params, Reason, Site, SiteNode};

use super::config::{Op, sizes, window};
use crate::copies::{CopyMemory, FreshNeed, bandwidth_limit};
use crate::memory::stride;
use crate::ranks::{case_of_ranks, is_like_osu};

/// Window of OSU's benchmarks.
const OSU_WINDOW: usize = 64;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    each_node(site, |node| Ok(vec![case(about, params, node)?]))
}

fn case(about: &About, params: &Params, node: &SiteNode) -> Result<Case, Reason> {
    let (op, ranks, osu) = (Op::of(params)?, params.count("ranks")?, is_like_osu(params));
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
    let (mut case, used) = case_of_ranks(about, params, node, ranks)?;
    let largest = sizes.last().copied().unwrap_or(1);
    if fresh {
        let need = FreshNeed {
            regions: ranks * if op.is_both_ways() { 2 } else { 1 },
            bytes: window as u64 * stride(largest),
            remedy: "window=, size= or ranks=",
        };
        CopyMemory::fresh(&node.machine, &used, need)?.set(&mut case);
    } else {
        CopyMemory::default().set(&mut case);
    }
    Ok(case)
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let bandwidth = bandwidth_limit(case, site);
    about.limits(|metric| match metric {
        "bandwidth" => bandwidth.clone(),
        "slowest_bandwidth" => {
            Limit::unknown("the memory of a node bounds all ranks together, not one of them")
        }
        "latency" | "slowest_latency" => Limit::unknown(
            "no hardware fact bounds the latency of a message between processes; compare with other nodes",
        ),
        _ => Limit::unknown(
            "no hardware fact bounds how many messages an MPI library moves; compare with other nodes",
        ),
    })
}
