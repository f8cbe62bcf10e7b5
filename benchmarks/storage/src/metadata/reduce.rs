//! Reduces rounds to operations per second.

use seatrial_model::{Cause, Measures, Params, PartRecord, Reason, Row, Sample, Unit, Values};

use super::part::CHANNEL;
use super::work::FileOperation;
use crate::metrics::MICRO;
use seatrial_bench::directory::leftovers;
use seatrial_bench::stale_dirs::{KEPT, REMOVED};
use seatrial_bench::{Latencies, by_coords};

pub fn reduce(parts: &[PartRecord]) -> Result<Measures, Reason> {
    let means: Vec<Vec<f64>> = parts.iter().map(means).filter(|means| !means.is_empty()).collect();
    if means.is_empty() {
        let text = "no trial completed every operation on all files within the time; raise -p time= or \
            lower -p files=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    let mut measures = Measures::default();
    measures.metric("operations", Unit::PerSecond, means);
    let rates = by_coords(parts, CHANNEL, Sample::per_second);
    let row = |at: Params, unit, trials| Row { at, values: Values { unit, trials } };
    let rates = rates.into_iter().map(|place| row(place.at, Unit::PerSecond, place.trials));
    measures.series.insert("by_operation".to_owned(), rates.collect());

    let mut slow: Vec<Row> = Vec::new();
    for operation in FileOperation::ALL {
        let of = |part: &PartRecord| -> Vec<f64> {
            let found = latencies(part, operation).and_then(|latencies| latencies.quantile(0.99));
            found.map(|it| it.get() as f64 / MICRO).into_iter().collect()
        };
        let trials: Vec<Vec<f64>> = parts.iter().map(of).filter(|trial| !trial.is_empty()).collect();
        if !trials.is_empty() {
            let mut at = Params::default();
            at.set("operation", operation.word());
            slow.push(row(at, Unit::Microsecond, trials));
        }
    }
    if !slow.is_empty() {
        measures.series.insert("p99".to_owned(), slow);
    }
    let longest: Vec<Vec<f64>> = parts.iter().filter_map(slowest).map(|value| vec![value]).collect();
    if !longest.is_empty() {
        measures.metric("slowest", Unit::Microsecond, longest);
    }
    measures.keep_evidence(parts.iter().rev(), &["folder", "clean_up", REMOVED, KEPT]);
    measures.findings.extend(leftovers(parts));
    Ok(measures)
}

/// Microseconds of the slowest operation of a part.
pub fn slowest(part: &PartRecord) -> Option<f64> {
    let all = FileOperation::ALL.iter().filter_map(|operation| latencies(part, *operation));
    all.map(|latencies| latencies.longest().get() as f64 / MICRO).reduce(f64::max)
}

pub fn latencies(part: &PartRecord, operation: FileOperation) -> Option<Latencies> {
    Latencies::from_evidence(part.evidence.get("latencies")?.get(operation.word())?)
}

/// Geometric mean of each complete round, as IO500 joins its phases.
fn means(part: &PartRecord) -> Vec<f64> {
    let mut rounds: Vec<Vec<f64>> = Vec::new();
    for sample in part.samples.iter().filter(|sample| sample.channel == CHANNEL) {
        if sample.at.text("operation") == Ok(FileOperation::Create.word()) || rounds.is_empty() {
            rounds.push(Vec::new());
        }
        if let (Some(rate), Some(round)) = (sample.per_second(), rounds.last_mut()) {
            round.push(rate);
        }
    }
    let whole = rounds.iter().filter(|round| round.len() == FileOperation::ALL.len());
    whole.map(|round| geometric_mean(round)).collect()
}

/// The geometric mean of the rates of a whole round, by operation.
pub fn geometric_mean(rates: &[f64]) -> f64 {
    (rates.iter().map(|rate| rate.ln()).sum::<f64>() / rates.len() as f64).exp()
}
