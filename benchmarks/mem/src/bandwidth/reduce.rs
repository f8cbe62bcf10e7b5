//! Reduces the threads' slices to bandwidth: bytes of all threads over the time in which all ran.

use seatrial_model::{Case, Cause, Fact, HeldBack, Hold, Measures, Params, PartRecord, Reason, Sample, Unit};
use serde_json::json;

use super::cores;
use super::layout::{BandwidthLayout, CORES, MEMORY_NODES};
use crate::kernel::{Kernel, Store};
use seatrial_bench::{AtCoords, by_key, numa_check, slices};

/// Least part of the longest thread's time in which all threads must have run.
const LEAST_OVERLAP: f64 = 0.5;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let points = rates(parts)?;
    let planned = case.places.first().map(|place| BandwidthLayout::of(&case.planned, place).points);
    let planned = planned.unwrap_or_default();
    // Of cells and cores the slowest is told, which may be the one that is missing.
    let is_slowest_told = [MEMORY_NODES, CORES].iter().any(|key| case.planned.get(key).is_some());
    let lacking = planned.iter().find(|point| points.iter().all(|found| found.at != point.at));
    if let Some(point) = lacking.filter(|_| is_slowest_told) {
        let text =
            format!("{} was never measured: raise -p time=, or other processes hold the cores", point.at);
        return Err(Reason::new(Cause::TooShort, text));
    }
    let mut measures = Measures::default();
    let matrix = points.iter().all(|point| point.at.get("memory_node").is_some());
    let (alone, points): (Vec<_>, Vec<_>) =
        points.into_iter().partition(|point| point.at.get("cpu").is_some());
    let values = |point: &AtCoords| point.values(Unit::GigabytesPerSecond);
    let rows = |points: &[AtCoords]| points.iter().map(|point| point.row(Unit::GigabytesPerSecond)).collect();
    measures.series.insert(if matrix { "matrix" } else { "by_threads" }.to_owned(), rows(&points));
    if matrix {
        let is_local = |point: &&AtCoords| point.at.get("cpu_node") == point.at.get("memory_node");
        if let Some(point) = slowest(points.iter().filter(is_local)) {
            measures.metrics.insert("local".to_owned(), values(point));
        }
        if let Some(point) = slowest(points.iter().filter(|point| !is_local(point))) {
            measures.metrics.insert("remote".to_owned(), values(point));
        }
    } else if !alone.is_empty() {
        measures.series.insert("by_core".to_owned(), rows(&alone));
        cores::compare(&alone, points.first(), &mut measures)?;
    } else {
        let best = points.iter().max_by(|a, b| a.median().total_cmp(&b.median()));
        let most = planned.iter().map(|point| point.threads.len() as u64).max();
        if let Some(all) = points.iter().find(|point| Some(threads(point)) == most) {
            measures.metrics.insert("bandwidth_all".to_owned(), values(all));
        }
        if let Some(best) = best {
            measures.metrics.insert("bandwidth".to_owned(), values(best));
            measures.evidence.insert("best_threads".to_owned(), json!(threads(best)));
            if let Some(factor) = traffic_factor(case) {
                let mut traffic = values(best);
                traffic.trials.iter_mut().flatten().for_each(|rate| *rate *= factor);
                measures.metrics.insert("traffic".to_owned(), traffic);
                measures.evidence.insert("traffic_factor".to_owned(), json!(factor));
                allocated(factor).put(&mut measures.evidence);
            }
        }
    }
    measures.keep_evidence(parts.first(), &["place", "pages", "isa", "prefetch", "clock"]);
    measures.keep_integrity(parts.first());
    measures.findings.extend(parts.first().and_then(|part| numa_check(&part.evidence)));
    Ok(measures)
}

fn rates(parts: &[PartRecord]) -> Result<Vec<AtCoords>, Reason> {
    let points = by_key(parts, |part| {
        let rate = |samples: Vec<&Sample>| Some((axes(&samples[0].at), common_rate(&samples)?));
        slices(part, "slice").filter_map(rate).collect()
    });
    if points.is_empty() {
        let text = "the threads never ran at the same time: other processes hold the cores, or CPU time is \
            throttled (cgroup cpu.max)";
        return Err(Reason::new(Cause::TooShort, text));
    }
    Ok(points.into_iter().map(|(at, trials)| AtCoords { at, trials }).collect())
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

fn threads(point: &AtCoords) -> u64 {
    point.at.count("threads").unwrap_or(0)
}

fn slowest<'a>(points: impl Iterator<Item = &'a AtCoords>) -> Option<&'a AtCoords> {
    points.min_by(|a, b| a.median().total_cmp(&b.median()))
}

/// What the lines cost that the bus moves beside the counted bytes.
fn allocated(factor: f64) -> HeldBack {
    let what = "regular stores read each cache line before they overwrite it".to_owned();
    let source = format!("{factor:.2} B on the bus per counted byte");
    let hold = Hold { what, source, beside: factor - 1.0, ..Hold::default() };
    HeldBack((factor > 1.0).then_some(hold).into_iter().collect())
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
    fn bytes_beside_the_counted_ones_hold_the_rate_back() {
        let HeldBack(holds) = allocated(4.0 / 3.0);
        let [hold] = &holds[..] else { panic!("{holds:?}") };
        assert!((hold.beside - 1.0 / 3.0).abs() < 1e-12 && hold.share == 0.0, "{hold:?}");
        assert_eq!(hold.source, "1.33 B on the bus per counted byte");
        assert_eq!(allocated(1.0), HeldBack::default());
    }

    #[test]
    fn threads_that_ran_one_after_the_other_make_no_rate() {
        let samples = [sample(0, 0, 1000, 10), sample(1, 600, 1600, 10)];
        assert_eq!(common_rate(&samples.iter().collect::<Vec<_>>()), None);
    }
}
