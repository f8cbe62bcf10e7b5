//! Reduces slices to rates.

use seatrial_model::{Case, Cause, Finding, Measures, PartRecord, Reason, Severity, Unit};
use seatrial_stats::median;

use super::config::{block, is_random};
use super::part::{ALONE, RANDOM, TOGETHER};
use crate::device_bytes;
use crate::metrics::{MEGA, add_latencies, megabytes_per_second};
use seatrial_bench::by_coords;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let mut measures = match case.params.flag("together") {
        Ok(true) => together(parts),
        _ if is_random(&case.params) => random(parts, block(&case.params)),
        _ => alone(parts),
    }?;
    measures.findings.extend(device_bytes::findings(parts));
    measures.keep_evidence(parts.iter().rev(), &["path", "disks", "engine"]);
    measures.findings.extend(throttled(case, &measures));
    Ok(measures)
}

fn too_short() -> Reason {
    Reason::new(Cause::TooShort, "no slice of 200 ms was completed; raise -p time=")
}

fn alone(parts: &[PartRecord]) -> Result<Measures, Reason> {
    let zones = by_coords(parts, ALONE, megabytes_per_second);
    let slowest = zones.iter().min_by(|one, other| one.median().total_cmp(&other.median()));
    let Some(slowest) = slowest else { return Err(too_short()) };
    let mut measures = Measures::default();
    let of = |position| zones.iter().find(|zone| zone.at.count("position") == Ok(position));
    for (name, zone) in [("throughput", Some(slowest)), ("first", of(0)), ("last", of(100))] {
        let values = zone.map(|zone| zone.values(Unit::MegabytesPerSecond));
        measures.metrics.extend(values.map(|values| (name.to_owned(), values)));
    }
    if let Ok(position) = slowest.at.count("position") {
        measures.evidence.insert("slowest_position".to_owned(), position.into());
    }
    let rows = zones.iter().map(|zone| zone.row(Unit::MegabytesPerSecond)).collect();
    measures.series.insert("by_zone".to_owned(), rows);
    Ok(measures)
}

/// Random reads: requests per second and their latency.
fn random(parts: &[PartRecord], block: u64) -> Result<Measures, Reason> {
    let mut measures = Measures::default();
    let all = by_coords(parts, RANDOM, megabytes_per_second).into_iter().next().ok_or_else(too_short)?;
    let blocks = |rates: &Vec<f64>| rates.iter().map(|rate| rate * MEGA / block as f64).collect();
    measures.metric("iops", Unit::PerSecond, all.trials.iter().map(blocks).collect());
    measures.metric("throughput", Unit::MegabytesPerSecond, all.trials);
    add_latencies(parts.iter(), &[("latency", 0.5), ("p99", 0.99)], &mut measures);
    Ok(measures)
}

fn together(parts: &[PartRecord]) -> Result<Measures, Reason> {
    let (mut sums, mut alone, mut sharing) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let one = std::slice::from_ref(part);
        let of = |channel: &str| -> Vec<Vec<f64>> {
            by_coords(one, channel, megabytes_per_second)
                .into_iter()
                .map(|disk| disk.trials.concat())
                .collect()
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
    measures.metric("throughput", Unit::MegabytesPerSecond, sums);
    measures.metric("alone", Unit::MegabytesPerSecond, alone);
    if !sharing.is_empty() {
        measures.metric("sharing", Unit::Ratio, sharing);
    }
    let disks = by_coords(parts, TOGETHER, megabytes_per_second);
    let rows = disks.iter().map(|disk| disk.row(Unit::MegabytesPerSecond)).collect();
    measures.series.insert("by_disk".to_owned(), rows);
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
