//! The JSON document that `-o json` prints, and its schema.

use serde::{Deserialize, Serialize};

use super::{CaseRecord, RunInfo};
use crate::finding::Finding;
use crate::verdict::{Verdict, VerdictRecord};

/// Raised when a reader of the old document would misread the new one.
pub const SCHEMA_VERSION: u32 = 2;

/// What `run` and `check` print with `-o json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Document {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The run.
    pub run: RunInfo,
    /// One record per case, in the order that cases ended.
    pub results: Vec<CaseRecord>,
    /// Conclusions over cases and groups of cases.
    pub findings: Vec<Finding>,
    /// One verdict per criterion and subject; empty when nothing was judged.
    pub verdicts: Vec<VerdictRecord>,
    /// Verdict of the whole run; null when nothing was judged.
    pub verdict: Option<Verdict>,
}

/// The published JSON schema of [`Document`].
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Document)
}
