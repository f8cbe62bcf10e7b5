//! What the system leaves to this process: CPUs, memory nodes, resource limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Known;

/// The bounds set around this process, apart from the control groups' shares of memory and CPU time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Confinement {
    /// CPUs that the cpuset and the affinity mask together allow, as the kernel lists them; may name CPUs that are
    /// offline or absent.
    pub cpus: Known<Vec<u32>>,
    /// NUMA nodes that the cpuset lets memory come from; may name nodes that are absent.
    pub memory_nodes: Known<Vec<u32>>,
    /// Memory that may be locked, in bytes. Memory registered with an RDMA device counts.
    pub locked_memory: Known<ProcessLimit>,
    /// Most file descriptors that a process may open.
    pub open_files: Known<ProcessLimit>,
    /// Real-time priority that may be asked for without privilege; 0 means none.
    pub realtime_priority: Known<ProcessLimit>,
    /// Address space in bytes.
    pub address_space: Known<ProcessLimit>,
}

/// A resource limit (getrlimit(2)); none is "no limit".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProcessLimit {
    /// The limit in force.
    pub soft: Option<u64>,
    /// How far the process may raise it without privilege.
    pub hard: Option<u64>,
}
