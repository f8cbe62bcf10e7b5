//! Which GPUs are measured, and from where, decided from the inventory alone.

use seatrial_model::machine::{Gpu, Known, Machine};
use seatrial_model::{
    Bound, Case, Cause, Finding, Kind, ParamSpec, Params, Quantity, Reason, Seat, Severity, Subject,
};

/// Which GPUs.
pub const GPU: ParamSpec = ParamSpec {
    name: "gpu",
    doc: "One GPU by its number in the inventory or its PCI address; auto is all of them.",
    kind: Kind::Text,
    word: Some("auto"),
    default: "auto",
};

/// The name of the vendor whose driver we can speak to.
const VENDOR: &str = "NVIDIA";

/// The GPUs that are asked for, of those that a driver serves that we can speak to.
///
/// # Errors
/// When there is none here, or not the one asked for.
pub fn measured<'a>(params: &Params, machine: &'a Machine) -> Result<Vec<&'a Gpu>, Reason> {
    let all = match &machine.gpus {
        Known::Known(all) => all,
        Known::Unknown(why) => {
            return Err(Reason::new(Cause::Missing, format!("the GPUs of this node are not known: {why}")));
        }
    };
    let ours: Vec<&Gpu> =
        all.iter().filter(|gpu| gpu.vendor.known().is_some_and(|name| name == VENDOR)).collect();
    if ours.is_empty() {
        let text = match all.len() {
            0 => "this node has no GPU".to_owned(),
            count => format!("this node has no GPU of {VENDOR}; {count} of others are not measured yet"),
        };
        return Err(Reason::new(Cause::Inapplicable, text));
    }
    let word = params.text(GPU.name).unwrap_or("auto");
    if word == "auto" {
        return Ok(ours);
    }
    let is_it = |gpu: &&&Gpu| gpu.pci.address == word || gpu.key() == word || gpu.index.to_string() == word;
    ours.iter().find(is_it).map(|gpu| vec![*gpu]).ok_or_else(|| {
        let there: Vec<_> = ours.iter().map(|gpu| format!("{} ({})", gpu.index, gpu.pci.address)).collect();
        Reason::new(Cause::Missing, format!("there is no GPU '{word}' here; there are: {}", there.join(", ")))
    })
}

/// The NUMA node that a GPU is next to: as the firmware tells, or the only one with memory.
pub fn node_of(machine: &Machine, gpu: &Gpu) -> Known<u32> {
    gpu.numa_node().or_else(|| match &super::super::memory_nodes(machine)[..] {
        [only] => Known::Known(*only),
        [] => Known::unknown("the NUMA nodes are not known"),
        many => Known::unknown(format!("it may be any of {} nodes", many.len())),
    })
}

/// The seat to drive a GPU from: a core of its NUMA node that we may use, with the memory of that node; else another,
/// with a finding that says so. Several GPUs of a node get different cores by `turn`.
pub fn near(machine: &Machine, gpu: &Gpu, seats: &[Seat], turn: usize) -> (Seat, Option<Finding>) {
    let subject = || Subject::device("gpu", &gpu.index.to_string());
    let node = node_of(machine, gpu);
    let there: Vec<&Seat> = seats.iter().filter(|seat| node.known() == Some(&seat.node)).collect();
    if !there.is_empty() {
        return (*there[turn % there.len()], None);
    }
    // `seats` is never empty: the plan would have said so.
    let seat = seats[turn % seats.len()];
    let finding = match &node {
        Known::Known(node) => {
            let memory = super::super::memory_nodes(machine).contains(node);
            let text = format!(
                "no core of NUMA node {node}, next to this GPU, may be used (taskset, cpuset): it is driven from node \
                 {}, so copies are not at their best",
                seat.node
            );
            let seat_memory = if memory { Some(*node) } else { seat.memory };
            let seat = Seat { memory: seat_memory, ..seat };
            return (seat, Some(Finding::new("remote-cores", Severity::Warning, subject(), text)));
        }
        Known::Unknown(why) if machine.numa.len() > 1 => {
            let text =
                format!("which NUMA node this GPU is next to is not known: {why}; compare scope=matrix");
            Some(Finding::new("gpu-node-unknown", Severity::Info, subject(), text))
        }
        Known::Unknown(_) => None,
    };
    (seat, finding)
}

/// Notes a GPU in a case, so that its part finds it again.
pub fn chosen(case: &mut Case, gpus: &[&Gpu]) {
    let addresses: Vec<&str> = gpus.iter().map(|gpu| gpu.pci.address.as_str()).collect();
    case.chosen.set("gpus", addresses.join(" ").as_str());
}

/// The PCI addresses that [`chosen`] noted.
///
/// # Errors
/// When the case carries none.
pub fn address_of(case: &Case) -> Result<Vec<String>, crate::Error> {
    Ok(case.chosen.text("gpus")?.split(' ').map(str::to_owned).collect())
}

/// The bound of both directions of a link together.
pub fn both_ways(one: Bound) -> Bound {
    let value = Quantity::new(2.0 * one.value.value(), one.value.unit()).unwrap_or(one.value);
    Bound { value, formula: format!("2 x ({})", one.formula), provenance: one.provenance }
}
