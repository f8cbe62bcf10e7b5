//! Plans one case with all GPUs of a node, from the inventory.

use seatrial_inventory::gpu_host_limit;
use seatrial_model::machine::Gpu;
use seatrial_model::{
    About, Better, Binding, Bound, Bytes, Case, Cause, Finding, Limit, Limits, Nanos, Params, PartPlacement,
    Quantity, Reason, Site, SiteNode, Subject,
};

use seatrial_bench::{core_bindings, each_node, room};

pub const SLICE: Nanos = Nanos::millis(300);

/// Rounds over the memory, as in gpu-copy.
pub const ROUNDS: u64 = 10;

/// Slowest link for time estimates of a round over the memory, in bytes per nanosecond: PCIe 3.0 x8.
const SLOWEST: u64 = 6;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    each_node(site, |node| plan_node(about, params, node).map(|case| vec![case]))
}

fn plan_node(about: &About, params: &Params, node: &SiteNode) -> Result<Case, Reason> {
    let machine = &node.machine;
    let gpus = crate::measured(&Params::default(), machine)?;
    let block = params.bytes("block").ok().flatten().unwrap_or_default();
    if !block.get().is_multiple_of(8) {
        let text = format!("block={block} is not a multiple of the 8 B words that are checked");
        return Err(Reason::new(Cause::Contradiction, text));
    }
    let wanted = 2 * block.get() * gpus.len() as u64;
    if let Some(room) = room(machine).filter(|room| wanted > room / 2) {
        let text = format!(
            "{} GPUs with two blocks each need {} of host memory, but at most {}, half of the available \
             memory, is used; lower -p block=",
            gpus.len(),
            Bytes(wanted).rounded(),
            Bytes(room / 2).rounded()
        );
        return Err(Reason::new(Cause::NoSpace, text));
    }
    let all = core_bindings(machine)?;
    let placed = gpus.iter().enumerate().map(|(turn, gpu)| crate::near(machine, gpu, &all, turn));
    let (places, findings): (Vec<Binding>, Vec<Vec<Finding>>) = placed.unzip();
    let mut case = Case::new(about, &node.name, Subject::node(), params, seatrial_bench::budget(params)?);
    case.facts = crate::facts_in_common(&gpus);
    case.facts.set("gpus", gpus.len() as u64);
    crate::chosen(&mut case, &gpus);
    case.findings = findings.concat();
    case.places = vec![PartPlacement::new("worker", 0, &node.name, places)];

    let directions = if params.text("direction").is_ok_and(|word| word == "auto") { 3 } else { 1 };
    let mut slice = SLICE;
    if params.text("coverage").is_ok_and(|word| word == "memory") {
        let largest = gpus.iter().filter_map(|gpu| gpu.memory_bytes.known()).max().copied();
        slice = Nanos(largest.unwrap_or(64 << 30) / SLOWEST);
        case.budget.measure = Nanos(slice.get() * directions * ROUNDS);
        // One round, which ends by itself.
        case.budget.warm_up = Nanos(slice.get() * directions);
    } else {
        case.budget.measure = case.budget.measure.max(Nanos(slice.get() * directions * 2));
        case.budget.warm_up = case.budget.warm_up.max(Nanos(slice.get() * directions));
    }
    let touched = Nanos(wanted);
    case.budget.overhead = Nanos::millis(800 * gpus.len() as u64).plus(touched);
    case.budget.prepare = Nanos::secs(60).plus(Nanos(touched.get().saturating_mul(10)));
    Ok(case)
}

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let unknown = |reason: String| Limit::Unknown { reason };
    let machine = case.nodes.first().and_then(|node| site.machine(node));
    let gpus: Vec<&Gpu> =
        machine.and_then(|machine| crate::measured(&Params::default(), machine).ok()).unwrap_or_default();
    let each: Result<Vec<Bound>, String> = gpus
        .iter()
        .map(|gpu| {
            let limit = gpu_host_limit(gpu);
            limit.tightest(Better::Higher).cloned().ok_or_else(|| match limit {
                Limit::Chain(_) => "no bound is known".to_owned(),
                Limit::Unknown { reason } | Limit::AtMost { reason, .. } => {
                    format!("gpu:{}: {reason}", gpu.index)
                }
            })
        })
        .collect();
    let each =
        each.and_then(|each| if each.is_empty() { Err("no GPU is known".to_owned()) } else { Ok(each) });
    let sum = |times: f64, each: &[Bound]| {
        let total: f64 = each.iter().map(|bound| bound.value.base()).sum::<f64>() * times / 1e9;
        let terms: Vec<String> =
            each.iter().map(|bound| format!("{:.2}", bound.value.base() / 1e9)).collect();
        let twice = if times > 1.0 { "2 x " } else { "" };
        let value = Quantity::new(total, seatrial_model::Unit::GigabytesPerSecond);
        value.map_or_else(
            |error| unknown(error.to_string()),
            |value| {
                let formula = format!("{twice}({} GB/s)", terms.join(" + "));
                Limit::Chain(vec![Bound {
                    value,
                    formula,
                    provenance: "links of the GPUs".to_owned(),
                    nominal: None,
                }])
            },
        )
    };
    let limit = |metric: &str| match (&each, metric) {
        (Err(reason), _) => unknown(reason.clone()),
        (Ok(each), "both_sum") => sum(2.0, each),
        (Ok(each), "h2d_sum" | "d2h_sum") => sum(1.0, each),
        // Only the measurement tells which GPU is the slowest, so the widest link bounds it.
        (Ok(each), _) => Bound::tightest(each, Better::Lower)
            .map_or_else(|| unknown("no GPU is known".to_owned()), |bound| Limit::Chain(vec![bound.clone()])),
    };
    about.limits(limit)
}
