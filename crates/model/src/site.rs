//! The nodes a run may use, as far as they are known when it is planned.

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::setting::SettingReading;

/// The nodes at hand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Site {
    /// In the order the launcher gave them.
    pub nodes: Vec<SiteNode>,
}

/// One node of a run with what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SiteNode {
    /// The name the launcher knows it by.
    pub name: String,
    /// The inventory of the node.
    pub machine: Machine,
    /// The settings of its host, as read when the run began.
    #[serde(default)]
    pub settings: Vec<SettingReading>,
}

impl SiteNode {
    /// A node of whose settings nothing is known.
    pub fn new(name: impl Into<String>, machine: Machine) -> Self {
        Self { name: name.into(), machine, settings: Vec::new() }
    }
}

impl Site {
    /// The machine called `name`.
    pub fn machine(&self, name: &str) -> Option<&Machine> {
        self.node(name).map(|node| &node.machine)
    }

    /// The settings of the node called `name`; none when there is no such node.
    pub fn settings(&self, name: &str) -> &[SettingReading] {
        self.node(name).map_or(&[], |node| &node.settings)
    }

    fn node(&self, name: &str) -> Option<&SiteNode> {
        self.nodes.iter().find(|node| node.name == name)
    }
}
