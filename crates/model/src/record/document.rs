//! The JSON document that `-o json` prints, and its schema.

use serde::{Deserialize, Serialize};

use super::{CaseRecord, RunInfo};
use crate::finding::Finding;
use crate::verdict::{Verdict, VerdictRecord};

/// Rises when a reader of the old document would misread the new one.
pub const SCHEMA_VERSION: u32 = 2;

/// What `run` and `check` print with `-o json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Document {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The invocation that the results are of.
    pub run: RunInfo,
    /// One record a case, in the order they ended.
    pub results: Vec<CaseRecord>,
    /// Conclusions over cases and groups.
    pub findings: Vec<Finding>,
    /// One judgement a criterion and subject; empty when nothing was to be judged.
    pub verdicts: Vec<VerdictRecord>,
    /// The roll-up; null when nothing was to be judged.
    pub verdict: Option<Verdict>,
}

/// The published JSON schema of [`Document`].
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Document)
}
