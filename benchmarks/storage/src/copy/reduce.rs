//! Reduces the copies of `storage.copy` to rates and shares of CPU time.

use seatrial_model::{Case, Cause, Measures, PartRecord, Reason, Sample, Unit};

use super::part::{COPIED, HANDED_OVER, SYSTEM, USER};
use crate::device_bytes;

const MEGA: f64 = 1e6;

pub fn reduce(_: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let rate = |sample: &Sample| Some(sample.per_second()? / MEGA);
    let share = |sample: &Sample| {
        let span = sample.span().get();
        (span > 0).then(|| 100.0 * sample.amount.value() / span as f64)
    };
    let mut measures = Measures::default();
    let mut add = |name: &str, unit, channel: &str, value: &dyn Fn(&Sample) -> Option<f64>| {
        let of = |part: &PartRecord| -> Vec<f64> {
            part.samples.iter().filter(|sample| sample.channel == channel).filter_map(value).collect()
        };
        let trials: Vec<Vec<f64>> = parts.iter().map(of).filter(|trial| !trial.is_empty()).collect();
        if !trials.is_empty() {
            measures.metric(name, unit, trials);
        }
    };
    add("throughput", Unit::MegabytesPerSecond, COPIED, &rate);
    add("unsynced", Unit::MegabytesPerSecond, HANDED_OVER, &rate);
    add("user", Unit::Percent, USER, &share);
    add("system", Unit::Percent, SYSTEM, &share);
    if measures.metrics.is_empty() {
        let text = "no copy finished within the time; raise -p time= or lower -p size=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    for name in ["path", "copies", "resident_percent_before"] {
        if let Some(value) = parts.iter().rev().find_map(|part| part.evidence.get(name)) {
            measures.evidence.insert(name.to_owned(), value.clone());
        }
    }
    measures.findings.extend(device_bytes::findings(parts));
    Ok(measures)
}
