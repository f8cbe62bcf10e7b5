//! What the parts of a case send back, before any reduction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::param::Params;
use crate::units::{Nanos, Quantity, Unit};
use crate::{Cause, Reason};

/// One observation of one part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Sample {
    /// Name of the observation, for example `pass` or `received`.
    pub channel: String,
    /// Position on the benchmark's axes, for example `threads=2`.
    #[serde(default, skip_serializing_if = "Params::is_empty")]
    pub at: Params,
    /// Start on the node's monotonic clock.
    pub start: Nanos,
    /// End on the same clock.
    pub end: Nanos,
    /// Amount of work between start and end, for example bytes.
    pub amount: Quantity,
}

impl Sample {
    /// `amount` of `channel` at position `at`, in this span of the node's monotonic clock.
    pub fn new(channel: &str, at: Params, (start, end): (Nanos, Nanos), amount: Quantity) -> Self {
        Self { channel: channel.to_owned(), at, start, end, amount }
    }
}

/// Everything that one part sent in one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PartRecord {
    /// Name of the part, such as `sender`.
    pub part: String,
    /// Index among all parts of the case.
    pub index: u32,
    /// The node it ran on.
    pub node: String,
    /// Index of the trial, from 0.
    pub trial: u32,
    /// Samples of the part, in order.
    pub samples: Vec<Sample>,
    /// Result of the verification of the data.
    pub integrity: Integrity,
    /// Further facts: actual placement, page sizes, instruction set.
    #[serde(default)]
    pub evidence: Evidence,
}

/// Named facts that support a result.
pub type Evidence = BTreeMap<String, serde_json::Value>;

/// Result of the verification of the data, made after the clock stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Integrity {
    /// All compared data is correct.
    Verified {
        /// Bytes compared.
        checked: u64,
    },
    /// Some data is wrong.
    Corrupt {
        /// Wrong words.
        wrong: u64,
        /// Words compared.
        of: u64,
        /// Position and value of the first wrong word.
        first: String,
    },
    /// No data was compared.
    Unverified {
        /// Why no data was compared.
        why: String,
    },
}

impl Integrity {
    /// Whether some data is wrong.
    pub fn is_corrupt(&self) -> bool {
        matches!(self, Self::Corrupt { .. })
    }

    /// Result of a check of `of` units that ends at the first error: corrupt data is a result, every other error stays one.
    pub fn of_check(checked: Result<Self, Reason>, of: u64) -> Result<Self, Reason> {
        checked.or_else(|error| match error.cause {
            Cause::CorruptData => Ok(Self::Corrupt { wrong: 1, of, first: error.text }),
            _ => Err(error),
        })
    }

    /// Result over `parts`: corrupt if one part is, verified if all parts are.
    pub fn of_all(parts: impl IntoIterator<Item = Self>) -> Self {
        let nothing = || Self::Unverified { why: "no data was checked".to_owned() };
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

/// Values of one metric in one unit, by trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Values {
    /// The unit of every value.
    pub unit: Unit,
    /// One list of samples per trial.
    pub trials: Vec<Vec<f64>>,
}

/// One row of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Row {
    /// Position on the axes.
    pub at: Params,
    /// Values of all trials at this position.
    pub values: Values,
}

/// Results that a benchmark computes from the records of its parts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Measures {
    /// Values of each metric, by name.
    pub metrics: BTreeMap<String, Values>,
    /// Rows of each series, by name, in the order of the axes.
    pub series: BTreeMap<String, Vec<Row>>,
    /// Facts for the record.
    pub evidence: Evidence,
    /// Conclusions of this benchmark.
    pub findings: Vec<crate::finding::Finding>,
    /// What limits depend on and only the measurement tells, such as the algorithm that a library chose.
    #[serde(default, skip_serializing_if = "Params::is_empty")]
    pub found: Params,
}

impl Measures {
    /// Adds the values of a metric by trial.
    pub fn metric(&mut self, name: &str, unit: Unit, trials: Vec<Vec<f64>>) {
        self.metrics.insert(name.to_owned(), Values { unit, trials });
    }

    /// Adds the values of a metric by trial, unless a trial lacks them: the remaining trials would be no comparison.
    pub fn metric_of_all(&mut self, name: &str, unit: Unit, trials: Vec<Vec<f64>>) {
        if !trials.is_empty() && trials.iter().all(|trial| !trial.is_empty()) {
            self.metric(name, unit, trials);
        }
    }

    /// Keeps the evidence of these names, each of the first of `parts` that has it.
    pub fn keep_evidence<'a>(
        &mut self,
        parts: impl IntoIterator<Item = &'a PartRecord> + Clone,
        names: &[&str],
    ) {
        for name in names {
            let value = parts.clone().into_iter().find_map(|part| part.evidence.get(*name));
            self.evidence.extend(value.map(|value| ((*name).to_owned(), value.clone())));
        }
    }

    /// Keeps what the check of a part's data came to.
    pub fn keep_integrity(&mut self, part: Option<&PartRecord>) {
        self.evidence.insert("integrity".to_owned(), serde_json::json!(part.map(|part| &part.integrity)));
    }
}

impl Sample {
    /// Duration of the observation.
    pub fn span(&self) -> Nanos {
        self.end.since(self.start)
    }

    /// Amount over duration, in base units a second; `None` for a duration of 0.
    pub fn per_second(&self) -> Option<f64> {
        let span = self.span();
        (span > Nanos(0)).then(|| self.amount.base() / span.as_secs())
    }
}
