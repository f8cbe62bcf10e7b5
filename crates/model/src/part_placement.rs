//! Placement of the parts of a case.

use serde::{Deserialize, Serialize};

/// Placement of one part of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PartPlacement {
    /// Name of the part, for example `worker` or `sender`.
    pub part: String,
    /// Position among all parts of the case, from 0.
    pub index: u32,
    /// Node that the part runs on.
    pub node: String,
    /// CPU and memory of each thread; empty when the part is not bound.
    #[serde(alias = "seats")]
    pub bindings: Vec<Binding>,
}

impl PartPlacement {
    /// Part `part` of a case at position `index`, on `node`.
    pub fn new(part: &str, index: u32, node: impl Into<String>, bindings: Vec<Binding>) -> Self {
        Self { part: part.to_owned(), index, node: node.into(), bindings }
    }

    /// CPU of the thread of this number; none leaves it to the scheduler.
    pub fn cpu(&self, thread: usize) -> Option<u32> {
        self.bindings.get(thread).map(|binding| binding.cpu)
    }
}

/// CPU and memory of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Binding {
    /// CPU (hardware thread) that the thread is pinned to.
    pub cpu: u32,
    /// NUMA node of that CPU.
    pub node: u32,
    /// Last-level cache domain of that CPU.
    pub domain: u32,
    /// NUMA node that its memory is bound to; null leaves it to the kernel.
    pub memory: Option<u32>,
}
