//! Verdicts that a profile chooses: on a bound that is missed, and on a setting without a value.

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

/// Handling of a setting that the machine does not have, or that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WithoutValue {
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

impl WithoutValue {
    /// The verdict.
    pub const fn verdict(self) -> Verdict {
        match self {
            WithoutValue::Unknown => Verdict::Unknown,
            WithoutValue::Skip => Verdict::Skip,
        }
    }
}
