//! What one machine is: the data of an inventory, as read, with a reason wherever something could not be read.
//!
//! Only data and lookups live here; `seatrial-inventory` fills it. Every structure has a default and every
//! field tolerates being absent, so that a record written by an older or newer version still reads.

mod bond;
mod cache;
mod confinement;
mod cpu;
mod dimm;
mod disk;
mod facts;
mod file_system;
mod gpu;
mod hca;
mod known;
mod memory;
mod nic;
mod part_limit;
mod pci;
mod product;

pub use bond::{Bond, BondMember, Queueing};
pub use cache::{Cache, CacheKind, Caches, LastLevelCache};
pub use confinement::{Confinement, ProcessLimit};
pub use cpu::{Cpu, CpuQuota, CpuThread};
pub use dimm::{Dimm, DimmSource, Dimms};
pub use disk::{Disk, DiskBus, DiskThrottle, Partition};
pub use file_system::{FileSystem, Medium};
pub use gpu::Gpu;
pub use hca::{Hca, HcaGid, HcaPort};
pub use known::Known;
pub use memory::{CgroupMemory, HugePagePool, Memory, NumaNode};
pub use nic::{Nic, NicKind};
pub use part_limit::PartLimit;
pub use pci::{PciDevice, PciLink, PciPath, PciPort};
pub use product::Product;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One machine as its own kernel describes it to this process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Machine {
    /// Version of this record's shape; see [`Machine::SCHEMA`].
    pub schema: u32,
    /// The node name the kernel reports, without any domain added by us.
    pub hostname: Known<String>,
    /// The kernel's random identity of this boot; two records with the same one are the same uptime.
    pub boot_id: Known<String>,
    /// Kernel release, as in `uname -r`.
    pub kernel: Known<String>,
    /// Instruction set architecture in the kernel's spelling: `x86_64`, `aarch64`.
    pub architecture: Known<String>,
    /// `PRETTY_NAME` of `/etc/os-release`, such as `Debian GNU/Linux 13 (trixie)`.
    pub distribution: Known<String>,
    /// Whether something stands between this kernel and the hardware.
    pub virtualization: Known<Virtualization>,
    /// What was sold, and its firmware.
    pub product: Product,
    /// What the system leaves to this process.
    pub confinement: Confinement,
    /// Base page size in bytes.
    pub page_size_bytes: Known<u64>,
    /// Model, sockets, cores and threads of the processors.
    pub cpu: Cpu,
    /// Caches of the processors with who shares them.
    pub caches: Caches,
    /// NUMA nodes in the order of their ids; a machine without NUMA has one, node 0.
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
    /// What was odd while reading: contradictions, garbage, parts left out. Never needed to use the rest.
    pub remarks: Vec<Remark>,
}

/// What stands between the kernel and the hardware.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Virtualization {
    /// The hypervisor under this kernel (`kvm`, `vmware`, `unidentified`); none on bare metal.
    pub hypervisor: Option<String>,
    /// The container around this process (`docker`, `podman`, `lxc`); none when no trace of one was found.
    pub container: Option<String>,
}

/// Something odd met while reading one part of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Remark {
    /// The part: `cpu`, `cache`, `numa`, `memory`, `dimm`, `nic:eth0`, `gpu:0`.
    pub subject: String,
    /// What is odd about it, as a fragment.
    pub text: String,
}

impl Machine {
    /// The version of this record's shape that this code writes.
    pub const SCHEMA: u32 = 1;

    /// The NUMA node with this id.
    pub fn node(&self, id: u32) -> Option<&NumaNode> {
        self.numa.iter().find(|node| node.id == id)
    }

    /// NUMA nodes that have processors; the others (CXL, flat HBM, GPU memory) can only be reached from afar.
    pub fn nodes_with_cpus(&self) -> impl Iterator<Item = &NumaNode> {
        self.numa.iter().filter(|node| node.has_cpus())
    }

    /// The last level of cache that these CPUs share or own, summed over its instances, in bytes.
    ///
    /// The instances come from sysfs. The C library's idea of the level 3 cache is taken into account because
    /// virtual machines are often shown a part of the host's cache by one path and all of it by the other: where
    /// the library's size exceeds all instances of a socket together, it counts for that socket instead. (The
    /// comparison is per socket since glibc reports one instance on Intel and, before 2.37, the whole package
    /// on AMD.) Too large a sum makes a memory test slower, too small a sum makes it measure the cache.
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
