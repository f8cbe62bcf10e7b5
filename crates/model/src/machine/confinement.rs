//! Limits of this process: CPUs, NUMA nodes, resource limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Known;

/// Limits of this process, except cgroup limits of memory and CPU time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Confinement {
    /// CPUs that cpuset and affinity mask both allow; may name CPUs that are offline or absent.
    pub cpus: Known<Vec<u32>>,
    /// NUMA nodes that the cpuset allows for memory; may name absent nodes.
    pub memory_nodes: Known<Vec<u32>>,
    /// Memory that may be locked (`RLIMIT_MEMLOCK`), in bytes. Memory registered with an RDMA device counts.
    pub locked_memory: Known<ProcessLimit>,
    /// Open file descriptors (`RLIMIT_NOFILE`).
    pub open_files: Known<ProcessLimit>,
    /// Real-time priority without privilege (`RLIMIT_RTPRIO`); 0 allows no real-time priority.
    pub realtime_priority: Known<ProcessLimit>,
    /// Address space (`RLIMIT_AS`), in bytes.
    pub address_space: Known<ProcessLimit>,
}

/// A resource limit (getrlimit(2)); null is "no limit".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProcessLimit {
    /// Soft limit, which is in force.
    pub soft: Option<u64>,
    /// Hard limit, up to which the process may raise the soft limit without privilege.
    pub hard: Option<u64>,
}
