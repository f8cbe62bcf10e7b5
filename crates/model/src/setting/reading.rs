//! What a setting was found to be.

use serde::{Deserialize, Serialize};

use super::SettingAbout;
use crate::param::{Params, Value};
use crate::subject::Subject;

/// One setting of one subject of one node, as read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SettingReading {
    /// Id of the setting, such as `nic.mtu`.
    pub setting: String,
    /// What it is set for: `node`, `nic:eth0`; `cpus:0-3` where the CPUs of a node differ.
    pub subject: Subject,
    /// Facts of the subject, which a profile selects by. `kind` is always there; `by` names the mechanism where there
    /// are several.
    #[serde(default)]
    pub facts: Params,
    /// The value that the setting has now.
    pub present: Present,
    /// What a person should know beside the value.
    #[serde(default)]
    pub note: Option<String>,
}

/// What a setting is, or why that cannot be told; `{"value": …}`, `{"absent": "why"}` or `{"unreadable": "why"}`.
///
/// The reasons are lowercase fragments meant for a person: what was tried and what the system answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Present {
    /// The value. Sizes and times are text with their unit; several values are text, parted by commas.
    Value(Value),
    /// There is no such knob here, with the reason.
    Absent(String),
    /// It is there, and its value is not known, with the reason.
    Unreadable(String),
}

impl SettingReading {
    /// A reading of `about` on a subject of which nothing else is known.
    pub fn new(about: &SettingAbout, subject: Subject, present: Present) -> Self {
        let mut facts = Params::default();
        facts.set("kind", about.subject);
        Self { setting: about.id.to_owned(), subject, facts, present, note: None }
    }

    /// The same with a remark for a person.
    #[must_use]
    pub fn noting(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    /// The same with a fact of the subject.
    #[must_use]
    pub fn with_fact(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.facts.set(name, value);
        self
    }
}

impl Present {
    /// The value, if it is known.
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
