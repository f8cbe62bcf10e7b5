//! The inventory of one machine: each value as read, or the reason why it could not be read.
//!
//! Every structure has a default and every field may be absent, so that records of other versions can be read.

mod bond;
mod cache;
mod confinement;
mod cpu;
mod device;
mod dimm;
mod disk;
mod facts;
mod file_system;
mod gpu;
mod gpu_state;
mod hca;
mod known;
mod memory;
mod nic;
mod part_limit;
mod pci;
mod product;
mod serials;

pub use bond::{Bond, BondMember, Queueing};
pub use cache::{Cache, CacheKind, Caches, LastLevelCache};
pub use confinement::{Confinement, ProcessLimit};
pub use cpu::{Cpu, CpuQuota, CpuThread, ProcessorFamily};
pub use device::Device;
pub use dimm::{Dimm, DimmSource, Dimms};
pub use disk::{Disk, DiskBus, DiskThrottle, Partition};
pub use file_system::{FileSystem, Medium};
pub use gpu::Gpu;
pub use gpu_state::GpuState;
pub use hca::{Hca, HcaGid, HcaPort};
pub use known::Known;
pub use memory::{CgroupMemory, HugePagePool, Memory, NumaNode};
pub use nic::{Nic, NicKind};
pub use part_limit::PartLimit;
pub use pci::{PciDevice, PciLink, PciPath, PciPort};
pub use product::Product;
pub use serials::{ModuleSerial, Serials};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One machine as its kernel shows it to this process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Machine {
    /// Version of this record's form; see [`Machine::SCHEMA`].
    pub schema: u32,
    /// Host name that the kernel reports, without an added domain.
    pub hostname: Known<String>,
    /// Boot id, which the kernel draws at random at each boot.
    pub boot_id: Known<String>,
    /// Kernel release, as in `uname -r`.
    pub kernel: Known<String>,
    /// Instruction set architecture in the kernel's spelling: `x86_64`, `aarch64`.
    pub architecture: Known<String>,
    /// `PRETTY_NAME` of `/etc/os-release`, such as `Debian GNU/Linux 13 (trixie)`.
    pub distribution: Known<String>,
    /// Hypervisor and container, if any.
    pub virtualization: Known<Virtualization>,
    /// System, mainboard and firmware.
    pub product: Product,
    /// Serial numbers, for a ticket: no export and no inventory shows them.
    #[serde(skip_serializing_if = "Serials::is_empty")]
    pub serials: Serials,
    /// Limits of this process: CPUs, NUMA nodes and resource limits.
    pub confinement: Confinement,
    /// Leaf switch of the node in Slurm's topology.
    pub leaf_switch: Known<String>,
    /// Base page size in bytes.
    pub page_size_bytes: Known<u64>,
    /// Model, sockets, cores and threads of the processors.
    pub cpu: Cpu,
    /// CPU caches and the CPUs that share them.
    pub caches: Caches,
    /// NUMA nodes by id; a machine without NUMA has node 0.
    pub numa: Vec<NumaNode>,
    /// Main memory as a whole.
    pub memory: Memory,
    /// Memory modules as the firmware lists them.
    pub dimms: Known<Dimms>,
    /// Network interfaces, by name.
    pub nics: Known<Vec<Nic>>,
    /// RDMA devices, by name; known and empty where the kernel has none.
    pub hcas: Known<Vec<Hca>>,
    /// Accelerators, by PCI address; known and empty where the bus has none.
    pub gpus: Known<Vec<Gpu>>,
    /// Block devices, by name.
    pub disks: Known<Vec<Disk>>,
    /// Mounted file systems, by mount point.
    pub file_systems: Known<Vec<FileSystem>>,
    /// Anomalies met while reading: contradictions, garbage, parts left out. For information only.
    pub remarks: Vec<Remark>,
}

/// Hypervisor and container around this process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Virtualization {
    /// Hypervisor under this kernel (`kvm`, `vmware`, `unidentified`); null on bare metal.
    pub hypervisor: Option<String>,
    /// Container around this process (`docker`, `podman`, `lxc`); null when no trace of one was found.
    pub container: Option<String>,
}

/// An anomaly met while reading one part of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Remark {
    /// The part: `cpu`, `cache`, `numa`, `memory`, `dimm`, `nic:eth0`, `gpu:0`.
    pub subject: String,
    /// The anomaly, as a fragment.
    pub text: String,
}

impl Machine {
    /// Version of the record's form that this code writes.
    pub const SCHEMA: u32 = 1;

    /// The NUMA node with this id.
    pub fn node(&self, id: u32) -> Option<&NumaNode> {
        self.numa.iter().find(|node| node.id == id)
    }

    /// NUMA nodes with CPUs; the others (CXL, flat HBM, GPU memory) have memory only.
    pub fn nodes_with_cpus(&self) -> impl Iterator<Item = &NumaNode> {
        self.numa.iter().filter(|node| node.has_cpus())
    }

    /// Capacity in bytes of the last-level cache that these CPUs share or own, summed over its instances.
    ///
    /// Instances come from sysfs. Virtual machines often see a part of the host's cache in sysfs and all of it
    /// through the C library, or the other way round: where the library's L3 size exceeds the sum of a socket's
    /// instances, it counts for that socket. (Per socket, since glibc reports one instance on Intel and, before 2.37,
    /// the whole package on AMD.) Too large a sum makes a memory test slower, too small a sum makes it measure the
    /// cache.
    pub fn last_level_cache(&self, cpus: &[u32]) -> Known<LastLevelCache> {
        self.caches.last_level(&self.cpu, cpus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerates_missing_and_unknown_keys() {
        let text =
            r#"{"hostname": {"known": "n1"}, "quantum": [1], "cpu": {"threads": [{"id": 4, "new": true}]}}"#;
        let machine: Machine = serde_json::from_str(text).expect("an older or newer record reads");
        assert_eq!(machine.hostname, Known::Known("n1".to_owned()));
        assert_eq!(machine.cpu.threads[0].id, 4);
        assert_eq!(machine.kernel, Known::default());
        assert!(!machine.kernel.is_known());
    }

    #[test]
    fn survives_a_round_trip() {
        let machine = Machine {
            schema: Machine::SCHEMA,
            numa: vec![NumaNode { id: 1, distances: [(0, 21), (1, 10)].into(), ..NumaNode::default() }],
            dimms: Known::unknown("no table"),
            ..Machine::default()
        };
        let text = serde_json::to_string(&machine).expect("serialises");
        assert_eq!(serde_json::from_str::<Machine>(&text).expect("reads"), machine);
    }

    #[test]
    fn finds_nodes_by_id_and_sets_apart_those_without_cpus() {
        let with = NumaNode { id: 0, cpus: vec![0, 1], ..NumaNode::default() };
        let without = NumaNode { id: 2, ..NumaNode::default() };
        let machine = Machine { numa: vec![with, without], ..Machine::default() };
        assert_eq!(machine.node(2).map(|node| node.id), Some(2));
        assert_eq!(machine.node(1), None);
        assert_eq!(machine.nodes_with_cpus().map(|node| node.id).collect::<Vec<_>>(), [0]);
    }
}
