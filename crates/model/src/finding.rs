//! Conclusions over a case or a group of cases.

use serde::{Deserialize, Serialize};

use crate::subject::Subject;
use crate::units::Quantity;

/// How much a finding matters.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Information that asks for no action.
    Info,
    /// The number is to be read with care, or something costs performance.
    Warning,
    /// Something is wrong and should be acted on.
    Problem,
}

/// One conclusion, recomputable from the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Finding {
    /// The sort of conclusion, for example `cache-resident`, `knee`, `did-not-converge`.
    pub kind: String,
    /// The case it is about, when it is about one.
    pub case: Option<String>,
    /// The node it is about, when it is about one.
    pub node: Option<String>,
    /// The thing it is about.
    pub subject: Subject,
    /// How much it matters.
    pub severity: Severity,
    /// Its number, if it has one.
    pub value: Option<Quantity>,
    /// The 95 % interval of the number, in its unit, where it is an estimate that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<(f64, f64)>,
    /// What it rests on: metric, series or evidence names.
    pub evidence: Vec<String>,
    /// One sentence that names the cause and what to do.
    pub text: String,
}

impl Finding {
    /// A finding of `kind` about `subject`, with its sentence.
    pub fn new(kind: &str, severity: Severity, subject: Subject, text: impl Into<String>) -> Self {
        Self {
            kind: kind.to_owned(),
            case: None,
            node: None,
            subject,
            severity,
            value: None,
            ci95: None,
            evidence: Vec::new(),
            text: text.into(),
        }
    }
}
