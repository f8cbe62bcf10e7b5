//! The JSON document of a settings audit, and its schema.

use serde::{Deserialize, Serialize};

use super::SettingReading;
use crate::param::Value;
use crate::record::ProfileRef;
use crate::verdict::{Verdict, VerdictRecord};

/// What `seatrial settings` prints with `-o json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SettingsDocument {
    /// [`SettingsDocument::SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of Seatrial that wrote the document.
    pub seatrial: String,
    /// The profile that settings are judged against; null when none was given.
    pub profile: Option<ProfileRef>,
    /// Names of the audited nodes.
    pub nodes: Vec<String>,
    /// One entry per node, setting and subject, in the order of the list of settings.
    pub settings: Vec<AuditedSetting>,
    /// One verdict per rule and subject; also for rules without subject. Empty without a profile.
    pub verdicts: Vec<VerdictRecord>,
    /// Verdict over all; null when nothing was judged.
    pub verdict: Option<Verdict>,
}

/// One setting of one subject, and what profiles require.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AuditedSetting {
    /// Name of the node that was read.
    pub node: String,
    /// The reading of the setting.
    #[serde(flatten)]
    pub reading: SettingReading,
    /// What the profile requires; without a profile, what the shipped profiles require.
    #[serde(default)]
    pub wanted: Vec<Wanted>,
}

/// What a profile requires of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Wanted {
    /// Id of the profile.
    pub profile: String,
    /// The requirement in words: `at least 16 MiB`.
    pub bound: String,
    /// Reason that the profile gives.
    pub why: Option<String>,
    /// Whether the requirement is met.
    pub verdict: Verdict,
    /// Why the verdict is not a plain pass.
    pub reason: Option<String>,
    /// The value that would meet it, where the present one does not.
    #[serde(default)]
    pub value: Option<Value>,
    /// The command that sets the value, where it differs and a command is known.
    pub change: Option<String>,
    /// Who waived it and until when, if waived.
    pub waiver: Option<String>,
}

impl SettingsDocument {
    /// Raised when a reader of the old document would misread the new one.
    pub const SCHEMA: u32 = 1;
}

/// The published JSON schema of [`SettingsDocument`].
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(SettingsDocument)
}
