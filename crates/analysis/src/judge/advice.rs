//! Advice when nothing could be judged.

use std::collections::BTreeSet;

use seatrial_model::Unit;
use seatrial_model::profile::Profile;

use super::Judgement;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingLimit {
    pub test: String,
    pub metric: String,
    pub unit: Unit,
    pub reason: String,
}

impl Judgement {
    /// Advice when no criterion could be judged; `None` when one was judged. If limits are missing the advice
    /// includes a profile to copy that states them and extends `typed`, the profile as given after `check`.
    pub fn advice(&self, profile: &Profile, typed: &str) -> Option<String> {
        if self.has_judged_something() {
            return None;
        }
        if profile.criteria.is_empty() && profile.settings.is_empty() {
            return Some(
                "nothing could be judged: the profile has no [[criterion]] and no [[setting]]".to_owned(),
            );
        }
        if self.missing_limits.is_empty() {
            return Some("nothing could be judged; the reasons are printed beside the criteria".to_owned());
        }
        let reasons: BTreeSet<&str> =
            self.missing_limits.iter().map(|missing| missing.reason.as_str()).collect();
        let reasons: Vec<&str> = reasons.into_iter().collect();
        let places: BTreeSet<_> = self
            .missing_limits
            .iter()
            .map(|missing| (&missing.test, &missing.metric, missing.unit))
            .collect();
        let mut text = format!(
            "nothing could be judged: the criteria are percentages of limits, and these limits are unknown ({}).\n\
             Supply them by a file such as my.toml, then run `seatrial check ./my.toml`:\n\n  extends = [\"{}\"]\n",
            reasons.join("; "),
            typed
        );
        for (test, metric, unit) in places {
            text += &format!(
                "\n  [[limit]]\n  test = \"{test}\"\n  metric = \"{metric}\"\n  value = \"... {unit}\"\n  source = \"where it is known from\"\n"
            );
        }
        Some(text)
    }
}
