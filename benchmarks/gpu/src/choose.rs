//! Selects GPUs and the CPUs that drive them, from the inventory.

use seatrial_model::machine::{Gpu, Known, Machine};
use seatrial_model::{
    About, Binding, Bound, Case, Cause, Finding, Kind, Limit, Limits, Nanos, ParamSpec, Params,
    PartPlacement, Quantity, Reason, Severity, Site, SiteNode, Subject,
};

use seatrial_bench::{core_bindings, memory_for, memory_nodes, own_memory};

pub const GPU: ParamSpec = ParamSpec::new("gpu", Kind::Text, "auto")
    .word("auto")
    .doc("One GPU, by its index in the inventory or its PCI address; auto: every GPU.");

const VENDOR: &str = "NVIDIA";

/// The GPUs that the parameter `gpu` names, among those with a supported driver.
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
            count => {
                format!("this node has no {VENDOR} GPU; its {count} GPUs of other vendors are not supported")
            }
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
        Reason::new(Cause::Missing, format!("this node has no GPU '{word}'; its GPUs: {}", there.join(", ")))
    })
}

/// The NUMA node of a GPU: from the firmware, or the only node with memory.
fn node_of(machine: &Machine, gpu: &Gpu) -> Known<u32> {
    gpu.numa_node().or_else(|| match &memory_nodes(machine)[..] {
        [only] => Known::Known(*only),
        [] => Known::unknown("the NUMA nodes are not known"),
        many => {
            Known::unknown(format!("the firmware does not report it, and {} nodes have memory", many.len()))
        }
    })
}

/// Binding that drives a GPU: an allowed core of its NUMA node, with that node's memory. If an affinity mask or
/// cpuset excludes them, the next best is taken, with a finding. `turn` gives several GPUs of a node different cores.
pub fn near(machine: &Machine, gpu: &Gpu, bindings: &[Binding], turn: usize) -> (Binding, Vec<Finding>) {
    let subject = || Subject::device("gpu", &gpu.index.to_string());
    let node = node_of(machine, gpu);
    let there: Vec<&Binding> =
        bindings.iter().filter(|binding| node.known() == Some(&binding.node)).collect();
    // `bindings` is never empty: the plan fails before.
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
                "this process may use no core of NUMA node {node}, where this GPU is attached (taskset, \
                 cpuset): the GPU is driven from node {}, which makes copies slower",
                binding.node
            );
            findings.push(Finding::new("remote-cores", Severity::Warning, subject(), text));
        }
        Known::Unknown(why) if machine.numa.len() > 1 => {
            let text = format!(
                "the NUMA node of this GPU is not known: {why}; compare the nodes with -p scope=matrix"
            );
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
            "this process may use no memory of NUMA node {left_out}, the node of {next_to} (cpuset): copies \
             use memory of node {other}, which makes them slower"
        );
        findings.push(Finding::new("remote-memory", Severity::Warning, subject(), text));
    }
    (binding, findings)
}

/// The case of work within one GPU.
pub fn case_within(
    about: &About,
    params: &Params,
    node: &SiteNode,
    gpu: &Gpu,
    turn: usize,
) -> Result<Case, Reason> {
    let budget = seatrial_bench::budget(params)?;
    let subject = Subject::device("gpu", &gpu.index.to_string());
    let mut case = Case::new(about, &node.name, subject, params, budget);
    case.key = Some(gpu.key());
    case.facts = gpu.facts();
    chosen(&mut case, &[gpu]);
    // The CPU hardly matters for work within the device, so a finding on it would only distract.
    let (binding, _) = near(&node.machine, gpu, &core_bindings(&node.machine)?, turn);
    case.places = vec![PartPlacement::new("worker", 0, &node.name, vec![binding])];
    case.budget.prepare = Nanos::secs(90);
    Ok(case)
}

/// The GPU of a case of work within one.
pub fn gpu_of<'a>(case: &Case, site: &'a Site) -> Option<&'a Gpu> {
    let machine = case.nodes.first().and_then(|node| site.machine(node))?;
    machine.gpus.known()?.iter().find(|gpu| Some(gpu.key()) == case.key)
}

/// The limits of a case of work within one GPU: what `of` gives for the metrics that `is` names; no others.
pub fn limits_within(
    about: &About,
    case: &Case,
    site: &Site,
    is: impl Fn(&str) -> bool,
    of: impl FnOnce(&Gpu) -> Limit,
) -> Limits {
    let limit = gpu_of(case, site).map_or_else(|| Limit::unknown("the GPU is not in the inventory"), of);
    about.limits(|metric| if is(metric) { limit.clone() } else { Limit::unknown(NO_LIMIT) })
}

/// Why a metric has no limit.
pub const NO_LIMIT: &str = "no figure of the hardware bounds it";

/// The facts that all of these GPUs have.
pub fn facts_in_common(gpus: &[&Gpu]) -> Params {
    let Some((first, others)) = gpus.split_first() else { return Params::default() };
    let facts = first.facts();
    let common =
        facts.iter().filter(|(name, value)| others.iter().all(|gpu| gpu.facts().get(name) == Some(*value)));
    common.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

pub fn chosen(case: &mut Case, gpus: &[&Gpu]) {
    let addresses: Vec<&str> = gpus.iter().map(|gpu| gpu.pci.address.as_str()).collect();
    case.planned.set("gpus", addresses.join(" ").as_str());
}

pub fn address_of(case: &Case) -> Result<Vec<String>, Reason> {
    Ok(case.planned.text("gpus")?.split(' ').map(str::to_owned).collect())
}

pub fn both_ways(one: Bound) -> Bound {
    let value = Quantity::new(2.0 * one.value.value(), one.value.unit()).unwrap_or(one.value);
    Bound { value, formula: format!("2 x ({})", one.formula), provenance: one.provenance, nominal: None }
}

#[cfg(test)]
mod tests {
    use seatrial_model::machine::NumaNode;

    use super::*;
    use crate::rig::{machine, plan};

    /// Two GPUs at node 0, and memory on two nodes, of which a cpuset allows some.
    fn confined(memory: &[u32], cores: u32) -> Machine {
        let mut two = machine(2);
        two.numa.push(NumaNode { id: 1, ..two.numa[0].clone() });
        two.cpu.threads.iter_mut().for_each(|thread| thread.node = Some(cores));
        two.confinement.memory_nodes = Known::Known(memory.to_vec());
        if let Known::Known(gpus) = &mut two.gpus {
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
        assert!(
            findings[1].text.contains("the node of the core that drives this GPU"),
            "{}",
            findings[1].text
        );
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
