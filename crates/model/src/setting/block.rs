//! Blocks of a study of settings: what is set for two of four cases.

use serde::{Deserialize, Serialize};

use super::SettingChange;

/// The block of a case: four measurements, two with a setting and two without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SettingBlock {
    /// The setting as typed, or as the profile wants it: `nic.mtu=9000`.
    pub setting: String,
    /// What differs between the two kinds of cases on the nodes of the case.
    pub changes: Vec<NodeChange>,
    /// Place of the case in its block, from 1 to 4.
    pub place: u32,
}

/// A value that a node has during some cases of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NodeChange {
    /// Name of the node.
    pub node: String,
    /// The value that it has otherwise, as the study found it.
    pub before: String,
    /// The value during the cases with the setting.
    #[serde(flatten)]
    pub change: SettingChange,
}
