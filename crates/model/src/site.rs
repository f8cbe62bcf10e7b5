//! The nodes of a run, as far as they are known when it is planned.

use serde::{Deserialize, Serialize};

use crate::machine::{Known, Machine};
use crate::param::{Params, Value};
use crate::setting::{NodeChange, Present, SettingChange, SettingReading};

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
    /// The value stands in the reading, and in the facts of interfaces that limits are derived from.
    fn change(&mut self, change: &SettingChange) {
        let SettingChange { setting, subject, wanted } = change;
        for reading in
            self.settings.iter_mut().filter(|old| (&old.setting, &old.subject) == (setting, subject))
        {
            reading.present = Present::Value(wanted.clone());
        }
        let name = subject.as_str().strip_prefix("nic:");
        let Known::Known(nics) = &mut self.machine.nics else { return };
        let Some(nic) = nics.iter_mut().find(|nic| Some(nic.name.as_str()) == name) else { return };
        match (setting.as_str(), wanted) {
            ("nic.mtu", Value::Count(mtu)) => nic.mtu = Known::Known(*mtu),
            ("nic.ipoib_mode", mode) => nic.ipoib_mode = Some(Known::Known(mode.to_string())),
            // The shapers that were there are replaced.
            ("nic.qdisc", _) => nic.queueing = Known::Known(Vec::new()),
            _ => {}
        }
    }

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

    /// The site while nodes have these values of a study of settings.
    #[must_use]
    pub fn during(&self, changes: &[NodeChange]) -> Self {
        let mut site = self.clone();
        for NodeChange { node, change, .. } in changes {
            site.nodes.iter_mut().filter(|other| other.name == *node).for_each(|node| node.change(change));
        }
        site
    }

    /// These nodes alone, in this order; `None` when one is not there.
    pub fn of(&self, names: impl IntoIterator<Item: AsRef<str>>) -> Option<Self> {
        let nodes = names.into_iter().map(|name| self.node(name.as_ref()).cloned());
        Some(Self { nodes: nodes.collect::<Option<_>>()? })
    }

    /// The node `name`.
    pub fn node(&self, name: &str) -> Option<&SiteNode> {
        self.nodes.iter().find(|node| node.name == name)
    }
}
