//! What a simulated worker will say in one trial.

use seatrial_model::{Evidence, Integrity, Sample};
use serde_json::Value;

use super::fault::Fault;

/// The part that one simulated worker plays in one trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// What it measures. Times count from the start of the measuring phase. The worker does not ask how long that
    /// phase is: at its end all samples are sent, at an earlier `Stop` those that have ended by then.
    pub samples: Vec<Sample>,
    /// What its check of the data finds.
    pub integrity: Integrity,
    /// The facts it collects.
    pub evidence: Evidence,
    /// What its peers are told.
    pub offer: Value,
    pub fault: Option<Fault>,
}

impl Default for Script {
    /// No samples, and nothing goes wrong.
    fn default() -> Self {
        Self {
            samples: Vec::new(),
            integrity: Integrity::Verified { checked: 0 },
            evidence: Evidence::new(),
            offer: Value::Null,
            fault: None,
        }
    }
}

impl Script {
    /// A worker that measures `samples`, and all goes well.
    pub fn of(samples: Vec<Sample>) -> Self {
        Self { samples, ..Self::default() }
    }

    /// A worker that something goes wrong with.
    pub fn faulty(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }
}
