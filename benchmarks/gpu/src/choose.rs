//! Which GPUs are measured, and from where, decided from the inventory alone.

use seatrial_model::machine::{Gpu, Known, Machine};
use seatrial_model::{
    Binding, Bound, Case, Cause, Finding, Kind, ParamSpec, Params, Quantity, Reason, Severity, Subject,
};

use seatrial_bench::{memory_for, memory_nodes, own_memory};

pub const GPU: ParamSpec = ParamSpec::new("gpu", Kind::Text, "auto")
    .word("auto")
    .doc("One GPU by its number in the inventory or its PCI address; auto is all of them.");

/// The name of the vendor whose driver we can speak to.
const VENDOR: &str = "NVIDIA";

/// The GPUs that are asked for, of those that a driver serves that we can speak to.
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
    gpu.numa_node().or_else(|| match &memory_nodes(machine)[..] {
        [only] => Known::Known(*only),
        [] => Known::unknown("the NUMA nodes are not known"),
        many => Known::unknown(format!("it may be any of {} nodes", many.len())),
    })
}

/// The binding to drive a GPU from: a core of its NUMA node that we may use, with the memory of that node. What a mask
/// or a cpuset leaves out is replaced by the next best, with a finding each. Several GPUs of a node get different cores
/// by `turn`.
pub fn near(machine: &Machine, gpu: &Gpu, bindings: &[Binding], turn: usize) -> (Binding, Vec<Finding>) {
    let subject = || Subject::device("gpu", &gpu.index.to_string());
    let node = node_of(machine, gpu);
    let there: Vec<&Binding> =
        bindings.iter().filter(|binding| node.known() == Some(&binding.node)).collect();
    // `bindings` is never empty: the plan would have said so.
    let mut binding =
        if there.is_empty() { bindings[turn % bindings.len()] } else { *there[turn % there.len()] };
    let mut wanted = own_memory(machine, binding.node);
    let mut findings = Vec::new();
    match &node {
        Known::Known(node) if there.is_empty() => {
            if memory_nodes(machine).contains(node) {
                wanted = Some(*node);
            }
            let text = format!(
                "no core of NUMA node {node}, next to this GPU, may be used (taskset, cpuset): it is driven from node \
                 {}, so copies are not at their best",
                binding.node
            );
            findings.push(Finding::new("remote-cores", Severity::Warning, subject(), text));
        }
        Known::Unknown(why) if machine.numa.len() > 1 => {
            let text =
                format!("which NUMA node this GPU is next to is not known: {why}; compare scope=matrix");
            findings.push(Finding::new("gpu-node-unknown", Severity::Info, subject(), text));
        }
        _ => {}
    }
    binding.memory = wanted.and_then(|wanted| memory_for(machine, wanted));
    if let (Some(left_out), Some(other)) = (wanted, binding.memory)
        && left_out != other
    {
        let next_to =
            if node.known() == Some(&left_out) { "this GPU" } else { "the core that drives this GPU" };
        let text = format!(
            "no memory of NUMA node {left_out}, next to {next_to}, may be used (cpuset): copies are from and to node \
             {other}, so they are not at their best"
        );
        findings.push(Finding::new("remote-memory", Severity::Warning, subject(), text));
    }
    (binding, findings)
}

/// Notes a GPU in a case, so that its part finds it again.
pub fn chosen(case: &mut Case, gpus: &[&Gpu]) {
    let addresses: Vec<&str> = gpus.iter().map(|gpu| gpu.pci.address.as_str()).collect();
    case.planned.set("gpus", addresses.join(" ").as_str());
}

/// The PCI addresses that [`chosen`] noted.
pub fn address_of(case: &Case) -> Result<Vec<String>, Reason> {
    Ok(case.planned.text("gpus")?.split(' ').map(str::to_owned).collect())
}

/// The bound of both directions of a link together.
pub fn both_ways(one: Bound) -> Bound {
    let value = Quantity::new(2.0 * one.value.value(), one.value.unit()).unwrap_or(one.value);
    Bound { value, formula: format!("2 x ({})", one.formula), provenance: one.provenance }
}

#[cfg(test)]
mod tests {
    use seatrial_model::machine::NumaNode;

    use super::*;
    use crate::rig::{machine, plan};
    use seatrial_bench::core_bindings;

    /// Two GPUs next to node 0, memory on two nodes, of which a cpuset leaves some to us.
    fn confined(memory: &[u32], cores: u32) -> Machine {
        let mut two = machine(2);
        two.numa.push(NumaNode { id: 1, ..two.numa[0].clone() });
        two.cpu.threads.iter_mut().for_each(|thread| thread.node = Some(cores));
        two.confinement.memory_nodes = Known::Known(memory.to_vec());
        if let Known::Known(gpus) = &mut two.gpus {
            // Enough for the defaults of every benchmark.
            gpus.iter_mut().for_each(|gpu| gpu.memory_bytes = Known::Known(64 << 30));
        }
        two
    }

    fn placed(machine: &Machine) -> (Binding, Vec<String>) {
        let gpu = &machine.gpus.known().expect("known")[0];
        let (binding, findings) = near(machine, gpu, &core_bindings(machine).expect("cores"), 0);
        (binding, findings.into_iter().map(|finding| finding.kind).collect())
    }

    #[test]
    fn cores_and_memory_that_are_left_out_are_told_apart() {
        for (memory, cores, taken, kinds) in [
            (&[0, 1][..], 0, 0, &[][..]),
            (&[0, 1], 1, 0, &["remote-cores"]),
            (&[1], 0, 1, &["remote-memory"]),
            (&[1], 1, 1, &["remote-cores", "remote-memory"]),
        ] {
            let (binding, found) = placed(&confined(memory, cores));
            assert_eq!((binding.memory, binding.node), (Some(taken), cores), "{memory:?} {cores}");
            assert_eq!(found, kinds, "{memory:?} {cores}");
        }
    }

    #[test]
    fn memory_next_to_the_core_is_not_called_next_to_a_gpu_whose_place_nobody_knows() {
        let mut lost = confined(&[1], 0);
        if let Known::Known(gpus) = &mut lost.gpus {
            gpus.iter_mut().for_each(|gpu| gpu.pci.numa_node = Known::unknown("the firmware does not tell"));
        }
        let gpu = &lost.gpus.known().expect("known")[0];
        let (binding, findings) = near(&lost, gpu, &core_bindings(&lost).expect("cores"), 0);
        assert_eq!(binding.memory, Some(1));
        let kinds: Vec<&str> = findings.iter().map(|finding| finding.kind.as_str()).collect();
        assert_eq!(kinds, ["gpu-node-unknown", "remote-memory"]);
        assert!(findings[1].text.contains("next to the core that drives this GPU"), "{}", findings[1].text);
    }

    #[test]
    fn no_benchmark_of_gpus_asks_for_memory_that_a_cpuset_leaves_out() {
        let mut seen = 0;
        for bench in crate::BENCHMARKS {
            for cores in [0, 1] {
                let cases = plan(bench, &[], confined(&[1], cores)).expect("a plan");
                for binding in cases.iter().flat_map(|case| &case.places).flat_map(|place| &place.bindings) {
                    assert_eq!(binding.memory, Some(1), "{} from node {cores}", bench.about.id);
                    seen += 1;
                }
            }
        }
        assert!(seen > 0);
    }
}
