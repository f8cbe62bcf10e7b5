//! Trials that were left out because the time budget was spent.

use serde::{Deserialize, Serialize};

use crate::fact::Fact;

/// The trials that were left out in a case. A fact in its evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotMade {
    /// Disturbed trials that were not repeated.
    pub repeats: u32,
    /// Planned trials that were left out.
    pub planned: u32,
    /// Whether trials for a narrower confidence interval were left out.
    pub precision: bool,
    /// The budget in seconds a node: of the whole run, or of its repeats only.
    pub seconds: f64,
    /// Whether `seconds` is the budget of the whole run.
    pub is_whole_run: bool,
}

impl Fact for NotMade {
    const NAME: &'static str = "not_made";
}
