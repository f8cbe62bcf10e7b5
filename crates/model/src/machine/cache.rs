//! CPU caches, and the size of the last level for a set of CPUs when sources disagree.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cpu, Known};
use crate::units::Bytes;

/// The caches of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Caches {
    /// Every cache instance in sysfs, by level, kind, then first CPU.
    pub instances: Vec<Cache>,
    /// `sysconf(_SC_LEVEL3_CACHE_SIZE)` in bytes, as the C library reads it from the CPU (cpuid on x86-64).
    pub l3_by_libc_bytes: Known<u64>,
}

/// One instance of a cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cache {
    /// Level, 1 the nearest to the core.
    pub level: u32,
    /// Whether the cache holds data, instructions or both.
    pub kind: CacheKind,
    /// Capacity of the cache in bytes.
    pub size_bytes: u64,
    /// Line length in bytes; null if the kernel does not tell.
    pub line_bytes: Option<u32>,
    /// CPUs that share it.
    pub cpus: Vec<u32>,
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// The cache holds data only.
    Data,
    /// The cache holds instructions only.
    Instruction,
    /// The cache holds data and instructions.
    #[default]
    Unified,
}

/// Capacity of the last-level cache next to some CPUs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastLevelCache {
    /// Level of the cache, 1 the nearest to the core.
    pub level: u32,
    /// Capacity to size buffers by, in bytes: the larger of the sources.
    pub bytes: u64,
    /// How the sources disagree; null if they agree.
    pub disagreement: Option<String>,
}

impl Caches {
    /// The level 3 instances, in the order that [`CpuThread::l3`](super::CpuThread::l3) counts them.
    pub fn l3(&self) -> impl Iterator<Item = &Cache> {
        self.data(3)
    }

    fn data(&self, level: u32) -> impl Iterator<Item = &Cache> {
        let holds_data = move |cache: &&Cache| cache.level == level && cache.kind != CacheKind::Instruction;
        self.instances.iter().filter(holds_data)
    }

    fn top_level(&self) -> Option<u32> {
        self.instances.iter().filter(|cache| cache.kind != CacheKind::Instruction).map(|c| c.level).max()
    }

    pub(super) fn last_level(&self, cpu: &Cpu, cpus: &[u32]) -> Known<LastLevelCache> {
        let wanted: BTreeSet<u32> = cpus.iter().copied().collect();
        let sockets = Sockets::of(cpu, &wanted);
        let libc = self.l3_by_libc_bytes.known().copied().filter(|&bytes| bytes > 0);
        let listed = self.top_level();
        // Where sysfs ends below level 3 and the C library reports one, the library counts.
        let level = if libc.is_some() { listed.unwrap_or(0).max(3) } else { listed.unwrap_or(0) };
        if level == 0 {
            return Known::unknown("neither sysfs nor the C library reports a cache");
        }
        let mut bytes = 0;
        let mut disagreement = None;
        for members in sockets.members.values() {
            let touches = |cache: &&Cache, set: &BTreeSet<u32>| cache.cpus.iter().any(|id| set.contains(id));
            let whole: u64 = self.data(level).filter(|c| touches(c, members)).map(|c| c.size_bytes).sum();
            let used: u64 = self
                .data(level)
                .filter(|c| c.cpus.iter().any(|id| members.contains(id) && wanted.contains(id)))
                .map(|c| c.size_bytes)
                .sum();
            let by_libc = libc.filter(|_| level == 3).unwrap_or(0);
            bytes += if by_libc > whole { by_libc } else { used };
            let one = self.data(level).find(|c| touches(c, members)).map_or(0, |c| c.size_bytes);
            if by_libc > 0 && by_libc != whole && by_libc != one {
                let (sysfs, libc) = (Bytes(whole), Bytes(by_libc));
                disagreement = Some(format!("level 3 cache of a socket: sysfs {sysfs}, C library {libc}"));
            }
        }
        Known::Known(LastLevelCache { level, bytes, disagreement })
    }
}

/// All CPUs of each socket that a set of CPUs touches; CPUs of unknown socket form a socket.
struct Sockets {
    members: BTreeMap<Option<u32>, BTreeSet<u32>>,
}

impl Sockets {
    fn of(cpu: &Cpu, wanted: &BTreeSet<u32>) -> Self {
        let socket_of = |id: u32| cpu.thread(id).and_then(|thread| thread.socket);
        let mut members: BTreeMap<Option<u32>, BTreeSet<u32>> = BTreeMap::new();
        for &id in wanted {
            members.entry(socket_of(id)).or_default().insert(id);
        }
        for thread in &cpu.threads {
            if let Some(set) = members.get_mut(&thread.socket) {
                set.insert(thread.id);
            }
        }
        Self { members }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CpuThread;

    const MIB: u64 = 1 << 20;

    /// Two sockets of four CPUs, two level 3 domains of 32 MiB in each.
    fn caches(libc: Known<u64>) -> (Cpu, Caches) {
        let threads =
            (0..8).map(|id| CpuThread { id, socket: Some(id / 4), online: true, ..CpuThread::default() });
        let instances = (0..4).map(|domain| Cache {
            level: 3,
            size_bytes: 32 * MIB,
            cpus: vec![2 * domain, 2 * domain + 1],
            ..Cache::default()
        });
        let cpu = Cpu { threads: threads.collect(), ..Cpu::default() };
        (cpu, Caches { instances: instances.collect(), l3_by_libc_bytes: libc })
    }

    fn sum(libc: Known<u64>, cpus: &[u32]) -> LastLevelCache {
        let (cpu, caches) = caches(libc);
        caches.last_level(&cpu, cpus).known().cloned().expect("known")
    }

    #[test]
    fn sums_the_domains_in_use_only() {
        assert_eq!(sum(Known::unknown("-"), &[0]).bytes, 32 * MIB);
        assert_eq!(sum(Known::unknown("-"), &[0, 1]).bytes, 32 * MIB);
        assert_eq!(sum(Known::unknown("-"), &[1, 2, 4]).bytes, 96 * MIB);
    }

    #[test]
    fn takes_a_library_that_reports_one_domain_or_one_socket_as_agreeing() {
        for libc in [32, 64] {
            let all = sum(Known::Known(libc * MIB), &[0, 1, 2, 3, 4, 5, 6, 7]);
            assert_eq!((all.bytes, all.disagreement), (128 * MIB, None));
        }
    }

    #[test]
    fn sizes_every_touched_socket_by_a_library_that_claims_more() {
        let one = sum(Known::Known(320 * MIB), &[0]);
        assert_eq!(one.bytes, 320 * MIB);
        let said = one.disagreement.expect("said");
        assert!(said.contains("64 MiB") && said.contains("320 MiB"), "{said}");
        assert_eq!(sum(Known::Known(320 * MIB), &[0, 7]).bytes, 640 * MIB);
    }

    #[test]
    fn says_when_the_library_claims_less_and_keeps_the_larger() {
        let small = sum(Known::Known(8 * MIB), &[0, 1, 2, 3]);
        assert_eq!(small.bytes, 64 * MIB);
        assert!(small.disagreement.is_some());
    }

    #[test]
    fn falls_back_to_the_level_that_exists() {
        let l2 = |cpu| Cache { level: 2, size_bytes: 2 * MIB, cpus: vec![cpu], ..Cache::default() };
        let l1i = Cache { level: 4, kind: CacheKind::Instruction, cpus: vec![0], ..Cache::default() };
        let caches = Caches { instances: vec![l2(0), l2(1), l1i], l3_by_libc_bytes: Known::Known(0) };
        let (cpu, _) = self::caches(Known::unknown("-"));
        let sum = caches.last_level(&cpu, &[0, 1]).known().cloned().expect("known");
        assert_eq!((sum.level, sum.bytes), (2, 4 * MIB));
    }

    #[test]
    fn knows_nothing_without_any_source() {
        let (cpu, _) = caches(Known::unknown("-"));
        assert!(!Caches::default().last_level(&cpu, &[0]).is_known());
    }

    #[test]
    fn believes_the_library_alone_where_sysfs_is_empty() {
        let (cpu, _) = caches(Known::unknown("-"));
        let caches = Caches { l3_by_libc_bytes: Known::Known(40 * MIB), ..Caches::default() };
        let sum = caches.last_level(&cpu, &[0, 4]).known().cloned().expect("known");
        assert_eq!((sum.level, sum.bytes), (3, 80 * MIB));
    }
}
