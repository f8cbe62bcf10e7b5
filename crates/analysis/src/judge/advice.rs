//! Advice when nothing could be judged.

use std::collections::BTreeSet;
use std::path::Path;

use seatrial_model::profile::Profile;
use seatrial_model::{Actor, Remedy, Unit};

use super::Judgement;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingLimit {
    pub test: String,
    pub metric: String,
    pub unit: Unit,
    pub reason: String,
}

/// The file that states the limits whose absence made criteria unknown, beside the profile `typed`.
pub(super) fn state_limits(missing: &[MissingLimit], typed: &str) -> Remedy {
    let file = Path::new(typed).file_name().filter(|_| typed.contains('/'));
    let (how, typed) = match file {
        Some(file) => (" beside this profile, then check by it", format!("./{}", file.display())),
        None => (" as below, then run `seatrial check ./my.toml`", typed.to_owned()),
    };
    let lines = lines_of_file(missing, &typed);
    let metrics: BTreeSet<String> =
        missing.iter().map(|missing| format!("{} {}", missing.test, missing.metric)).collect();
    let metrics = metrics.into_iter().collect::<Vec<_>>().join(", ");
    Remedy::of(
        Actor::User,
        format!(
            "ask the provider for the peak {metrics} of this type of machine (its own, not that of the host), or see the data \
             sheet; write it into a file `my.toml`{how}\n{lines}"
        ),
    )
}

/// A profile that extends `typed` and states the limits, without the values.
fn lines_of_file(missing: &[MissingLimit], typed: &str) -> String {
    let mut text = format!("  extends = [\"{typed}\"]");
    for (test, metric, unit) in places(missing) {
        text += &format!(
            "\n\n  [[limit]]\n  test = \"{test}\"\n  metric = \"{metric}\"\n  value = \"... {unit}\"\n  source = \"where it is known from\""
        );
    }
    text
}

/// Test, metric and unit of each missing limit.
fn places(missing: &[MissingLimit]) -> BTreeSet<(&String, &String, Unit)> {
    missing.iter().map(|missing| (&missing.test, &missing.metric, missing.unit)).collect()
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
        Some(format!(
            "nothing could be judged: the criteria are percentages of limits, and these limits are unknown ({}).\n\
             Supply them by a file such as my.toml, then run `seatrial check ./my.toml`:\n\n{}\n",
            reasons.join("; "),
            lines_of_file(&self.missing_limits, typed)
        ))
    }
}
