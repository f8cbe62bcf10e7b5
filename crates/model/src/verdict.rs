//! Verdicts, and their roll-up.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::remedy::Remedy;
use crate::subject::Subject;
use crate::units::Quantity;

/// Verdict on one criterion or a whole run, in order of weight: the heaviest wins in a roll-up.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The criterion does not apply here.
    Skip,
    /// The criterion is met.
    Pass,
    /// Met, with a warning.
    Warn,
    /// The criterion could not be judged.
    Unknown,
    /// The criterion is not met.
    Fail,
}

impl Verdict {
    /// The heaviest of `verdicts`; `None` when there are none.
    pub fn roll_up(verdicts: impl IntoIterator<Item = Verdict>) -> Option<Verdict> {
        verdicts.into_iter().max()
    }

    /// Name of the verdict in records and on the terminal.
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Skip => "skip",
            Verdict::Pass => "pass",
            Verdict::Warn => "warn",
            Verdict::Unknown => "unknown",
            Verdict::Fail => "fail",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// Verdict on one criterion, one subject and one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct VerdictRecord {
    /// Id of the criterion, or test and metric.
    pub criterion: String,
    /// Id of the test.
    pub test: String,
    /// The judged case, if any.
    pub case: Option<String>,
    /// The judged node, if one.
    pub node: Option<String>,
    /// The node, device, pair or path that was judged.
    pub subject: Subject,
    /// Whether the criterion is met.
    pub verdict: Verdict,
    /// The measured value, in the unit of the bound.
    pub measured: Option<Quantity>,
    /// The value of a setting, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub present: Option<String>,
    /// Ends of the 95 % confidence interval of the measured value, in the unit of the bound.
    pub interval: Option<(Quantity, Quantity)>,
    /// The bound, in words: `at least 9 Gbit/s`.
    pub bound: String,
    /// Distance from the bound in percent of it; positive when met, negative when missed.
    pub margin_percent: Option<f64>,
    /// Why the verdict is not a plain pass or fail.
    pub reason: Option<String>,
    /// What to do about a verdict that is not a pass, where that follows from the verdict alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
    /// Who waived it and until when, if waived.
    pub waiver: Option<String>,
}

/// Where the wanted values are of a bound with one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedSide {
    /// At the bound and above.
    AtLeast,
    /// At the bound and below.
    AtMost,
}

impl VerdictRecord {
    /// A verdict on no case, of no node and without a measured value.
    pub fn new(
        criterion: impl Into<String>,
        test: impl Into<String>,
        subject: Subject,
        verdict: Verdict,
        bound: impl Into<String>,
    ) -> Self {
        Self {
            criterion: criterion.into(),
            test: test.into(),
            case: None,
            node: None,
            subject,
            verdict,
            measured: None,
            present: None,
            interval: None,
            bound: bound.into(),
            margin_percent: None,
            reason: None,
            remedy: None,
            waiver: None,
        }
    }

    /// `None` of a bound with two ends, of an exact value, and of a setting's words.
    pub fn wanted_side(&self) -> Option<WantedSide> {
        let begins = |words: &str| self.bound.starts_with(words);
        match () {
            () if begins("at least ") => Some(WantedSide::AtLeast),
            () if begins("at most ") => Some(WantedSide::AtMost),
            () => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fail_outweighs_unknown_outweighs_warn_outweighs_pass_outweighs_skip() {
        use Verdict::{Fail, Pass, Skip, Unknown, Warn};
        assert_eq!(Verdict::roll_up([Pass, Unknown, Fail, Warn]), Some(Fail));
        assert_eq!(Verdict::roll_up([Pass, Unknown, Warn]), Some(Unknown));
        assert_eq!(Verdict::roll_up([Pass, Warn, Skip]), Some(Warn));
        assert_eq!(Verdict::roll_up([Skip, Pass]), Some(Pass));
        assert_eq!(Verdict::roll_up([]), None);
    }
}
