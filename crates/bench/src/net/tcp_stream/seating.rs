//! Which CPUs the threads of both ends are pinned to.

use seatrial_model::machine::{Machine, Nic};
use seatrial_model::{Cause, Params, Reason, Seat, Site};
use seatrial_sys::cpuset::CpuSet;

use crate::common::{Ends, seats};

/// Seats for `count` threads at each end, as the parameter `affinity` wants them; none leaves them to the scheduler.
///
/// # Errors
/// When an end has no such CPUs.
pub fn seating(
    ends: &Ends<'_>,
    site: &Site,
    params: &Params,
    count: usize,
) -> Result<[Vec<Seat>; 2], Reason> {
    let affinity = params.text("affinity").unwrap_or("auto");
    let machines: Vec<&Machine> = site.nodes.iter().take(2).map(|node| &node.machine).collect();
    let (Some(first), Some(second)) = (machines.first(), machines.last()) else {
        return Err(Reason::new(Cause::Inapplicable, "there is no node to measure on"));
    };
    let nics = ends.way().map_or([None, None], |way| [Some(way.first), Some(way.second)]);
    let [own, others] = match affinity {
        // Where nobody is pinned CPUs must be known all the same: an empty machine has no plan.
        "none" => {
            seats(first).and(seats(second))?;
            return Ok([Vec::new(), Vec::new()]);
        }
        "auto" => [near(first, nics[0])?, near(second, nics[1])?],
        "far" => [far(first, nics[0])?, far(second, nics[1])?],
        list => [listed(first, list)?, listed(second, list)?],
    };
    let take = |all: &[Seat], from: usize| (0..count).map(|at| all[(from + at) % all.len()]).collect();
    // Ends that have the same cores are kept apart as far as there are enough.
    Ok([take(&own, 0), take(&others, if ends.on_one_kernel() { count } else { 0 })])
}

/// One seat a core, those on the card's NUMA node first.
fn near(machine: &Machine, nic: Option<&Nic>) -> Result<Vec<Seat>, Reason> {
    let mut all = seats(machine)?;
    if let Some(node) = nic.and_then(|nic| nic.numa_node().known().copied()) {
        all.sort_by_key(|seat| seat.node != node);
    }
    Ok(all)
}

/// One seat a core on other NUMA nodes than the card's.
fn far(machine: &Machine, nic: Option<&Nic>) -> Result<Vec<Seat>, Reason> {
    let refuse = |text: &str| Reason::new(Cause::Inapplicable, format!("affinity=far: {text}"));
    let node = nic.and_then(|nic| nic.numa_node().known().copied());
    let node = node.ok_or_else(|| refuse("no NUMA node is known that the interface is next to"))?;
    let mut all = seats(machine)?;
    all.retain(|seat| seat.node != node);
    if all.is_empty() {
        return Err(refuse(&format!(
            "no CPU is on another NUMA node than the interface, which is on {node}"
        )));
    }
    Ok(all)
}

/// The CPUs of a list, in the order of their numbers.
fn listed(machine: &Machine, list: &str) -> Result<Vec<Seat>, Reason> {
    let refuse = |text: String| Reason::new(Cause::Contradiction, format!("affinity={list}: {text}"));
    let cpus: CpuSet = list
        .parse()
        .map_err(|error| refuse(format!("{error}; it is auto, none, far, or CPUs such as 0,2-3")))?;
    let all = seats(machine)?;
    let seat = |id: u32| {
        let thread = machine.cpu.thread(id).filter(|thread| thread.usable());
        let thread = thread.ok_or_else(|| refuse(format!("there is no CPU {id} that we may use")))?;
        let node = thread.node.unwrap_or(0);
        let memory = all.iter().find(|seat| seat.node == node).and_then(|seat| seat.memory);
        Ok(Seat { cpu: id, node, domain: thread.l3.unwrap_or(1 << 16 | node), memory })
    };
    let seats: Vec<Seat> = cpus.iter().map(seat).collect::<Result<_, Reason>>()?;
    if seats.is_empty() {
        return Err(refuse("it names no CPU".to_owned()));
    }
    Ok(seats)
}
