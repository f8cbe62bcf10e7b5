//! Where the parts of a case run.

use serde::{Deserialize, Serialize};

/// Where one part of a case runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PartPlacement {
    /// Which of the benchmark's parts, for example `worker` or `sender`.
    pub part: String,
    /// Position among all parts of the case, from 0.
    pub index: u32,
    /// Name of the node that the part runs on.
    pub node: String,
    /// The threads, each with its own CPU; empty when the part takes what it gets.
    #[serde(alias = "seats")]
    pub bindings: Vec<Binding>,
}

impl PartPlacement {
    /// Part `part` of a case, the one of this position, on `node`.
    pub fn new(part: &str, index: u32, node: impl Into<String>, bindings: Vec<Binding>) -> Self {
        Self { part: part.to_owned(), index, node: node.into(), bindings }
    }
}

/// Where one thread runs and its memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Binding {
    /// The hardware thread the thread is pinned to.
    pub cpu: u32,
    /// The NUMA node of that hardware thread.
    pub node: u32,
    /// The last-level cache domain of that hardware thread.
    pub domain: u32,
    /// The NUMA node its memory is bound to; `None` leaves it to the kernel.
    pub memory: Option<u32>,
}
