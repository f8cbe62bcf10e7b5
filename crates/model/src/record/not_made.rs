//! Trials that a case went without, because the time of the run was spent.

use serde::{Deserialize, Serialize};

use crate::fact::Fact;

/// The trials that a case went without. A fact in the evidence of the case.
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

impl Fact for NotMade {
    const NAME: &'static str = "not_made";
}
