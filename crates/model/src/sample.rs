//! What the parts of a case send back: the raw truth, before any reduction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::param::Params;
use crate::units::{Nanos, Quantity, Unit};

/// One observation of one part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Sample {
    /// What was observed, for example `pass` or `received`; the benchmark's own word.
    pub channel: String,
    /// The place on the benchmark's axes, for example `threads=2`.
    #[serde(default, skip_serializing_if = "Params::is_empty")]
    pub at: Params,
    /// Start on the node's monotonic clock.
    pub start: Nanos,
    /// End on the same clock.
    pub end: Nanos,
    /// How much was done between the two, for example bytes.
    pub amount: Quantity,
}

impl Sample {
    /// `amount` of `channel` at `at` on the axes, done in this span of the node's monotonic clock.
    pub fn new(channel: &str, at: Params, (start, end): (Nanos, Nanos), amount: Quantity) -> Self {
        Self { channel: channel.to_owned(), at, start, end, amount }
    }
}

/// Everything one part said in one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PartRecord {
    /// The part's name, such as `sender`.
    pub part: String,
    /// Position among all parts of the case.
    pub index: u32,
    /// The node it ran on.
    pub node: String,
    /// The trial, from 0.
    pub trial: u32,
    /// Observations of the part in the order that it made them.
    pub samples: Vec<Sample>,
    /// What the check of the data found.
    pub integrity: Integrity,
    /// What else the part knows: placement found, pages, instruction set.
    #[serde(default)]
    pub evidence: Evidence,
}

/// Named facts that support a result.
pub type Evidence = BTreeMap<String, serde_json::Value>;

/// What the check of the moved data found after the clock stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Integrity {
    /// All of it was as expected.
    Verified {
        /// Bytes that were compared with what they should be.
        checked: u64,
    },
    /// Some data was not as expected.
    Corrupt {
        /// Words that differ from what was expected.
        wrong: u64,
        /// Words that were compared.
        of: u64,
        /// Where and how the first one differs.
        first: String,
    },
    /// Nothing could be looked at.
    Unverified {
        /// Why nothing could be compared.
        why: String,
    },
}

impl Integrity {
    /// Whether data were not as expected.
    pub fn is_corrupt(&self) -> bool {
        matches!(self, Self::Corrupt { .. })
    }

    /// The check of all of `parts`: corrupt where one is, verified where all are.
    pub fn of_all(parts: impl IntoIterator<Item = Self>) -> Self {
        let nothing = || Self::Unverified { why: "nothing was checked".to_owned() };
        parts.into_iter().reduce(Self::and).unwrap_or_else(nothing)
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Corrupt { wrong, of, first }, Self::Corrupt { wrong: more, of: others, .. }) => {
                Self::Corrupt { wrong: wrong + more, of: of + others, first }
            }
            (corrupt @ Self::Corrupt { .. }, _) | (_, corrupt @ Self::Corrupt { .. }) => corrupt,
            (Self::Verified { checked }, Self::Verified { checked: more }) => {
                Self::Verified { checked: checked + more }
            }
            (Self::Verified { .. }, unverified) | (unverified, _) => unverified,
        }
    }
}

/// Values of one metric: trials of samples, all in one unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Values {
    /// The unit of every value.
    pub unit: Unit,
    /// One list of samples a trial.
    pub trials: Vec<Vec<f64>>,
}

/// One row of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Row {
    /// The place on the axes.
    pub at: Params,
    /// Values of all trials at that place.
    pub values: Values,
}

/// What a benchmark makes of the records of its parts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Measures {
    /// Values of each metric by its name.
    pub metrics: BTreeMap<String, Values>,
    /// By series, rows in the order of the axes.
    pub series: BTreeMap<String, Vec<Row>>,
    /// Facts for the record.
    pub evidence: Evidence,
    /// Conclusions that only this benchmark can draw.
    pub findings: Vec<crate::finding::Finding>,
}

impl Measures {
    /// Adds the values of a metric by trial.
    pub fn metric(&mut self, name: &str, unit: Unit, trials: Vec<Vec<f64>>) {
        self.metrics.insert(name.to_owned(), Values { unit, trials });
    }
}

impl Sample {
    /// How long the observation took.
    pub fn span(&self) -> Nanos {
        self.end.since(self.start)
    }

    /// The amount over the span, in base units a second; `None` for an empty span.
    pub fn per_second(&self) -> Option<f64> {
        let span = self.span();
        (span > Nanos(0)).then(|| self.amount.value() * self.amount.unit().factor() / span.as_secs())
    }
}
