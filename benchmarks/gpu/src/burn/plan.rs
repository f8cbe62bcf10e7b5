//! Plans one case with all GPUs of a node.

use seatrial_inventory::gpu_matrix_limit;
use seatrial_model::machine::Gpu;
use seatrial_model::{
    About, Better, Binding, Bound, Case, Limit, Limits, Nanos, Params, PartPlacement, Reason, Site, SiteNode,
    Subject,
};

use seatrial_bench::{core_bindings, each_node};

/// Time of the products between two comparisons, as far as the targets last.
pub const SLICE: Nanos = Nanos::secs(2);

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    each_node(site, |node| plan_node(about, params, node).map(|case| vec![case]))
}

fn plan_node(about: &About, params: &Params, node: &SiteNode) -> Result<Case, Reason> {
    let gpus = crate::measured(params, &node.machine)?;
    let subject = match &gpus[..] {
        [only] => Subject::device("gpu", &only.index.to_string()),
        _ => Subject::node(),
    };
    let mut case = Case::new(about, &node.name, subject, params, seatrial_bench::budget(params)?);
    case.facts = crate::facts_in_common(&gpus);
    case.facts.set("gpus", gpus.len() as u64);
    crate::chosen(&mut case, &gpus);
    let indices: Vec<String> = gpus.iter().map(|gpu| gpu.index.to_string()).collect();
    case.planned.set("indices", indices.join(" ").as_str());
    // The CPU hardly matters for work within devices, so findings on it would only distract.
    let all = core_bindings(&node.machine)?;
    let near = gpus.iter().enumerate().map(|(turn, gpu)| crate::near(&node.machine, gpu, &all, turn).0);
    case.places = vec![PartPlacement::new("worker", 0, &node.name, near.collect::<Vec<Binding>>())];
    // Three slices tell that rates are steady.
    case.budget.warm_up = case.budget.warm_up.max(Nanos(3 * SLICE.get()));
    case.budget.overhead = Nanos::secs(2 + 2 * gpus.len() as u64);
    // Proofs, and 1 GiB of sums of every GPU over its link.
    case.budget.prepare = Nanos::secs(90 + 15 * gpus.len() as u64);
    Ok(case)
}

/// The GPUs of a case.
fn gpus_of<'a>(case: &Case, site: &'a Site) -> Vec<&'a Gpu> {
    let machine = case.nodes.first().and_then(|node| site.machine(node));
    machine.and_then(|machine| crate::measured(&case.params, machine).ok()).unwrap_or_default()
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let kind = case.params.text("type").unwrap_or_default();
    let all: Vec<Limit> = gpus_of(case, site).into_iter().map(|gpu| gpu_matrix_limit(gpu, kind)).collect();
    let known: Vec<Bound> = all.iter().filter_map(|limit| limit.tightest(Better::Higher).cloned()).collect();
    // The slowest GPU is no faster than the lowest limit.
    let lowest = || match Bound::tightest(&known, Better::Higher) {
        Some(bound) if known.len() == all.len() => Limit::Chain(vec![bound.clone()]),
        _ => all
            .iter()
            .find(|limit| limit.tightest(Better::Higher).is_none())
            .cloned()
            .unwrap_or_else(|| Limit::unknown("the GPUs are not in the inventory")),
    };
    about.limits(|metric| match metric {
        "rate" | "worst" => lowest(),
        _ => Limit::unknown(crate::NO_LIMIT),
    })
}
