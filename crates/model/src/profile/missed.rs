//! Verdicts that a profile chooses: on a bound that is missed, and on what is not there to be judged.

use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

/// Verdict on a bound that is missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Missed {
    /// Judged `fail`.
    #[default]
    Fail,
    /// Judged `warn`: worth a look, and no reason to refuse the machine.
    Warn,
}

/// Verdict where there is nothing to judge: no limit for a percentage of it, no value of a setting, no subject of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// Judged `unknown`, and so is the whole run: for acceptance tests.
    #[default]
    Unknown,
    /// Reported with the reason, not judged.
    Skip,
}

impl Missed {
    /// The verdict.
    pub const fn verdict(self) -> Verdict {
        match self {
            Missed::Fail => Verdict::Fail,
            Missed::Warn => Verdict::Warn,
        }
    }
}

impl Absence {
    /// The verdict.
    pub const fn verdict(self) -> Verdict {
        match self {
            Absence::Unknown => Verdict::Unknown,
            Absence::Skip => Verdict::Skip,
        }
    }
}
