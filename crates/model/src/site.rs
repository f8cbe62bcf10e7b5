//! The nodes of a run, as far as they are known when it is planned.

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::param::Params;
use crate::setting::SettingReading;

/// The nodes of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Site {
    /// The nodes, in the order of the launcher.
    pub nodes: Vec<SiteNode>,
}

/// One node of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SiteNode {
    /// Name of the node at the launcher.
    pub name: String,
    /// Inventory of the node.
    pub machine: Machine,
    /// Settings of the node, as read when the run began.
    #[serde(default)]
    pub settings: Vec<SettingReading>,
    /// While a test is planned, the facts that a tested part of the node must have (`on` of the test); else empty.
    #[serde(skip)]
    pub on: Params,
}

impl SiteNode {
    /// A node with unknown settings.
    pub fn new(name: impl Into<String>, machine: Machine) -> Self {
        Self { name: name.into(), machine, settings: Vec::new(), on: Params::default() }
    }
}

impl Site {
    /// The machine of the node `name`.
    pub fn machine(&self, name: &str) -> Option<&Machine> {
        self.node(name).map(|node| &node.machine)
    }

    /// The settings of the node `name`; empty when there is no such node.
    pub fn settings(&self, name: &str) -> &[SettingReading] {
        self.node(name).map_or(&[], |node| &node.settings)
    }

    /// The node `name`.
    pub fn node(&self, name: &str) -> Option<&SiteNode> {
        self.nodes.iter().find(|node| node.name == name)
    }
}
