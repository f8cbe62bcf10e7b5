//! Readings of settings.

use serde::{Deserialize, Serialize};

use super::SettingAbout;
use crate::param::{Params, Value};
use crate::subject::Subject;

/// One setting of one subject of one node, as read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SettingReading {
    /// Id of the setting, such as `nic.mtu`.
    pub setting: String,
    /// Subject of the setting: `node`, `nic:eth0`; `cpus:0-3` where CPUs of a node differ.
    pub subject: Subject,
    /// Facts of the subject, by which a profile selects. `kind` is always set; `by` names the mechanism where there
    /// are several.
    #[serde(default)]
    pub facts: Params,
    /// The value now.
    pub present: Present,
    /// A remark beside the value.
    #[serde(default)]
    pub note: Option<String>,
    /// The counter behind the value, which only grows until a boot, a driver or a tool resets it; absent where the value
    /// is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<u64>,
    /// The counter as the last run of this boot read it; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_before: Option<u64>,
    /// The counter at the end of the run; absent where it was not read again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_after: Option<u64>,
}

/// The value of a setting, or why it is not known: `{"value": …}`, `{"absent": "why"}` or `{"unreadable": "why"}`.
///
/// Reasons are lowercase fragments for the user: what was tried and what the system answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Present {
    /// The value. Sizes and times are text with unit; several values are text, separated by commas.
    Value(Value),
    /// The system does not have the setting; the reason.
    Absent(String),
    /// The setting exists and cannot be read; the reason.
    Unreadable(String),
}

impl SettingReading {
    /// A reading of `about` on a subject without facts.
    pub fn new(about: &SettingAbout, subject: Subject, present: Present) -> Self {
        let mut facts = Params::default();
        facts.set("kind", about.subject);
        Self {
            setting: about.id.to_owned(),
            subject,
            facts,
            present,
            note: None,
            counted: None,
            counted_before: None,
            counted_after: None,
        }
    }

    /// Whether it is a state that nobody chose, such as a count of errors.
    pub fn is_state(&self) -> bool {
        self.setting.starts_with("state.")
    }

    /// Adds a remark for the user.
    #[must_use]
    pub fn noting(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    /// Adds a fact of the subject.
    #[must_use]
    pub fn with_fact(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.facts.set(name, value);
        self
    }
}

impl Present {
    /// The value, if known.
    pub const fn value(&self) -> Option<&Value> {
        match self {
            Present::Value(value) => Some(value),
            Present::Absent(_) | Present::Unreadable(_) => None,
        }
    }

    /// Why there is no value.
    pub fn why(&self) -> Option<&str> {
        match self {
            Present::Value(_) => None,
            Present::Absent(why) | Present::Unreadable(why) => Some(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_survives_a_round_trip_and_tolerates_what_it_does_not_know() {
        let text =
            r#"{"setting": "cpu.boost", "subject": "node", "present": {"absent": "no such file"}, "new": 1}"#;
        let reading: SettingReading = serde_json::from_str(text).expect("reads");
        assert_eq!((reading.present.why(), &reading.note), (Some("no such file"), &None));
        let reading = SettingReading { present: Present::Value(Value::Flag(true)), ..reading }
            .with_fact("by", "intel_pstate")
            .noting("hot");
        let text = serde_json::to_string(&reading).expect("written");
        assert!(text.contains(r#""present":{"value":true}"#), "{text}");
        assert_eq!(serde_json::from_str::<SettingReading>(&text).expect("reads"), reading);
    }
}
