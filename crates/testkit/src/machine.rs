//! Machines to plan on.

use seatrial_model::SiteNode;
use seatrial_model::machine::{
    Cache, Caches, Cpu, CpuThread, Known, Machine, Nic, NicKind, NumaNode, PciDevice,
};

/// The only hardware thread of core `id`, which may be used.
pub fn thread(id: u32) -> CpuThread {
    CpuThread { id, core: Some(id), online: true, allowed: true, ..CpuThread::default() }
}

/// The cores `ids` with one hardware thread each.
pub fn cores(ids: impl IntoIterator<Item = u32>) -> Cpu {
    Cpu { threads: ids.into_iter().map(thread).collect(), ..Cpu::default() }
}

/// A node with `count` cores, of which nothing else is known.
pub fn node(name: &str, count: u32) -> SiteNode {
    SiteNode::new(name, Machine { cpu: cores(0..count), ..Machine::default() })
}

/// Four nodes of one core and 64 GiB each, in a row; a cpuset leaves the memory of `ours`.
pub fn row(ours: Option<&[u32]>) -> Machine {
    let place = |id| CpuThread { socket: Some(0), node: Some(id), ..thread(id) };
    let node = |id: u32| NumaNode {
        id,
        cpus: vec![id],
        total_bytes: Known::Known(64 << 30),
        available_bytes: Known::Known(u64::from(id + 1) << 33),
        distances: (0..4_u32).map(|other| (other, 10 + 10 * id.abs_diff(other))).collect(),
        ..NumaNode::default()
    };
    let cache = |id| Cache { level: 3, size_bytes: 8 << 20, cpus: vec![id], ..Cache::default() };
    let isa = ["sse2", "avx2", "neon", "asimd"].map(str::to_owned).to_vec();
    let mut machine = Machine {
        cpu: Cpu { isa: Known::Known(isa), threads: (0..4).map(place).collect(), ..Cpu::default() },
        caches: Caches { instances: (0..4).map(cache).collect(), ..Caches::default() },
        numa: (0..4).map(node).collect(),
        ..Machine::default()
    };
    if let Some(ours) = ours {
        machine.confinement.memory_nodes = Known::Known(ours.to_vec());
    }
    machine
}

/// Two NUMA nodes of four cores with two threads each, CPUs 0 to 3 and 4 to 7, their siblings from 8 on; two
/// last-level caches a node.
pub fn eight_cores(name: &str, nics: Vec<Nic>) -> SiteNode {
    let place = |id: u32| CpuThread {
        core: Some(id % 8),
        node: Some(id % 8 / 4),
        l3: Some(id % 8 / 2),
        ..thread(id)
    };
    let cpu = Cpu { threads: (0..16).map(place).collect(), ..Cpu::default() };
    SiteNode::new(name, Machine { cpu, nics: Known::Known(nics), ..Machine::default() })
}

/// An interface next to this NUMA node, with its interrupts on these CPUs.
pub fn card(name: &str, node: u32, irqs: Option<&[u32]>) -> Nic {
    Nic {
        name: name.to_owned(),
        kind: NicKind::Physical,
        up: Known::Known(true),
        networks: Known::Known(vec!["10.0.0.0/16".to_owned()]),
        irq_cpus: irqs.map_or(Known::unknown("/x does not exist"), |cpus| Known::Known(cpus.to_vec())),
        pci: Known::Known(PciDevice { numa_node: Known::Known(node), ..PciDevice::default() }),
        ..Nic::default()
    }
}
