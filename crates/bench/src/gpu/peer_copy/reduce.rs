//! From pieces of slices to the matrix of pairs, and the slowest of each operation.

use std::collections::BTreeMap;

use seatrial_model::{
    About, Case, Cause, Finding, Measures, Params, PartRecord, Reason, Row, Sample, Severity, Subject, Unit,
    Values,
};
use seatrial_stats::Sorted;
use serde_json::json;

use crate::common::by_place;
use crate::common::gpu::{common_rates, findings_of};

/// The values of one cell.
struct Found {
    operation: String,
    gpu: u64,
    peer: Option<u64>,
    trials: Vec<Vec<f64>>,
}

pub fn reduce(about: &About, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let cells = cells(parts);
    let latencies =
        by_place(parts, "latency", |sample| Some(sample.span().get() as f64 / sample.amount.value()));
    if cells.is_empty() && latencies.is_empty() {
        let text = "no slice of copies came to its end within the time; raise -p time= or lower -p size=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    let mut measures = Measures::default();
    let rates = |trials: &Vec<Vec<f64>>| Values { unit: Unit::GigabytesPerSecond, trials: trials.clone() };
    let missing = missing(parts);
    if missing.is_empty() {
        for metric in about.metrics.iter().filter(|metric| metric.name != "latency") {
            let of = cells.iter().filter(|cell| cell.operation == metric.name);
            if let Some(cell) = of.min_by(|a, b| median(&a.trials).total_cmp(&median(&b.trials))) {
                measures.metrics.insert(metric.name.to_owned(), rates(&cell.trials));
            }
        }
        let slowest = latencies.iter().max_by(|a, b| median(&a.trials).total_cmp(&median(&b.trials)));
        if let Some(slowest) = slowest {
            let values = Values { unit: Unit::Nanosecond, trials: slowest.trials.clone() };
            measures.metrics.insert("latency".to_owned(), values);
        }
    }
    let row = |cell: &Found| {
        let mut at = Params::default();
        at.set("operation", cell.operation.as_str());
        match cell.peer {
            Some(peer) => {
                at.set("from", cell.gpu);
                at.set("to", peer);
            }
            None => at.set("gpu", cell.gpu),
        }
        Row { at, values: rates(&cell.trials) }
    };
    let (pairs, groups): (Vec<&Found>, Vec<&Found>) = cells.iter().partition(|cell| cell.peer.is_some());
    for (name, cells) in [("pairs", pairs), ("groups", groups)] {
        if !cells.is_empty() {
            measures.series.insert(name.to_owned(), cells.into_iter().map(row).collect());
        }
    }
    let row = |place: &crate::common::AtPlace| Row {
        at: place.at.clone(),
        values: Values { unit: Unit::Nanosecond, trials: place.trials.clone() },
    };
    if !latencies.is_empty() {
        measures.series.insert("latencies".to_owned(), latencies.iter().map(row).collect());
    }
    for name in ["gpus", "apart", "held_by", "watch", "missing"] {
        if let Some(value) = parts.last().and_then(|part| part.evidence.get(name)) {
            measures.evidence.insert(name.to_owned(), value.clone());
        }
    }
    measures.evidence.insert("integrity".to_owned(), json!(parts.first().map(|part| &part.integrity)));
    measures.findings = findings_of(case, parts);
    measures.findings.extend(missing.into_iter().map(|(address, why)| {
        let text = format!("not measured, so there are no figures of the slowest: {why}");
        Finding::new("gpu-not-measured", Severity::Problem, Subject::device("gpu", &address), text)
    }));
    let apart =
        parts.last().and_then(|part| part.evidence.get("apart")?.as_array().map(Vec::len)).unwrap_or(0);
    if apart > 0 {
        let text = format!(
            "{apart} pairs of GPUs do not reach each other's memory: the driver copies through the host; see \
             nvidia-smi topo -p2p rw"
        );
        measures.findings.push(Finding::new("no-peer-access", Severity::Warning, Subject::node(), text));
    }
    Ok(measures)
}

fn cells(parts: &[PartRecord]) -> Vec<Found> {
    let mut trials: Vec<u32> = parts.iter().map(|part| part.trial).collect();
    trials.dedup();
    let mut cells: Vec<Found> = Vec::new();
    for part in parts {
        let trial = trials.iter().position(|number| *number == part.trial).unwrap_or(0);
        let mut slices: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
        for sample in part.samples.iter().filter(|sample| sample.channel == "copy") {
            slices.entry(sample.at.count("slice").unwrap_or(0)).or_default().push(sample);
        }
        for samples in slices.values() {
            let Some(rates) = common_rates(samples) else { continue };
            let total: f64 = rates.iter().map(|rate| rate.bytes_per_second / 1e9).sum();
            let at = &samples[0].at;
            let operation = at.text("operation").unwrap_or_default();
            let (gpu, peer) = (at.count("gpu").unwrap_or(0), at.count("peer").ok());
            let is_it = |cell: &Found| cell.operation == operation && (cell.gpu, cell.peer) == (gpu, peer);
            let index = cells.iter().position(is_it).unwrap_or_else(|| {
                cells.push(Found { operation: operation.to_owned(), gpu, peer, trials: Vec::new() });
                cells.len() - 1
            });
            let of_trials = &mut cells[index].trials;
            of_trials.resize(of_trials.len().max(trial + 1), Vec::new());
            of_trials[trial].push(total);
        }
    }
    cells.iter_mut().for_each(|cell| cell.trials.retain(|trial| !trial.is_empty()));
    cells
}

/// Cells have values, and these are finite.
fn median(trials: &[Vec<f64>]) -> f64 {
    Sorted::pooled(trials).map_or(0.0, |values| values.median())
}

/// GPUs that any trial had to do without, and why.
fn missing(parts: &[PartRecord]) -> BTreeMap<String, String> {
    let all = parts.iter().filter_map(|part| part.evidence.get("missing")?.as_object());
    all.flatten()
        .map(|(address, why)| (address.clone(), why.as_str().unwrap_or_default().to_owned()))
        .collect()
}
