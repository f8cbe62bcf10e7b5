//! What is recorded of a case, where it does not matter what was measured.

use seatrial_model::record::Summary;
use seatrial_model::{Evidence, Integrity, PartRecord, Sample};

/// The record of the only part of a case in its first trial.
pub fn part(samples: Vec<Sample>) -> PartRecord {
    PartRecord {
        part: "worker".to_owned(),
        index: 0,
        node: "n1".to_owned(),
        trial: 0,
        samples,
        integrity: Integrity::Verified { checked: 1 },
        evidence: Evidence::new(),
    }
}

/// Nine equal values in three trials, without an interval.
pub fn summary(value: f64) -> Summary {
    Summary {
        n: 9,
        trials: 3,
        median: value,
        mad: 0.0,
        min: value,
        max: value,
        mean: value,
        p99: None,
        ci95: None,
    }
}
