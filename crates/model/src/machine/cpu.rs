//! CPUs: sockets, cores and hardware threads.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Known;

/// The processors of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cpu {
    /// Vendor as the CPU names it: `GenuineIntel`, `AuthenticAMD`, `ARM`.
    pub vendor: Known<String>,
    /// Model name as the CPU or the kernel gives it.
    pub model: Known<String>,
    /// Sockets with at least one CPU online.
    pub sockets: Known<u32>,
    /// Physical cores with at least one hardware thread online.
    pub cores: Known<u32>,
    /// Instruction set extensions that this process may use, as the kernel spells them: `sse2`, `avx2`, `avx512f`,
    /// `neon`.
    pub isa: Known<Vec<String>>,
    /// The cgroup limit on CPU time that binds first; known and null where no cgroup sets one.
    pub quota: Known<Option<CpuQuota>>,
    /// The processor family and the fastest memory that its processors support.
    pub family: Known<ProcessorFamily>,
    /// Every hardware thread present, by id.
    pub threads: Vec<CpuThread>,
}

/// A family of processors with the memory that the largest of them have: no processor of the family has more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProcessorFamily {
    /// Name of the family, as its maker calls it.
    pub name: String,
    /// Memory channels of a socket.
    pub channels: u32,
    /// Fastest supported transfer rate of a channel in MT/s.
    pub mts: u32,
    /// Bytes of a transfer.
    pub channel_bytes: u32,
    /// Source of these numbers.
    pub source: String,
}

/// A cgroup limit on CPU time: `quota_us` of running in every `period_us`, over all CPUs together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CpuQuota {
    /// Path of the cgroup that sets the limit, below the mount point.
    pub group: String,
    /// Running time allowed in a period, in microseconds.
    pub quota_us: u64,
    /// Length of a period in microseconds.
    pub period_us: u64,
}

/// One hardware thread, which the kernel calls a CPU. Where the kernel does not tell a position, it is null and the
/// machine's remarks hold the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CpuThread {
    /// Id of the CPU in the kernel.
    pub id: u32,
    /// Physical core: an index over the whole machine, by first thread. The kernel's `core_id` repeats from socket to
    /// socket and has gaps.
    pub core: Option<u32>,
    /// Socket: physical package id of the kernel.
    pub socket: Option<u32>,
    /// Id of the NUMA node that the thread belongs to.
    pub node: Option<u32>,
    /// Level 3 cache domain: an index into [`Caches::l3`](super::Caches::l3).
    pub l3: Option<u32>,
    /// Rank among the threads of its core, by id, from 0.
    pub smt_rank: Option<u32>,
    /// Whether the CPU is online.
    pub online: bool,
    /// Whether affinity mask and cpuset allow this process to run on it.
    pub allowed: bool,
}

impl CpuThread {
    /// Whether this process can run on the thread now.
    pub const fn usable(&self) -> bool {
        self.online && self.allowed
    }
}

impl Cpu {
    /// The hardware thread with this id.
    pub fn thread(&self, id: u32) -> Option<&CpuThread> {
        self.threads.iter().find(|thread| thread.id == id)
    }

    /// Threads that this process can run on.
    pub fn usable(&self) -> impl Iterator<Item = &CpuThread> {
        self.threads.iter().filter(|thread| thread.usable())
    }

    /// The first usable thread of each core. A thread of unknown core counts as a core.
    pub fn one_per_core(&self) -> impl Iterator<Item = &CpuThread> {
        let mut taken = BTreeSet::new();
        self.usable().filter(move |thread| thread.core.is_none_or(|core| taken.insert(core)))
    }

    /// Whether an instruction set extension is usable.
    pub fn has_isa(&self, name: &str) -> bool {
        self.isa.known().is_some_and(|list| list.iter().any(|have| have == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(id: u32, core: Option<u32>, allowed: bool) -> CpuThread {
        CpuThread { id, core, online: true, allowed, ..CpuThread::default() }
    }

    fn ids<'a>(threads: impl Iterator<Item = &'a CpuThread>) -> Vec<u32> {
        threads.map(|thread| thread.id).collect()
    }

    #[test]
    fn takes_the_first_allowed_thread_of_each_core() {
        let threads = vec![
            thread(0, Some(0), false),
            thread(1, Some(1), true),
            thread(2, Some(0), true),
            thread(3, Some(1), true),
        ];
        let cpu = Cpu { threads, ..Cpu::default() };
        assert_eq!(ids(cpu.usable()), [1, 2, 3]);
        assert_eq!(ids(cpu.one_per_core()), [1, 2]);
    }

    #[test]
    fn counts_threads_of_unknown_core_one_by_one() {
        let threads = vec![thread(0, None, true), thread(1, None, true)];
        let cpu = Cpu { threads, ..Cpu::default() };
        assert_eq!(ids(cpu.one_per_core()), [0, 1]);
    }

    #[test]
    fn never_uses_an_offline_thread() {
        let cpu =
            Cpu { threads: vec![CpuThread { online: false, ..thread(0, Some(0), true) }], ..Cpu::default() };
        assert_eq!(cpu.usable().count(), 0);
        assert_eq!(cpu.thread(0).map(|thread| thread.id), Some(0));
    }
}
