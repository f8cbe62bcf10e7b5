//! Conclusions over a case or a group of cases.

use serde::{Deserialize, Serialize};

use crate::remedy::Remedy;
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

/// How sure it is that the named node is the one at fault.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Two explanations remain; the text names both, and the command that tells them apart.
    Low,
    /// The node is at least twice as far from the others as chance and the intervals explain; or it failed or loses packets
    /// with three partners or more; or it is seen on the node itself.
    High,
}

/// What taking the cause away would bring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Gain {
    /// The number that the cases would come to, over what they have: above 1 for a rate, below 1 for a time.
    pub factor: f64,
    /// The number that the cases would come to: the median of cases without the cause, or their limit where that is nearer.
    pub to: Quantity,
    /// The cases that would gain.
    pub cases: Vec<String>,
}

/// One conclusion, which can be drawn again from the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Finding {
    /// Kind of conclusion, for example `cache-resident`, `knee`, `did-not-converge`.
    pub kind: String,
    /// The case that the finding is about, if any.
    pub case: Option<String>,
    /// The node that the finding is about, if any.
    pub node: Option<String>,
    /// The node, device or path that the finding is about.
    pub subject: Subject,
    /// How much it matters.
    pub severity: Severity,
    /// The number found, if any.
    pub value: Option<Quantity>,
    /// 95 % confidence interval of `value`, in its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<(f64, f64)>,
    /// What the hardware of the finding costs, by the prices of the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Names of the metrics, series and evidence that support the finding.
    pub evidence: Vec<String>,
    /// One sentence that names the cause; what to do follows it where `remedy` is absent.
    pub text: String,
    /// Id of the rule that tells the cause, of those in docs/diagnosis.md; absent where no rule does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Of a finding that names a node as the one at fault, how sure that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Of a finding with a cause, what taking the cause away would bring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Gain>,
    /// What to do about the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
}

/// The price of the hardware that a case uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Price {
    /// Of all devices together.
    pub amount: f64,
    /// `EUR`, for example.
    pub currency: String,
    /// Number and kind of the devices, with the price of each and the share of what they have in common.
    pub devices: String,
}

impl Finding {
    /// A finding of `kind` about `subject` with the sentence `text`.
    pub fn new(kind: &str, severity: Severity, subject: Subject, text: impl Into<String>) -> Self {
        Self {
            kind: kind.to_owned(),
            case: None,
            node: None,
            subject,
            severity,
            value: None,
            ci95: None,
            price: None,
            evidence: Vec::new(),
            text: text.into(),
            cause: None,
            confidence: None,
            gain: None,
            remedy: None,
        }
    }

    /// The same with what to do about its cause.
    #[must_use]
    pub fn with_remedy(self, remedy: Remedy) -> Self {
        Self { remedy: Some(remedy), ..self }
    }

    /// The sentence with what to do about it.
    pub fn full_text(&self) -> String {
        match &self.remedy {
            Some(remedy) => format!("{}; {remedy}", self.text),
            None => self.text.clone(),
        }
    }
}
