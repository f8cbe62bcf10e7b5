//! Main memory: how much, where, in which pages, and how much of it this process may take.

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
    /// What the kernel thinks can be taken without swapping (`MemAvailable`).
    pub available_bytes: Known<u64>,
    /// What this process can take: the available memory, cut to what its control group leaves.
    pub effective_available_bytes: Known<u64>,
    /// The control group limit that binds first; known and none where no group sets one.
    pub cgroup: Known<Option<CgroupMemory>>,
    /// Pools of explicit huge pages, by page size.
    pub huge_pages: Known<Vec<HugePagePool>>,
    /// When the kernel uses transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Known<String>,
    /// Whether the kernel moves pages between nodes behind our back (`kernel.numa_balancing`).
    pub numa_balancing: Known<bool>,
}

/// The tightest memory limit on the way from our control group to the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CgroupMemory {
    /// Control group interface: 1 or 2.
    pub version: u32,
    /// Folder of the group that sets the limit, below its mount point.
    pub group: String,
    /// The limit in bytes.
    pub limit_bytes: u64,
    /// What the group uses now in bytes, page cache included.
    pub used_bytes: u64,
    /// The part of the use that the kernel gives back under pressure: inactive file pages, in bytes.
    pub reclaimable_bytes: u64,
}

impl CgroupMemory {
    /// What the group can still take before the kernel refuses or kills, in bytes.
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
    /// Pages nobody has mapped or reserved.
    pub free: u64,
}

/// A NUMA node: memory at one distance, and the CPUs next to it if there are any.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NumaNode {
    /// The kernel's number of this node; numbers may have gaps.
    pub id: u32,
    /// CPUs of this node, online ones.
    pub cpus: Vec<u32>,
    /// Memory of this node in bytes.
    pub total_bytes: Known<u64>,
    /// Memory of this node that nothing uses, in bytes.
    pub free_bytes: Known<u64>,
    /// What can be taken on this node without swapping, in bytes. The kernel does not offer it for a node, so it is
    /// the free memory and half of the file pages and reclaimable slab, the floor of how the kernel counts
    /// `MemAvailable`; on a machine of one node it is `MemAvailable` itself.
    pub available_bytes: Known<u64>,
    /// Relative distance to every node, itself 10 (ACPI SLIT).
    pub distances: BTreeMap<u32, u32>,
}

impl NumaNode {
    /// Whether any CPU is next to this memory.
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
