//! Reduces the sets that were made, read and removed to rates.

use seatrial_model::{Cause, Measures, PartRecord, Reason, Sample, Unit};

use super::part::{MADE, READ, REMOVED, UNSYNCED, WRITTEN};
use seatrial_bench::by_coords;
use seatrial_bench::directory::leftovers;

/// Bytes of a megabyte.
const MEGA: f64 = 1e6;

pub fn reduce(parts: &[PartRecord]) -> Result<Measures, Reason> {
    let megabytes = |sample: &Sample| Some(sample.per_second()? / MEGA);
    let mut measures = Measures::default();
    for channel in [WRITTEN, UNSYNCED, READ] {
        for all in by_coords(parts, channel, megabytes) {
            measures.metric(channel, Unit::MegabytesPerSecond, all.trials);
        }
    }
    for channel in [MADE, REMOVED] {
        for all in by_coords(parts, channel, Sample::per_second) {
            measures.metric(channel, Unit::PerSecond, all.trials);
        }
    }
    if !measures.metrics.contains_key(REMOVED) {
        let text = "no data set was made, read and removed within the time; lower -p files= or size=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    measures.keep_evidence(parts.iter().rev(), &["sets"]);
    measures.findings.extend(leftovers(parts));
    Ok(measures)
}
