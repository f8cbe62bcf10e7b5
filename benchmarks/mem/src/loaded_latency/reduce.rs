//! Reduces timed runs to the curve of latency over load, and its knee.

use seatrial_model::{
    Case, Cause, Finding, Measures, PartRecord, Quantity, Reason, Sample, Severity, Subject, Unit,
};
use seatrial_stats::{Bend, knee};

use super::part::{CHASE, LOAD};
use crate::chase::hop_ns;
use seatrial_bench::{AtCoords, by_coords, numa_check};

/// Least ratio of the latency to the idle latency at a knee: the knee detection has no scale and finds bends in noise
/// too.
const LEAST_RISE: f64 = 1.2;

pub fn reduce(_: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let curve = Curve::of(parts);
    let (Some(idle), Some(full), Some(peak)) =
        (curve.latencies.first(), curve.latencies.last(), curve.peak())
    else {
        let text = "no run was long enough for the resolution of the clock; raise -p time=";
        return Err(Reason::new(Cause::TooShort, text));
    };
    if step(idle) != 0 || step(full) != 100 {
        let text = "the time was over before every load step from idle to full was measured; raise -p time=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    let mut measures = Measures::default();
    let mut metric = |name: &str, unit, trials: &[Vec<f64>]| {
        measures.metric(name, unit, trials.to_vec());
    };
    metric("loaded", Unit::Nanosecond, &full.trials);
    metric("idle", Unit::Nanosecond, &idle.trials);
    metric("bandwidth", Unit::GigabytesPerSecond, &peak.trials);
    // A bend that only some trials show, but not all together, is noise.
    if curve.knee().is_some() {
        let knees: Vec<Vec<f64>> = trials(parts)
            .filter_map(|trial| Curve::of(trial).knee().map(|knee| vec![knee.bandwidth]))
            .collect();
        if !knees.is_empty() {
            metric("knee", Unit::GigabytesPerSecond, &knees);
        }
    }
    measures.findings.push(curve.finding());
    let rows = |places: &[AtCoords], unit| places.iter().map(|place| place.row(unit)).collect();
    measures.series.insert("curve".to_owned(), rows(&curve.latencies, Unit::Nanosecond));
    measures.series.insert("delivered".to_owned(), rows(&curve.rates, Unit::GigabytesPerSecond));
    measures.keep_evidence(parts.first(), &["place", "pages", "loaders", "isa", "clock", "probes"]);
    measures.keep_integrity(parts.first());
    measures.findings.extend(parts.iter().find_map(|part| numa_check(&part.evidence)));
    Ok(measures)
}

fn trials(parts: &[PartRecord]) -> impl Iterator<Item = &[PartRecord]> {
    parts.chunk_by(|before, after| before.trial == after.trial)
}

struct Curve {
    latencies: Vec<AtCoords>,
    rates: Vec<AtCoords>,
}

struct Departure {
    bandwidth: f64,
    /// In nanoseconds.
    latency: f64,
}

impl Curve {
    fn of(parts: &[PartRecord]) -> Self {
        let mut latencies = by_coords(parts, CHASE, hop_ns);
        let mut rates = by_coords(parts, LOAD, gigabytes_per_second);
        latencies.sort_by_key(step);
        rates.sort_by_key(step);
        Self { latencies, rates }
    }

    fn peak(&self) -> Option<&AtCoords> {
        self.rates.iter().max_by(|a, b| a.median().total_cmp(&b.median()))
    }

    /// The knee, if the latency has one. A step that moves no more than the one before is left out: beyond saturation
    /// the latency still rises, but not over bandwidth.
    fn knee(&self) -> Option<Departure> {
        let (mut x, mut y): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for latency in &self.latencies {
            let Some(rate) = self.rates.iter().find(|rate| rate.at == latency.at) else { continue };
            if x.last().is_none_or(|last| rate.median() > *last) {
                x.push(rate.median());
                y.push(latency.median());
            }
        }
        let highest = y.iter().copied().fold(0.0, f64::max);
        if y.first().is_none_or(|idle| highest < LEAST_RISE * idle) {
            return None;
        }
        // After a bend at the last step nothing rises.
        let found = knee(&x, &y, Bend::TakesOff).ok().flatten().filter(|found| found.index + 1 < x.len())?;
        Some(Departure { bandwidth: x[found.index], latency: y[found.index] })
    }

    fn finding(&self) -> Finding {
        let at = |place: Option<&AtCoords>| place.map_or(0.0, AtCoords::median);
        let (idle, full, peak) = (at(self.latencies.first()), at(self.latencies.last()), at(self.peak()));
        let (kind, text, value) = match self.knee() {
            Some(Departure { bandwidth, latency }) => {
                let text = format!(
                    "the latency rises steeply from {bandwidth:.1} GB/s, {:.0} % of the {peak:.1} GB/s that \
                     the loaders reach: {idle:.0} ns idle, {latency:.0} ns at this knee, {full:.0} ns at \
                     full load",
                    100.0 * bandwidth / peak
                );
                ("knee", text, Quantity::new(bandwidth, Unit::GigabytesPerSecond).ok())
            }
            None => {
                let text = format!(
                    "the latency has no knee: {idle:.0} ns idle, {full:.0} ns at the {peak:.1} GB/s that the \
                     other cores reach; either these cores cannot saturate the memory, or the latency rises \
                     evenly"
                );
                ("no-knee", text, None)
            }
        };
        let mut finding = Finding::new(kind, Severity::Info, Subject::node(), text);
        finding.value = value;
        finding.evidence = vec!["curve".to_owned(), "delivered".to_owned()];
        finding
    }
}

/// Bytes per nanosecond equal GB/s.
fn gigabytes_per_second(sample: &Sample) -> Option<f64> {
    let span = sample.span().get() as f64;
    (span > 0.0).then(|| sample.amount.value() / span)
}

/// The step in percent of the full rate.
fn step(place: &AtCoords) -> u64 {
    place.at.count("load").unwrap_or(0)
}
