//! What disturbed the trials of a run, over all its cases.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{DisturbedTrials, Fact, RepeatedTrials};

use crate::judge::disturbed::disturbed_by;

/// The disturbed trials of a run, and who disturbed them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disturbances {
    /// Disturbed trials, and trials made.
    pub trials: u64,
    pub of: u64,
    /// Cases with a disturbed trial in their numbers.
    pub cases: usize,
    /// The smallest and the largest share of the CPU time by process, in percent.
    pub by: BTreeMap<String, (f64, f64)>,
}

/// The disturbances of `records`; `None` if all disturbed trials were repeated.
pub fn disturbances(records: &[CaseRecord]) -> Option<Disturbances> {
    let mut found = Disturbances::default();
    for case in records {
        let disturbed = DisturbedTrials::of(&case.evidence).map_or(0, |trials| trials.0.len() as u64);
        let repeated = u64::from(RepeatedTrials::of(&case.evidence).unwrap_or_default().0);
        let kept = case.metrics.values().map(|metric| metric.trials).max().unwrap_or(0);
        found.of += kept + repeated;
        found.trials += disturbed;
        if disturbed <= repeated {
            continue;
        }
        found.cases += 1;
        let by = disturbed_by(case).and_then(|by| Some((by.name, by.percent?)));
        if let Some((name, percent)) = by {
            let (low, high) = found.by.entry(name).or_insert((percent, percent));
            (*low, *high) = (low.min(percent), high.max(percent));
        }
    }
    (found.cases > 0).then_some(found)
}
