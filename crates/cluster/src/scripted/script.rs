//! What a simulated worker does in one trial.

use seatrial_model::{Evidence, Integrity, Sample};
use serde_json::Value;

use super::fault::Fault;

#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Samples, with times from the start of the measurement. At the end of the phase all samples are sent, at an
    /// earlier `Stop` those that have ended by then.
    pub samples: Vec<Sample>,
    pub integrity: Integrity,
    pub evidence: Evidence,
    pub offer: Value,
    /// The parts whose offers the worker asks for; none for those of all.
    pub peers: Option<Vec<u32>>,
    pub fault: Option<Fault>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            samples: Vec::new(),
            integrity: Integrity::Verified { checked: 0 },
            evidence: Evidence::new(),
            offer: Value::Null,
            peers: None,
            fault: None,
        }
    }
}

impl Script {
    pub fn of(samples: Vec<Sample>) -> Self {
        Self { samples, ..Self::default() }
    }

    pub fn faulty(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }
}
