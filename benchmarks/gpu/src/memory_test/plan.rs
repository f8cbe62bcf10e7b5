//! Plans one case for each GPU.

use seatrial_inventory::gpu_memory_limit;
use seatrial_model::machine::Gpu;
use seatrial_model::{About, Case, Limits, Nanos, Params, Reason, Site, SiteNode};

use super::part::PATTERNS;
use seatrial_bench::each_node;

/// Time of a pattern over the memory of the largest GPUs: 4 x 288 GB at 3 TB/s.
const PASS: Nanos = Nanos::millis(400);

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    each_node(site, |node| {
        let gpus = crate::measured(params, &node.machine)?;
        gpus.into_iter().enumerate().map(|(turn, gpu)| plan_gpu(about, params, node, gpu, turn)).collect()
    })
}

fn plan_gpu(about: &About, params: &Params, node: &SiteNode, gpu: &Gpu, turn: usize) -> Result<Case, Reason> {
    let mut case = crate::case_within(about, params, node, gpu, turn)?;
    let all = params.text("pattern").is_ok_and(|word| word == "auto");
    let round = Nanos(PASS.get() * if all { PATTERNS.len() as u64 } else { 1 });
    case.budget.measure = case.budget.measure.max(round);
    case.budget.warm_up = round;
    case.budget.overhead = Nanos::millis(1500);
    Ok(case)
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    crate::limits_within(about, case, site, |metric| metric == "rate", gpu_memory_limit)
}
