//! Reduces the copies of `storage.copy` to rates and shares of CPU time.

use seatrial_model::{Case, Cause, Measures, PartRecord, Reason, Sample, Unit};

use super::part::{COPIED, HANDED_OVER, SYSTEM, USER};
use crate::device_bytes;
use crate::metrics::megabytes_per_second;
use seatrial_bench::by_coords;

pub fn reduce(_: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let share = |sample: &Sample| {
        let span = sample.span().get();
        (span > 0).then(|| 100.0 * sample.amount.value() / span as f64)
    };
    let mut measures = Measures::default();
    let mut add = |name: &str, unit, channel: &str, value: &dyn Fn(&Sample) -> Option<f64>| {
        for all in by_coords(parts, channel, value) {
            measures.metric(name, unit, all.trials);
        }
    };
    add("throughput", Unit::MegabytesPerSecond, COPIED, &megabytes_per_second);
    add("unsynced", Unit::MegabytesPerSecond, HANDED_OVER, &megabytes_per_second);
    add("user", Unit::Percent, USER, &share);
    add("system", Unit::Percent, SYSTEM, &share);
    if measures.metrics.is_empty() {
        let text = "no copy finished within the time; raise -p time= or lower -p size=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    measures.keep_evidence(parts.iter().rev(), &["path", "copies", "extents", "resident_percent_before"]);
    measures.findings.extend(device_bytes::findings(parts));
    Ok(measures)
}
