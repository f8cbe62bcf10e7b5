//! From pieces of slices to the matrix of pairs, and the slowest of each operation.

use seatrial_model::{
    About, Case, Cause, Finding, Measures, Params, PartRecord, Reason, Row, Severity, Subject, Unit, Values,
};

use crate::common::gpu::{Rate, Trials, by_slice, median, missing, tell};
use crate::common::{AtPlace, by_place};

/// What moves at once.
#[derive(PartialEq)]
struct What {
    operation: String,
    gpu: u64,
    peer: Option<u64>,
}

/// The latencies: channel and metric, and the series of all pairs.
const LATENCIES: [(&str, &str); 2] = [("latency", "latencies"), ("latency_memory", "memory_latencies")];

pub fn reduce(about: &About, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let cells = by_slice(parts, of_slice);
    let chases = LATENCIES.map(|(metric, series)| {
        let each = by_place(parts, metric, |sample| Some(sample.span().get() as f64 / sample.amount.value()));
        (metric, series, each)
    });
    if cells.is_empty() && chases.iter().all(|(.., places)| places.is_empty()) {
        let text = "no slice of copies came to its end within the time; raise -p time= or lower -p size=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    let mut measures = Measures::default();
    let rates = |trials: &Trials| Values { unit: Unit::GigabytesPerSecond, trials: trials.clone() };
    let times = |place: &AtPlace| Values { unit: Unit::Nanosecond, trials: place.trials.clone() };
    // The slowest pair may be one that is missing.
    if missing(parts).is_empty() {
        for metric in about.metrics {
            let of = cells.iter().filter(|(what, _)| what.operation == metric.name);
            if let Some((_, trials)) = of.min_by(|(_, a), (_, b)| median(a).total_cmp(&median(b))) {
                measures.metrics.insert(metric.name.to_owned(), rates(trials));
            }
        }
        for (metric, _, places) in &chases {
            let slowest = places.iter().max_by(|a, b| median(&a.trials).total_cmp(&median(&b.trials)));
            slowest.into_iter().for_each(|place| {
                measures.metrics.insert((*metric).to_owned(), times(place));
            });
        }
    }
    let row = |(what, trials): &(What, Trials)| {
        let mut at = Params::default();
        at.set("operation", what.operation.as_str());
        match what.peer {
            Some(peer) => {
                at.set("from", what.gpu);
                at.set("to", peer);
            }
            None => at.set("gpu", what.gpu),
        }
        Row { at, values: rates(trials) }
    };
    for (name, pairs) in [("pairs", true), ("groups", false)] {
        let rows: Vec<Row> = cells.iter().filter(|(what, _)| what.peer.is_some() == pairs).map(row).collect();
        if !rows.is_empty() {
            measures.series.insert(name.to_owned(), rows);
        }
    }
    for (_, series, places) in chases.iter().filter(|(.., places)| !places.is_empty()) {
        let rows = places.iter().map(|place| Row { at: place.at.clone(), values: times(place) });
        measures.series.insert((*series).to_owned(), rows.collect());
    }
    tell(&mut measures, case, parts);
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

/// All flows of a slice added up, in GB/s.
fn of_slice(at: &Params, rates: &[Rate]) -> Vec<(What, f64)> {
    let operation = at.text("operation").unwrap_or_default().to_owned();
    let what = What { operation, gpu: at.count("gpu").unwrap_or(0), peer: at.count("peer").ok() };
    vec![(what, rates.iter().map(|rate| rate.bytes_per_second / 1e9).sum())]
}
