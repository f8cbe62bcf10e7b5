//! Reduces slices to rates.

use seatrial_model::{
    Case, Cause, Finding, Measures, Nanos, PartRecord, Reason, Row, Sample, Severity, Unit, Values,
};
use seatrial_stats::Sorted;

use super::config::{block, is_random};
use super::part::{ALONE, RANDOM, TOGETHER};
use crate::device_bytes;
use seatrial_bench::{AtCoords, Latencies, by_coords};

const MEGA: f64 = 1e6;

fn rate(sample: &Sample) -> Option<f64> {
    Some(sample.per_second()? / MEGA)
}

fn values(trials: Vec<Vec<f64>>) -> Values {
    Values { unit: Unit::MegabytesPerSecond, trials }
}

fn median(values: &[f64]) -> Option<f64> {
    Sorted::new(values).ok().map(|sorted| sorted.median())
}

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let mut measures = match case.params.flag("together") {
        Ok(true) => together(parts),
        _ if is_random(&case.params) => random(parts, block(&case.params)),
        _ => alone(parts),
    }?;
    measures.findings.extend(device_bytes::findings(parts));
    for name in ["path", "disks", "engine"] {
        if let Some(value) = parts.iter().rev().find_map(|part| part.evidence.get(name)) {
            measures.evidence.insert(name.to_owned(), value.clone());
        }
    }
    measures.findings.extend(throttled(case, &measures));
    Ok(measures)
}

fn too_short() -> Reason {
    Reason::new(Cause::TooShort, "no slice of 200 ms was completed; raise -p time=")
}

fn alone(parts: &[PartRecord]) -> Result<Measures, Reason> {
    let zones = by_coords(parts, ALONE, rate);
    let middle = |zone: &AtCoords| median(&zone.trials.concat()).unwrap_or(f64::INFINITY);
    let slowest = zones.iter().min_by(|one, other| middle(one).total_cmp(&middle(other)));
    let (Some(slowest), Some(first), Some(last)) = (slowest, zones.first(), zones.last()) else {
        return Err(too_short());
    };
    let mut measures = Measures::default();
    for (name, zone) in [("throughput", slowest), ("first", first), ("last", last)] {
        measures.metrics.insert(name.to_owned(), values(zone.trials.clone()));
    }
    if let Ok(position) = slowest.at.count("position") {
        measures.evidence.insert("slowest_position".to_owned(), position.into());
    }
    let rows = zones.iter().map(|zone| Row { at: zone.at.clone(), values: values(zone.trials.clone()) });
    measures.series.insert("by_zone".to_owned(), rows.collect());
    Ok(measures)
}

/// Random reads: requests per second and their latency.
fn random(parts: &[PartRecord], block: u64) -> Result<Measures, Reason> {
    let mut measures = Measures::default();
    let all = by_coords(parts, RANDOM, rate).into_iter().next().ok_or_else(too_short)?;
    let blocks = |rates: &Vec<f64>| rates.iter().map(|rate| rate * MEGA / block as f64).collect();
    let iops = Values { unit: Unit::PerSecond, trials: all.trials.iter().map(blocks).collect() };
    measures.metrics.insert("iops".to_owned(), iops);
    measures.metrics.insert("throughput".to_owned(), values(all.trials));
    let told = |part: &PartRecord| Latencies::from_evidence(part.evidence.get("latencies")?);
    let latencies: Vec<Latencies> = parts.iter().filter_map(told).filter(|all| all.count() > 0).collect();
    let of = |time: &dyn Fn(&Latencies) -> Option<Nanos>| {
        let micros = |all: &Latencies| time(all).map(|time| time.get() as f64 / 1e3).into_iter().collect();
        Values { unit: Unit::Microsecond, trials: latencies.iter().map(micros).collect() }
    };
    if latencies.len() == parts.len() {
        let metrics = &mut measures.metrics;
        metrics.insert("latency".to_owned(), of(&|all| all.quantile(0.5)));
        metrics.insert("p99".to_owned(), of(&|all| all.quantile(0.99)));
        metrics.insert("slowest".to_owned(), of(&|all| Some(all.longest())));
    }
    Ok(measures)
}

fn together(parts: &[PartRecord]) -> Result<Measures, Reason> {
    let (mut sums, mut alone, mut sharing) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let one = std::slice::from_ref(part);
        let of = |channel: &str| -> Vec<Vec<f64>> {
            by_coords(one, channel, rate).into_iter().map(|disk| disk.trials.concat()).collect()
        };
        let (by_itself, at_once) = (of(ALONE), of(TOGETHER));
        if by_itself.is_empty() || by_itself.len() != at_once.len() {
            continue;
        }
        // All disks begin at the same time, so slices of the same number coincide, up to the time of a slow disk's
        // last request.
        let slices = at_once.iter().map(Vec::len).min().unwrap_or(0);
        let sum: Vec<f64> = (0..slices).map(|number| at_once.iter().map(|disk| disk[number]).sum()).collect();
        let separate: f64 = by_itself.iter().filter_map(|disk| median(disk)).sum();
        if let Some(middle) = median(&sum).filter(|_| separate > 0.0) {
            sharing.push(vec![middle / separate]);
        }
        sums.push(sum);
        alone.push(vec![separate]);
    }
    sums.retain(|trial| !trial.is_empty());
    if sums.is_empty() {
        return Err(too_short());
    }
    let mut measures = Measures::default();
    measures.metrics.insert("throughput".to_owned(), values(sums));
    measures.metrics.insert("alone".to_owned(), values(alone));
    if !sharing.is_empty() {
        let values = Values { unit: Unit::Ratio, trials: sharing };
        measures.metrics.insert("sharing".to_owned(), values);
    }
    let disks = by_coords(parts, TOGETHER, rate).into_iter();
    let rows = disks.map(|disk| Row { at: disk.at, values: values(disk.trials) });
    measures.series.insert("by_disk".to_owned(), rows.collect());
    Ok(measures)
}

/// Finding: a control group limits the disk.
fn throttled(case: &Case, measures: &Measures) -> Option<Finding> {
    let disks = measures.evidence.get("disks")?.as_array()?;
    let limited = disks
        .iter()
        .find(|disk| disk["throttle"]["read_bytes_s"].is_u64() || disk["throttle"]["reads_s"].is_u64())?;
    let throttle = &limited["throttle"];
    let text = format!(
        "a control group limits reads of {} (B/s: {}, requests/s: {}): the result is that limit, not the \
         speed of the disk",
        limited["name"].as_str().unwrap_or("the disk"),
        throttle["read_bytes_s"],
        throttle["reads_s"]
    );
    let finding = Finding::new("throttled-by-control-group", Severity::Warning, case.subject.clone(), text);
    Some(Finding { evidence: vec!["disks".to_owned()], ..finding })
}
