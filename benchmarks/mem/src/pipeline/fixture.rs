//! Small scenarios and machines for tests.

use seatrial_model::machine::{Cache, Caches, Cpu, CpuThread, Dimm, Dimms, Known, Machine, Memory, NumaNode};
use seatrial_model::{Bytes, Case, Quantity, Reason, Site, SiteNode, Unit};

use super::scenario::{Operation, Scenario, Step, Transpose};
use super::{ABOUT, BENCHMARK};

pub const GIB: u64 = 1 << 30;

pub fn step(id: &str, operation: Operation, block: u64, millis: u64) -> Step {
    let rate = block as f64 * 1e3 / millis as f64;
    Step {
        id: id.to_owned(),
        what: "a toy".to_owned(),
        operation,
        block: Bytes(block),
        rate: Quantity::new(rate, Unit::BytesPerSecond).expect("finite"),
        counted: operation.touched() as u32,
    }
}

/// One step of each operation for each of `stations`; a round takes 8 ms.
pub fn toy(stations: u32) -> Scenario {
    let steps = vec![
        step("fill", Operation::Write, 4096, 2),
        step("move", Operation::Copy, 4096, 4),
        step("mix", Operation::Transpose, 8192, 8),
        step("look", Operation::Read, 8192, 8),
    ];
    let transpose = Transpose { chunk: Bytes(1024), stride: 3 };
    Scenario { title: "toy".to_owned(), stations, transpose, steps }
}

/// `nodes` NUMA nodes of four cores with two hardware threads each, per node a cache of `cache` MiB and `memory` GiB,
/// all available.
pub fn machine(nodes: u32, memory: u64, cache: u64) -> Machine {
    let thread = |id: u32| CpuThread {
        core: Some(id / 2),
        socket: Some(0),
        node: Some(id / 8),
        l3: Some(id / 8),
        ..seatrial_testkit::thread(id)
    };
    let cache = |node| Cache {
        level: 3,
        size_bytes: cache << 20,
        cpus: (8 * node..8 * node + 8).collect(),
        ..Cache::default()
    };
    let node = |id| NumaNode {
        id,
        cpus: (8 * id..8 * id + 8).collect(),
        total_bytes: Known::Known(memory * GIB),
        available_bytes: Known::Known(memory * GIB),
        ..NumaNode::default()
    };
    let available = Known::Known(u64::from(nodes) * memory * GIB);
    Machine {
        cpu: Cpu { threads: (0..8 * nodes).map(thread).collect(), ..Cpu::default() },
        caches: Caches { instances: (0..nodes).map(cache).collect(), ..Caches::default() },
        numa: (0..nodes).map(node).collect(),
        memory: Memory { effective_available_bytes: available, ..Memory::default() },
        ..Machine::default()
    }
}

/// Adds twelve channels of 4800 MT/s: 460.8 GB/s.
pub fn with_modules(mut machine: Machine) -> Machine {
    let module = |channel: u32| Dimm {
        locator: format!("A{channel}"),
        channel: Some(format!("P0 {channel}")),
        size_bytes: Some(16 * GIB),
        configured_mts: Some(4800),
        data_width_bits: Some(64),
        ..Dimm::default()
    };
    let modules = (0..12).map(module).collect();
    machine.dimms = Known::Known(Dimms { slots: 12, modules, ..Dimms::default() });
    machine.virtualization = Known::Known(seatrial_model::machine::Virtualization::default());
    machine
}

pub fn site(machine: Machine) -> Site {
    Site { nodes: vec![SiteNode::new("n1", machine)] }
}

pub fn plan(machine: Machine, set: &[(&str, &str)]) -> Result<Case, Reason> {
    let params = seatrial_testkit::params(&ABOUT, set);
    BENCHMARK.plan(&params, &site(machine)).map(|mut cases| cases.remove(0))
}
