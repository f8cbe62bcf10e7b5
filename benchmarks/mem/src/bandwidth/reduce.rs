//! Reduces the threads' slices to bandwidth: bytes of all threads over the time in which all ran.

use std::collections::BTreeMap;

use seatrial_model::{Case, Cause, Measures, Params, PartRecord, Reason, Row, Sample, Unit, Values};
use seatrial_stats::Sorted;
use serde_json::json;

use crate::kernel::{Kernel, Store};
use seatrial_bench::numa_check;

/// Least part of the longest thread's time in which all threads must have run.
const LEAST_OVERLAP: f64 = 0.5;

/// Bandwidth of one point in GB/s, by trial.
struct PointRates {
    at: Params,
    trials: Vec<Vec<f64>>,
}

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let points = rates(parts)?;
    let mut measures = Measures::default();
    let matrix = points.iter().all(|point| point.at.get("memory_node").is_some());
    let values = |point: &PointRates| Values { unit: Unit::GigabytesPerSecond, trials: point.trials.clone() };
    let rows = points.iter().map(|point| Row { at: point.at.clone(), values: values(point) }).collect();
    measures.series.insert(if matrix { "matrix" } else { "by_threads" }.to_owned(), rows);
    if matrix {
        let is_local = |point: &&PointRates| point.at.get("cpu_node") == point.at.get("memory_node");
        if let Some(point) = slowest(points.iter().filter(is_local)) {
            measures.metrics.insert("local".to_owned(), values(point));
        }
        if let Some(point) = slowest(points.iter().filter(|point| !is_local(point))) {
            measures.metrics.insert("remote".to_owned(), values(point));
        }
    } else {
        let best = points.iter().max_by(|a, b| median(a).total_cmp(&median(b)));
        let all = points.iter().max_by_key(|point| threads(point));
        if let (Some(best), Some(all)) = (best, all) {
            measures.metrics.insert("bandwidth".to_owned(), values(best));
            measures.metrics.insert("bandwidth_all".to_owned(), values(all));
            measures.evidence.insert("best_threads".to_owned(), json!(threads(best)));
            if let Some(factor) = traffic_factor(case) {
                let mut traffic = values(best);
                traffic.trials.iter_mut().flatten().for_each(|rate| *rate *= factor);
                measures.metrics.insert("traffic".to_owned(), traffic);
                measures.evidence.insert("traffic_factor".to_owned(), json!(factor));
            }
        }
    }
    for name in ["place", "pages", "isa", "prefetch", "clock"] {
        if let Some(value) = parts.first().and_then(|part| part.evidence.get(name)) {
            measures.evidence.insert(name.to_owned(), value.clone());
        }
    }
    measures.evidence.insert("integrity".to_owned(), json!(parts.first().map(|part| &part.integrity)));
    measures.findings.extend(parts.first().and_then(|part| numa_check(&part.evidence)));
    Ok(measures)
}

fn rates(parts: &[PartRecord]) -> Result<Vec<PointRates>, Reason> {
    let mut points: Vec<PointRates> = Vec::new();
    let mut trials: Vec<u32> = parts.iter().map(|part| part.trial).collect();
    trials.dedup();
    for part in parts {
        let position = trials.iter().position(|trial| *trial == part.trial).unwrap_or(0);
        let mut slices: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
        for (order, sample) in (0..).zip(part.samples.iter().filter(|sample| sample.channel == "slice")) {
            slices.entry(sample.at.count("slice").unwrap_or(order)).or_default().push(sample);
        }
        for samples in slices.values() {
            let at = axes(&samples[0].at);
            let Some(rate) = common_rate(samples) else { continue };
            let point = match points.iter().position(|point| point.at == at) {
                Some(found) => &mut points[found],
                None => {
                    points.push(PointRates { at, trials: Vec::new() });
                    points.last_mut().expect("just pushed")
                }
            };
            point.trials.resize(point.trials.len().max(position + 1), Vec::new());
            point.trials[position].push(rate);
        }
    }
    points.iter_mut().for_each(|point| point.trials.retain(|trial| !trial.is_empty()));
    if points.is_empty() {
        let text = "the threads never ran at the same time: other processes hold the cores, or CPU time is \
            throttled (cgroup cpu.max)";
        return Err(Reason::new(Cause::TooShort, text));
    }
    Ok(points)
}

/// GB/s over the window in which all threads of the slice ran; bytes of a thread count by the part of its time in the
/// window. `None` when the threads hardly overlapped.
fn common_rate(samples: &[&Sample]) -> Option<f64> {
    let start = samples.iter().map(|sample| sample.start).max()?;
    let end = samples.iter().map(|sample| sample.end).min()?;
    let longest = samples.iter().map(|sample| sample.span()).max()?;
    let window = end.since(start);
    if window.as_secs() < LEAST_OVERLAP * longest.as_secs() || longest.get() == 0 {
        return None;
    }
    samples.iter().map(|sample| sample.per_second()).sum::<Option<f64>>().map(|rate| rate / 1e9)
}

fn axes(at: &Params) -> Params {
    at.iter()
        .filter(|(name, _)| !matches!(*name, "slice" | "thread"))
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect()
}

fn threads(point: &PointRates) -> u64 {
    point.at.count("threads").unwrap_or(0)
}

fn median(point: &PointRates) -> f64 {
    // Points have samples, and rates are finite.
    Sorted::pooled(&point.trials).map_or(0.0, |rates| rates.median())
}

fn slowest<'a>(points: impl Iterator<Item = &'a PointRates>) -> Option<&'a PointRates> {
    points.min_by(|a, b| median(a).total_cmp(&median(b)))
}

/// Estimated bytes on the bus per counted byte.
fn traffic_factor(case: &Case) -> Option<f64> {
    let kernel: Kernel = case.params.text("kernel").ok()?.parse().ok()?;
    let store = match case.planned.text("store").ok()? {
        "nt" => Some(Store::NonTemporal),
        "regular" => Some(Store::Regular),
        _ => None,
    };
    kernel.traffic_factor(store)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::{Nanos, Value};

    fn sample(thread: u64, start: u64, end: u64, gigabytes: u64) -> Sample {
        let at = [("threads", 2), ("slice", 0), ("thread", thread)];
        Sample {
            channel: "slice".to_owned(),
            at: at.into_iter().map(|(name, value)| (name.to_owned(), Value::Count(value))).collect(),
            start: Nanos::millis(start),
            end: Nanos::millis(end),
            amount: format!("{gigabytes} GB").parse().unwrap(),
        }
    }

    #[test]
    fn threads_that_ran_together_add_up() {
        let samples = [sample(0, 0, 1000, 10), sample(1, 100, 1100, 12)];
        assert_eq!(common_rate(&samples.iter().collect::<Vec<_>>()), Some(22.0));
    }

    #[test]
    fn threads_that_ran_one_after_the_other_make_no_rate() {
        let samples = [sample(0, 0, 1000, 10), sample(1, 600, 1600, 10)];
        assert_eq!(common_rate(&samples.iter().collect::<Vec<_>>()), None);
    }
}
