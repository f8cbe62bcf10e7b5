//! The nodes a run may use, as far as they are known when it is planned.

use serde::{Deserialize, Serialize};

use crate::machine::Machine;

/// The nodes at hand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Site {
    /// In the order the launcher gave them.
    pub nodes: Vec<SiteNode>,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SiteNode {
    /// The name the launcher knows it by.
    pub name: String,
    /// What it is.
    pub machine: Machine,
}

impl Site {
    /// The machine called `name`.
    pub fn machine(&self, name: &str) -> Option<&Machine> {
        self.nodes.iter().find(|node| node.name == name).map(|node| &node.machine)
    }
}
