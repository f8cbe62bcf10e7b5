//! What a machine is: reads the kernel's files into the model's [`Machine`], and derives what its parts could do.
//!
//! Nothing is changed and nothing is guessed: what cannot be read is unknown with the reason, and what contradicts
//! itself is remarked. One file a reader; all of them read below a [`SysRoot`], so that trees of files can stand
//! in for machines we do not have.

mod bandwidth;
mod cache;
mod cpu;
mod dimm;
mod keyed;
mod memory;
mod numa;
mod os;
mod process;
mod reading;
mod topology;
mod virtualization;

pub use bandwidth::{memory_bandwidth, node_memory_bandwidth};
pub use memory::available;
pub use process::Process;

use reading::Reading;
use seatrial_model::machine::Machine;
use seatrial_sys::root::SysRoot;

/// Reads the machine below `root`.
///
/// On the running system the C library and the CPU are asked too; a tree of files cannot answer for them, and
/// what only they know is then unknown.
pub fn read(root: &SysRoot) -> Machine {
    let process = if root.is_live() { Process::current() } else { Process::elsewhere(root) };
    read_as(root, &process)
}

/// Reads the machine below `root` as a given process would see it.
pub fn read_as(root: &SysRoot, process: &Process) -> Machine {
    let mut at = Reading::new(root, process);
    let topology = topology::read(&mut at);
    let caches = cache::read(&mut at, &topology);
    let numa = numa::read(&mut at, &topology);
    let cpu = cpu::read(&mut at, &topology, &caches, &numa);
    let memory = memory::read(&mut at, &numa);
    Machine {
        schema: Machine::SCHEMA,
        hostname: os::hostname(root),
        boot_id: os::boot_id(root),
        kernel: os::kernel(root),
        architecture: os::architecture(root),
        distribution: os::distribution(root),
        virtualization: virtualization::read(root),
        page_size_bytes: process.page_size_bytes.clone(),
        memory,
        dimms: dimm::read(&mut at),
        cpu,
        caches,
        numa,
        remarks: at.into_remarks(),
    }
}
