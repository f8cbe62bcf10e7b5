//! Plans which GPUs' memory is measured, with which arrays, from the inventory.

use seatrial_inventory::gpu_memory_limit;
use seatrial_model::machine::Gpu;
use seatrial_model::{About, Bytes, Case, Cause, Limits, Nanos, Params, Reason, Site, SiteNode};

use super::variant::{GRANULE, variants};
use seatrial_bench::each_node;

/// Default size of an array: 60 times the largest L2 cache.
const ENOUGH: u64 = 4 << 30;

/// Divisor of the device memory for the largest array.
const SHARE: u64 = 32;

pub const SLICE: Nanos = Nanos::millis(10);

const LEAST_SLICES: u64 = 3;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    each_node(site, |node| {
        let gpus = crate::measured(params, &node.machine)?;
        gpus.into_iter().enumerate().map(|(turn, gpu)| plan_gpu(about, params, node, gpu, turn)).collect()
    })
}

fn plan_gpu(about: &About, params: &Params, node: &SiteNode, gpu: &Gpu, turn: usize) -> Result<Case, Reason> {
    let mut case = crate::case_within(about, params, node, gpu, turn)?;
    case.planned.set("array", array(params, gpu)?);
    let kernel = params.text("kernel").map_err(|error| Reason::new(Cause::Protocol, error.to_string()))?;
    let every = params.text("variants").is_ok_and(|word| word == "all");
    let round = Nanos(SLICE.get() * variants(kernel, every).len() as u64);
    case.budget.measure = case.budget.measure.max(Nanos(round.get() * LEAST_SLICES * 3 / 2));
    case.budget.warm_up = case.budget.warm_up.max(Nanos::millis(300)).max(round);
    case.budget.overhead = Nanos::millis(if every { 6000 } else { 700 });
    Ok(case)
}

fn array(params: &Params, gpu: &Gpu) -> Result<Bytes, Reason> {
    let asked = params.bytes("array").ok().flatten();
    let memory = gpu.memory_bytes.known().copied();
    let wanted = match (asked, memory) {
        (Some(bytes), Some(memory)) if bytes.get() > memory / 3 => {
            let text = format!(
                "array={}: three arrays do not fit into the {} of GPU {}",
                bytes.rounded(),
                Bytes(memory).rounded(),
                gpu.index
            );
            return Err(Reason::new(Cause::NoSpace, text));
        }
        (Some(bytes), _) => bytes.get(),
        (None, Some(memory)) => ENOUGH.min(memory / SHARE),
        (None, None) => ENOUGH / 4,
    };
    Ok(Bytes((wanted / GRANULE).max(1) * GRANULE))
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    crate::limits_within(about, case, site, |_| true, gpu_memory_limit)
}
