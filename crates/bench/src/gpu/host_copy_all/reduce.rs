//! From copies to the rates of all GPUs over the time that all of them copied.

use std::collections::BTreeMap;

use seatrial_model::{
    Case, Cause, Finding, Measures, Params, PartRecord, Reason, Row, Sample, Severity, Subject, Unit, Values,
};
use serde_json::json;

use crate::common::gpu::{common_rates, findings_of};

/// Values by trial.
type Trials = Vec<Vec<f64>>;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let mut trials: Vec<u32> = parts.iter().map(|part| part.trial).collect();
    trials.dedup();
    let mut sums: BTreeMap<&'static str, Trials> = BTreeMap::new();
    let mut by_gpu: BTreeMap<(&'static str, u64), Trials> = BTreeMap::new();
    let put = |trials: &mut Trials, trial: usize, value: f64| {
        trials.resize(trials.len().max(trial + 1), Vec::new());
        trials[trial].push(value);
    };
    for part in parts {
        let trial = trials.iter().position(|number| *number == part.trial).unwrap_or(0);
        let mut slices: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
        for sample in part.samples.iter().filter(|sample| sample.channel == "copy") {
            slices.entry(sample.at.count("slice").unwrap_or(0)).or_default().push(sample);
        }
        for samples in slices.values() {
            let Some(rates) = common_rates(samples) else { continue };
            let (name, sum, least) = match samples[0].at.text("direction") {
                Ok("h2d") => ("h2d", "h2d_sum", Some("h2d_least")),
                Ok("d2h") => ("d2h", "d2h_sum", Some("d2h_least")),
                _ => ("both", "both_sum", None),
            };
            let mut gpus: BTreeMap<u64, f64> = BTreeMap::new();
            for rate in &rates {
                // Two lanes a GPU; a gigabit is 1.25e8 bytes.
                *gpus.entry(rate.lane / 2).or_default() += rate.bytes_per_second / 1.25e8;
            }
            put(sums.entry(sum).or_default(), trial, gpus.values().sum());
            if let Some(least) = least {
                put(sums.entry(least).or_default(), trial, gpus.values().copied().fold(f64::MAX, f64::min));
            }
            for (gpu, rate) in gpus {
                put(by_gpu.entry((name, gpu)).or_default(), trial, rate);
            }
        }
    }
    if sums.is_empty() {
        let text = "no slice in which all GPUs copied at the same time; raise -p time= or lower -p block=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    let mut measures = Measures::default();
    let values = |mut trials: Trials| {
        trials.retain(|trial| !trial.is_empty());
        Values { unit: Unit::GigabitsPerSecond, trials }
    };
    let missing = missing(parts);
    for (name, trials) in sums {
        // A sum over fewer GPUs than there are is no sum, and the slowest may be the one that is missing.
        if missing.is_empty() {
            measures.metrics.insert(name.to_owned(), values(trials));
        }
    }
    let row = |((direction, gpu), trials): ((&str, u64), Trials)| {
        let mut at = Params::default();
        at.set("direction", direction);
        at.set("gpu", gpu);
        Row { at, values: values(trials) }
    };
    measures.series.insert("by_gpu".to_owned(), by_gpu.into_iter().map(row).collect());
    for name in ["gpus", "places", "held_by", "watch", "missing"] {
        if let Some(value) = parts.last().and_then(|part| part.evidence.get(name)) {
            measures.evidence.insert(name.to_owned(), value.clone());
        }
    }
    measures.evidence.insert("integrity".to_owned(), json!(parts.first().map(|part| &part.integrity)));
    measures.findings = findings_of(case, parts);
    measures.findings.extend(missing.into_iter().map(|(address, why)| {
        let text = format!("not measured, so there are no figures of all GPUs: {why}");
        Finding::new("gpu-not-measured", Severity::Problem, Subject::device("gpu", &address), text)
    }));
    Ok(measures)
}

/// GPUs that any trial had to do without, and why.
fn missing(parts: &[PartRecord]) -> BTreeMap<String, String> {
    let all = parts.iter().filter_map(|part| part.evidence.get("missing")?.as_object());
    all.flatten()
        .map(|(address, why)| (address.clone(), why.as_str().unwrap_or_default().to_owned()))
        .collect()
}
