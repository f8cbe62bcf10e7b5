//! Metrics that several benchmarks make alike from samples and histograms.

use seatrial_bench::Latencies;
use seatrial_model::{Measures, PartRecord, Sample};

pub const MEGA: f64 = 1e6;
pub const MICRO: f64 = 1e3;

pub fn megabytes_per_second(sample: &Sample) -> Option<f64> {
    Some(sample.per_second()? / MEGA)
}

/// Adds the quantiles of these names, and the slowest, of the requests of all parts, unless a part lacks them.
pub fn add_latencies<'a>(
    parts: impl Iterator<Item = &'a PartRecord>,
    quantiles: &[(&str, f64)],
    measures: &mut Measures,
) {
    let read = |part: &PartRecord| Latencies::from_evidence(part.evidence.get("latencies")?);
    let all: Option<Vec<Latencies>> = parts.map(|part| read(part).filter(|all| all.count() > 0)).collect();
    Latencies::add_metrics(&all.unwrap_or_default(), quantiles, MICRO, measures);
}
