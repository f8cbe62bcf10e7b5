//! The inventory: reads the kernel's files into the model's [`Machine`], and derives limits of its parts.
//!
//! Changes and guesses nothing: what cannot be read is unknown with a reason, contradictions are remarks. All readers
//! read below a [`SysRoot`], so that trees of files can stand in for machines.

mod cache;
mod confinement;
mod cpu;
mod dimm;
mod disk;
mod family;
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
    DiskLoad, Links, Load, RdmaTraffic, disk_limit, disk_limit_under, gpu_host_limit, gpu_links_limit,
    gpu_matrix_limit, gpu_matrix_operations, gpu_memory_limit, gpu_peer_limit, hca_limit, hca_limit_on,
    hca_payload_limit, hca_rate, memory_bandwidth, memory_limit, nic_limit, nic_limit_under, nic_rate,
    node_memory_bandwidth, part_limits, pcie_limit, pcie_rate, port_rate,
};
pub use memory::available;
pub use pci::{pci_path, reduced_link};
pub use process::{Process, Spaces};
pub use seatrial_sys::root::space::Space;

use pci::Functions;
use reading::Reading;
use seatrial_model::machine::{Machine, Serials};
use seatrial_sys::root::SysRoot;

/// Reads the machine below `root`; on the running system also from the C library and the CPU.
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
    let mut nics = nic::read(&mut at, &mut functions, in_virtual_machine);
    let hcas = hca::read(&mut at, &mut functions);
    nic::take_speeds_of_ports(&mut nics, &hcas);
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
        serials: Serials { system: product::serial(root), modules: dimm::serials(root) },
        confinement: confinement::read(root),
        leaf_switch: process.leaf_switch.clone(),
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

#[cfg(test)]
mod tests {
    use seatrial_sys::root::Tree;

    use super::*;

    /// Found by the fuzz target `machine`.
    #[test]
    fn numbers_as_large_as_they_get_are_read_without_an_overflow() {
        let mut tree = Tree::default();
        let kib = u64::MAX / 1024;
        let info: String = ["MemTotal", "MemFree", "Active(file)", "Inactive(file)", "SReclaimable"]
            .map(|key| format!("Node 0 {key}: {kib} kB\n"))
            .concat();
        for (path, text) in [
            ("/proc/meminfo", format!("MemTotal: {kib} kB\n")),
            ("/sys/devices/system/cpu/online", "0-1".to_owned()),
            ("/sys/devices/system/node/online", "0-1".to_owned()),
            ("/sys/devices/system/node/node0/meminfo", info.clone()),
            ("/sys/devices/system/node/node1/meminfo", info),
            ("/sys/class/infiniband/rxe0/ports/1/state", "4: ACTIVE".to_owned()),
            ("/sys/class/infiniband/rxe0/device/net/eth0/dev_port", u32::MAX.to_string()),
        ] {
            tree.file(path, text.as_bytes());
        }
        let machine = read(&SysRoot::of(tree));
        let available: Vec<_> =
            machine.numa.iter().map(|node| node.available_bytes.known().copied()).collect();
        assert_eq!(available, [Some(u64::MAX); 2]);
        let hcas = machine.hcas.known().expect("adapters");
        assert_eq!((hcas.len(), hcas[0].ports.len()), (1, 1));
    }
}
