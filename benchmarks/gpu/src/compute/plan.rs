//! Plans one case for each GPU, and its limit from the inventory.

use seatrial_inventory::{gpu_matrix_limit, gpu_matrix_operations};
use seatrial_model::machine::{Gpu, Known};
use seatrial_model::{About, Case, Limits, Nanos, Params, Reason, Site, SiteNode};

use seatrial_bench::each_node;

/// Long enough that the looks at the results between slices take a hundredth of the time.
pub const SLICE: Nanos = Nanos::millis(100);

/// Under what name the plan keeps the operations that all multiprocessors do in a clock.
pub const PER_CLOCK: &str = "operations_per_clock";

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    crate::product::check(params)?;
    each_node(site, |node| {
        let gpus = crate::measured(params, &node.machine)?;
        gpus.into_iter().enumerate().map(|(turn, gpu)| plan_gpu(about, params, node, gpu, turn)).collect()
    })
}

fn plan_gpu(about: &About, params: &Params, node: &SiteNode, gpu: &Gpu, turn: usize) -> Result<Case, Reason> {
    let mut case = crate::case_within(about, params, node, gpu, turn)?;
    // At its power limit a GPU lowers and raises its clock with a period of about a second.
    case.budget.measure = case.budget.measure.max(Nanos::secs(1));
    case.budget.warm_up = case.budget.warm_up.max(Nanos::secs(1));
    case.budget.overhead = Nanos::millis(1500);
    let kind = params.text(crate::product::TYPE.name)?;
    if let Known::Known((processors, operations)) = gpu_matrix_operations(gpu, kind) {
        case.planned.set(PER_CLOCK, u64::from(processors) * u64::from(operations));
    }
    Ok(case)
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let kind = case.params.text(crate::product::TYPE.name).unwrap_or_default();
    crate::limits_within(about, case, site, |metric| metric == "rate", |gpu| gpu_matrix_limit(gpu, kind))
}
