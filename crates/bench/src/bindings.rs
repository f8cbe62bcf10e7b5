//! CPU and memory bindings, and the memory that is free.

use std::collections::BTreeSet;

use seatrial_model::machine::{CpuThread, Machine, NumaNode};
use seatrial_model::{Binding, Cause, Finding, Reason, Severity, Subject};

/// One binding per permitted core, with the memory of its own node or, where the cpuset excludes it, the nearest
/// node.
pub fn core_bindings(machine: &Machine) -> Result<Vec<Binding>, Reason> {
    let bindings: Vec<Binding> = machine.cpu.one_per_core().map(|thread| binding(machine, thread)).collect();
    if bindings.is_empty() {
        return Err(Reason::new(Cause::Missing, "no CPU is known that this process may run on"));
    }
    Ok(bindings)
}

/// The binding on this CPU, with memory as [`core_bindings`] chooses it.
pub fn binding(machine: &Machine, thread: &CpuThread) -> Binding {
    let node = thread.node.unwrap_or(0);
    let memory = own_memory(machine, node).and_then(|node| memory_for(machine, node));
    Binding { cpu: thread.id, node, domain: domain(thread), memory }
}

/// `node` itself, where the cpuset permits its memory.
pub fn own_memory(machine: &Machine, node: u32) -> Option<u32> {
    machine.node(node).filter(|node| may_have_memory(node)).map(|node| node.id)
}

fn may_have_memory(node: &NumaNode) -> bool {
    node.total_bytes.known().is_none_or(|bytes| *bytes > 0)
}

/// Whether the cpuset permits the memory of `node`; true where unknown.
fn is_ours(machine: &Machine, node: u32) -> bool {
    machine.confinement.memory_nodes.known().is_none_or(|allowed| allowed.contains(&node))
}

/// The node whose memory to use in place of `wanted`: `wanted` itself where the cpuset permits it, else the nearest
/// permitted node by the firmware's distances, `None` where all are unknown. Memory of an excluded node cannot be
/// bound (EINVAL, mbind(2)), and would come from another node.
pub fn memory_for(machine: &Machine, wanted: u32) -> Option<u32> {
    if is_ours(machine, wanted) {
        return Some(wanted);
    }
    let distances = machine.node(wanted).map(|node| &node.distances);
    let distance = |node: &u32| distances.and_then(|known| known.get(node)).copied().unwrap_or(u32::MAX);
    our_memory_nodes(machine).into_iter().min_by_key(|node| (distance(node), *node))
}

/// The finding for cores that use memory of another node, since the cpuset excludes their own.
pub fn remote_memory(bindings: &[Binding]) -> Option<Finding> {
    let pair =
        |binding: &Binding| Some((binding.node, binding.memory.filter(|memory| *memory != binding.node)?));
    let pairs: BTreeSet<(u32, u32)> = bindings.iter().filter_map(pair).collect();
    let told: Vec<String> =
        pairs.iter().map(|(cores, memory)| format!("those of node {cores} on node {memory}")).collect();
    if told.is_empty() {
        return None;
    }
    let text = format!(
        "cores have to work on memory of other NUMA nodes, since their own may not be used (cpuset): {}; this is not what \
         they reach on their own",
        told.join(", ")
    );
    Some(Finding::new("remote-memory", Severity::Warning, Subject::node(), text))
}

/// The last-level cache domain of a CPU; its NUMA node where L3 domains are unknown.
pub fn domain(thread: &CpuThread) -> u32 {
    thread.l3.unwrap_or_else(|| 1 << 16 | thread.node.unwrap_or(0))
}

/// Bytes to use without swapping or the OOM killer: the minimum of the machine, the control group, and the number of
/// permitted NUMA nodes times the fullest of them.
pub fn room(machine: &Machine) -> Option<u64> {
    let whole = machine.memory.effective_available_bytes.known().copied();
    let nodes: Vec<u64> = machine
        .numa
        .iter()
        .filter(|node| may_have_memory(node) && is_ours(machine, node.id))
        .filter_map(|node| node.available_bytes.known().copied())
        .collect();
    let fullest = nodes.iter().min().map(|least| least.saturating_mul(nodes.len() as u64));
    whole.into_iter().chain(fullest).min()
}

/// The nodes with memory, with or without cores.
pub fn memory_nodes(machine: &Machine) -> Vec<u32> {
    let with_memory =
        machine.numa.iter().filter(|node| node.total_bytes.known().is_some_and(|bytes| *bytes > 0));
    with_memory.map(|node| node.id).collect()
}

/// The memory nodes that the cpuset permits; all where unknown.
pub fn our_memory_nodes(machine: &Machine) -> Vec<u32> {
    memory_nodes(machine).into_iter().filter(|node| is_ours(machine, *node)).collect()
}

/// The nodes of a node-to-node matrix.
pub fn matrix_nodes(machine: &Machine) -> Result<Vec<u32>, Reason> {
    let (all, ours) = (memory_nodes(machine), our_memory_nodes(machine));
    if ours.len() < 2 {
        let text = match all.len() {
            count @ 2.. => {
                format!(
                    "a matrix needs two NUMA nodes with memory; of {count} a cpuset leaves {} to this process",
                    ours.len()
                )
            }
            _ => "a matrix needs two NUMA nodes with memory; this has one".to_owned(),
        };
        return Err(Reason::new(Cause::Inapplicable, text));
    }
    Ok(ours)
}

#[cfg(test)]
mod tests {
    use seatrial_model::machine::Known;

    use super::*;
    use seatrial_testkit::row;

    fn memory(machine: &Machine) -> Vec<Option<u32>> {
        core_bindings(machine).unwrap().iter().map(|binding| binding.memory).collect()
    }

    #[test]
    fn cores_take_the_nearest_memory_that_a_cpuset_leaves_them() {
        assert_eq!(memory(&row(None)), [0, 1, 2, 3].map(Some));
        assert_eq!(memory(&row(Some(&[0, 2, 3]))), [0, 0, 2, 3].map(Some), "of two as near the first");
        assert_eq!(memory(&row(Some(&[2]))), [Some(2); 4]);
        assert_eq!(memory(&row(Some(&[0, 3]))), [0, 0, 3, 3].map(Some));
        // Only unknown nodes: nothing is bound.
        assert_eq!(memory(&row(Some(&[7]))), [None; 4]);
        let mut unknown = row(Some(&[1, 3]));
        unknown.numa.iter_mut().for_each(|node| node.distances.clear());
        assert_eq!(memory(&unknown), [1, 1, 1, 3].map(Some));
        // A machine without nodes leaves the choice to the kernel.
        let mut bare = row(Some(&[0, 1, 2, 3]));
        bare.numa[1].total_bytes = Known::Known(0);
        assert_eq!(memory(&bare), [Some(0), None, Some(2), Some(3)]);
    }

    #[test]
    fn memory_from_afar_is_told_by_node() {
        let told = |ours| remote_memory(&core_bindings(&row(ours)).unwrap()).map(|finding| finding.text);
        assert_eq!(told(None), None);
        assert_eq!(told(Some(&[0, 1, 2, 3, 4])), None);
        let text = told(Some(&[0, 3])).unwrap();
        assert!(text.contains(": those of node 1 on node 0, those of node 2 on node 3;"), "{text}");
    }

    #[test]
    fn room_is_counted_on_the_nodes_that_are_ours() {
        assert_eq!(room(&row(None)), Some(32 << 30), "four times what the fullest leaves");
        assert_eq!(room(&row(Some(&[2, 3]))), Some(48 << 30));
    }
}
