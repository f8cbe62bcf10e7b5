//! What a machine is: reads the kernel's files into the model's [`Machine`], and derives what its parts could do.
//!
//! Nothing is changed and nothing is guessed: what cannot be read is unknown with the reason, and what contradicts
//! itself is remarked. One file a reader; all of them read below a [`SysRoot`], so that trees of files can stand
//! in for machines we do not have.

mod cache;
mod confinement;
mod cpu;
mod dimm;
mod disk;
mod file_system;
mod gpu;
mod hca;
mod keyed;
mod limits;
mod memory;
mod nic;
mod numa;
mod os;
mod pci;
mod process;
mod product;
mod reading;
mod topology;
mod virtualization;

pub use limits::{
    DiskLoad, Load, RdmaTraffic, disk_limit, disk_limit_under, disk_rate, gpu_host_limit, gpu_memory_limit,
    gpu_peer_limit, hca_limit, hca_limit_on, hca_payload_limit, hca_rate, memory_bandwidth, nic_limit,
    nic_limit_under, nic_rate, node_memory_bandwidth, part_limits, pcie_bandwidth, pcie_limit, port_rate,
};
pub use memory::available;
pub use pci::{pci_path, reduced_link};
pub use process::{Process, Spaces};
pub use seatrial_sys::root::space::Space;

use pci::Functions;
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
    let virtualization = virtualization::read(root);
    let dimms = dimm::read(&mut at);
    let in_virtual_machine = virtualization.known().map(|v| v.hypervisor.is_some());
    let mut functions = Functions::default();
    let nics = nic::read(&mut at, &mut functions, in_virtual_machine);
    let hcas = hca::read(&mut at, &mut functions);
    let gpus = gpu::read(&mut at, &mut functions);
    let mut disks = disk::read(&mut at, &mut functions);
    let file_systems = file_system::read(&mut at, &mut disks);
    functions.report(&numa, &mut at);
    Machine {
        schema: Machine::SCHEMA,
        hostname: os::hostname(root),
        boot_id: os::boot_id(root),
        kernel: os::kernel(root),
        architecture: os::architecture(root),
        distribution: os::distribution(root),
        virtualization,
        product: product::read(root),
        confinement: confinement::read(root),
        page_size_bytes: process.page_size_bytes.clone(),
        memory,
        dimms,
        nics,
        hcas,
        gpus,
        disks,
        file_systems,
        cpu,
        caches,
        numa,
        remarks: at.into_remarks(),
    }
}
