//! Main memory: size, NUMA nodes, page sizes, and what this process may allocate.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Known;

/// Main memory as a whole; sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Memory {
    /// Memory the kernel manages (`MemTotal`).
    pub total_bytes: Known<u64>,
    /// Memory that can be allocated without swapping (`MemAvailable`).
    pub available_bytes: Known<u64>,
    /// Memory that this process can allocate: `available_bytes`, cut to what its cgroup leaves.
    pub effective_available_bytes: Known<u64>,
    /// The cgroup memory limit that binds first; known and null where no cgroup sets one.
    pub cgroup: Known<Option<CgroupMemory>>,
    /// Pools of explicit huge pages, by page size.
    pub huge_pages: Known<Vec<HugePagePool>>,
    /// Mode of transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Known<String>,
    /// Automatic NUMA balancing (`kernel.numa_balancing`), which moves pages between nodes.
    pub numa_balancing: Known<bool>,
}

/// The tightest memory limit from our cgroup up to the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CgroupMemory {
    /// cgroup version: 1 or 2.
    pub version: u32,
    /// Path of the cgroup that sets the limit, below the mount point.
    pub group: String,
    /// The limit in bytes.
    pub limit_bytes: u64,
    /// Memory that the cgroup uses now in bytes, page cache included.
    pub used_bytes: u64,
    /// Used memory that the kernel can reclaim: inactive file pages, in bytes.
    pub reclaimable_bytes: u64,
}

impl CgroupMemory {
    /// Memory that the cgroup can still allocate before the kernel refuses or kills, in bytes.
    pub const fn left_bytes(&self) -> u64 {
        self.limit_bytes.saturating_sub(self.used_bytes.saturating_sub(self.reclaimable_bytes))
    }
}

/// A pool of explicit (hugetlb) pages of one size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HugePagePool {
    /// Size of one page in bytes.
    pub page_bytes: u64,
    /// Pages in the pool.
    pub total: u64,
    /// Free pages that are not reserved.
    pub free: u64,
}

/// A NUMA node: memory, and the CPUs next to it, if any.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NumaNode {
    /// Id of the node in the kernel; ids may have gaps.
    pub id: u32,
    /// Online CPUs of this node.
    pub cpus: Vec<u32>,
    /// Memory of this node in bytes.
    pub total_bytes: Known<u64>,
    /// Free memory of this node in bytes.
    pub free_bytes: Known<u64>,
    /// Memory that can be allocated on this node without swapping, in bytes. The kernel reports it for the machine
    /// only: with one node it is `MemAvailable`, else free memory and half of file pages and reclaimable slab, the
    /// lower bound of the kernel's formula.
    pub available_bytes: Known<u64>,
    /// Relative distance to every node, itself 10 (ACPI SLIT).
    pub distances: BTreeMap<u32, u32>,
}

impl NumaNode {
    /// Whether the node has CPUs.
    pub const fn has_cpus(&self) -> bool {
        !self.cpus.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_reclaimable_pages_as_left() {
        let group = CgroupMemory {
            limit_bytes: 100,
            used_bytes: 90,
            reclaimable_bytes: 30,
            ..CgroupMemory::default()
        };
        assert_eq!(group.left_bytes(), 40);
    }

    #[test]
    fn leaves_nothing_when_the_group_is_over_its_limit() {
        let group = CgroupMemory { limit_bytes: 100, used_bytes: 120, ..CgroupMemory::default() };
        assert_eq!(group.left_bytes(), 0);
    }
}
