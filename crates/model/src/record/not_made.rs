//! Trials that a case went without, because the time of the run was spent.

use serde::{Deserialize, Serialize};

use super::CaseRecord;

/// The trials that a case went without. Stands in the evidence of the case, under [`NotMade::KEY`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotMade {
    /// Disturbed trials that were not repeated.
    pub repeats: u32,
    /// Trials of the plan that were not made.
    pub planned: u32,
    /// Whether no trial was added although the interval was wider than asked for.
    pub precision: bool,
    /// The seconds that were to be spent on a node: by the whole run, or by its repeats alone.
    pub seconds: f64,
    /// Whether `seconds` are those of the whole run.
    pub is_whole_run: bool,
}

impl NotMade {
    /// The name of the evidence.
    pub const KEY: &str = "not_made";

    /// What `record` says of it.
    pub fn of(record: &CaseRecord) -> Option<Self> {
        serde_json::from_value(record.evidence.get(Self::KEY)?.clone()).ok()
    }
}
