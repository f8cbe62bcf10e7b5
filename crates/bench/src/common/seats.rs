//! Who may work where: one thread a core, and how much memory there is to take.

use seatrial_model::machine::{CpuThread, Machine};
use seatrial_model::{Cause, Reason, Seat};

/// One seat a core that we may use, with the memory of its own node.
///
/// # Errors
/// When no CPU is known that we may run on.
pub fn seats(machine: &Machine) -> Result<Vec<Seat>, Reason> {
    let seats: Vec<Seat> = machine.cpu.one_per_core().map(|thread| seat(machine, thread)).collect();
    if seats.is_empty() {
        return Err(Reason::new(Cause::Missing, "no CPU is known that this process may run on"));
    }
    Ok(seats)
}

/// The seat on this CPU, with the memory of its own node.
pub fn seat(machine: &Machine, thread: &CpuThread) -> Seat {
    let node = thread.node.unwrap_or(0);
    let memory = machine.node(node).filter(|node| node.total_bytes.known().is_none_or(|bytes| *bytes > 0));
    Seat { cpu: thread.id, node, domain: domain(thread), memory: memory.map(|node| node.id) }
}

/// The last-level cache of a CPU; a machine that does not tell its L3 domains has one a NUMA node for our purpose.
pub fn domain(thread: &CpuThread) -> u32 {
    thread.l3.unwrap_or_else(|| 1 << 16 | thread.node.unwrap_or(0))
}

/// Bytes that we may take without swapping or being killed: the least of what the machine, the control group and, times
/// their number, the fullest NUMA node leave.
pub fn room(machine: &Machine) -> Option<u64> {
    let whole = machine.memory.effective_available_bytes.known().copied();
    let nodes: Vec<u64> = machine
        .numa
        .iter()
        .filter(|node| node.total_bytes.known().is_none_or(|bytes| *bytes > 0))
        .filter_map(|node| node.available_bytes.known().copied())
        .collect();
    let fullest = nodes.iter().min().map(|least| least.saturating_mul(nodes.len() as u64));
    whole.into_iter().chain(fullest).min()
}

/// The nodes that have memory, cores or not.
pub fn memory_nodes(machine: &Machine) -> Vec<u32> {
    let with_memory =
        machine.numa.iter().filter(|node| node.total_bytes.known().is_some_and(|bytes| *bytes > 0));
    with_memory.map(|node| node.id).collect()
}

/// Those of them whose memory a cpuset leaves to us; all where nobody says which. Memory that is asked for on another one
/// comes from these all the same, under the wrong name.
pub fn our_memory_nodes(machine: &Machine) -> Vec<u32> {
    let allowed = machine.confinement.memory_nodes.known();
    let is_ours = |node: &u32| allowed.is_none_or(|allowed| allowed.contains(node));
    memory_nodes(machine).into_iter().filter(is_ours).collect()
}

/// The nodes of a matrix of them.
///
/// # Errors
/// When there are not two.
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
