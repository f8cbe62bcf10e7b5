//! What is measured where, decided from the inventory alone.

use seatrial_model::machine::Known;
use seatrial_model::{
    About, Case, Cause, Limit, Limits, Nanos, Params, PartPlacement, Reason, Site, SiteNode, Subject,
};

use super::lap::SLICE;

/// Slices of a trial at least: enough for a few in the part with one core.
const LEAST_SLICES: u64 = 16;

/// Time of the warm-up: a rest, and the clock coming up.
const WARM_UP: Nanos = Nanos::millis(250);

/// Instruction sets that have chains.
const ARCHITECTURES: [&str; 2] = ["x86_64", "aarch64"];

pub fn plan(about: &About, params: &Params, node: &SiteNode) -> Result<Vec<Case>, Reason> {
    let machine = &node.machine;
    if let Known::Known(architecture) = &machine.architecture
        && !ARCHITECTURES.contains(&architecture.as_str())
    {
        let text = format!("no chain of known cycles is written for {architecture}");
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

/// None is derived: what the kernel calls the highest frequency is not in the inventory, and the rate of the time stamp
/// counter, which is, bounds nothing (turbo runs faster, throttling slower).
pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let machine = case.nodes.first().and_then(|node| site.machine(node));
    let hypervisor = machine.and_then(|machine| machine.virtualization.known()?.hypervisor.clone());
    let reason = match (machine, hypervisor) {
        (None, _) => "nothing is known of the node".to_owned(),
        (_, Some(hypervisor)) => format!(
            "a virtual machine ({hypervisor}) has no cpufreq, which would tell the highest clock; a [[limit]] in the \
             profile supplies it"
        ),
        (_, None) => {
            "the inventory does not hold the highest clock of the CPU; a [[limit]] in the profile supplies \
                      it from the data sheet"
                .to_owned()
        }
    };
    about.limits(|_| Limit::unknown(reason.clone()))
}
