//! The JSON document of an audit, and its schema.

use serde::{Deserialize, Serialize};

use super::SettingReading;
use crate::record::ProfileRef;
use crate::verdict::{Verdict, VerdictRecord};

/// What `seatrial settings` prints with `-o json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SettingsDocument {
    /// [`SettingsDocument::SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of Seatrial that wrote the document.
    pub seatrial: String,
    /// The profile judged against; null when none was asked for.
    pub profile: Option<ProfileRef>,
    /// Names of the nodes that were audited.
    pub nodes: Vec<String>,
    /// One a setting and subject of a node, in the order of the list of settings.
    pub settings: Vec<AuditedSetting>,
    /// One judgement a rule and subject; also rules that found no subject. Empty without a profile.
    pub verdicts: Vec<VerdictRecord>,
    /// The roll-up; null when nothing was to be judged.
    pub verdict: Option<Verdict>,
}

/// One setting of one subject, and what profiles want of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AuditedSetting {
    /// Name of the node that was read.
    pub node: String,
    /// The setting's value on that node.
    #[serde(flatten)]
    pub reading: SettingReading,
    /// What the profile wants of it; without a profile, what the shipped ones want.
    #[serde(default)]
    pub wanted: Vec<Wanted>,
}

/// What a profile wants of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Wanted {
    /// Id of the profile that wants the value.
    pub profile: String,
    /// What the value must satisfy, in words: `at least 16 MiB`.
    pub bound: String,
    /// Who wants it, in the profile's own words.
    pub why: Option<String>,
    /// Whether it is so.
    pub verdict: Verdict,
    /// Why it is no plain pass.
    pub reason: Option<String>,
    /// The command that would set it, where it differs and a way is known.
    pub change: Option<String>,
    /// Who waived it until when, if someone did.
    pub waiver: Option<String>,
}

impl SettingsDocument {
    /// Rises when a reader of the old document would misread the new one.
    pub const SCHEMA: u32 = 1;
}

/// The published JSON schema of [`SettingsDocument`].
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(SettingsDocument)
}
