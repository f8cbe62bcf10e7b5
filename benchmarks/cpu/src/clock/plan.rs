//! Plans what is measured where, from the inventory.

use seatrial_model::machine::Known;
use seatrial_model::{
    About, Case, Cause, Limit, Limits, Nanos, Params, PartPlacement, Reason, Site, SiteNode, Subject,
};

use super::lap::SLICE;

/// Least slices per trial: enough for a few with one core.
const LEAST_SLICES: u64 = 16;

const WARM_UP: Nanos = Nanos::millis(250);

const ARCHITECTURES: [&str; 2] = ["x86_64", "aarch64"];

pub fn plan(about: &About, params: &Params, node: &SiteNode) -> Result<Vec<Case>, Reason> {
    let machine = &node.machine;
    if let Known::Known(architecture) = &machine.architecture
        && !ARCHITECTURES.contains(&architecture.as_str())
    {
        let text = format!(
            "cpu.clock does not support {architecture}: no instruction chain of known cycles exists for it"
        );
        return Err(Reason::new(Cause::Inapplicable, text));
    }
    let mut budget = seatrial_bench::budget(params)?;
    budget.measure = budget.measure.max(Nanos(SLICE.get() * LEAST_SLICES));
    budget.warm_up = WARM_UP;
    budget.overhead = Nanos::millis(100);
    let bindings = seatrial_bench::core_bindings(machine)?;
    let mut case = Case::new(about, &node.name, Subject::node(), params, budget);
    case.planned.set("cpu_alone", u64::from(bindings[0].cpu));
    case.facts.set("kind", "node");
    case.facts.set("cores", bindings.len() as u64);
    case.facts.set("numa_nodes", machine.numa.len() as u64);
    case.places = vec![PartPlacement::new("worker", 0, &node.name, bindings)];
    Ok(vec![case])
}

/// No limit is derived: the highest cpufreq frequency is not in the inventory, and the TSC frequency, which is,
/// bounds nothing (turbo runs faster, throttling slower).
pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let machine = case.nodes.first().and_then(|node| site.machine(node));
    let hypervisor = machine.and_then(|machine| machine.virtualization.known()?.hypervisor.clone());
    let reason = match (machine, hypervisor) {
        (None, _) => "the node is not in the inventory".to_owned(),
        (_, Some(hypervisor)) => {
            format!("a virtual machine ({hypervisor}) has no cpufreq, which reports the highest clock")
        }
        (_, None) => "the inventory does not hold the highest clock of the CPU".to_owned(),
    };
    about.limits(|_| Limit::unknown(reason.clone()))
}
