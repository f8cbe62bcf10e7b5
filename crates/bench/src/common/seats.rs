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
