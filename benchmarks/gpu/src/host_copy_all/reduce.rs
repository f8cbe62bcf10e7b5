//! Reduces copies to the rates of all GPUs over the time that all of them copied.

use std::collections::BTreeMap;

use seatrial_model::{Case, Cause, Measures, Params, PartRecord, Reason, Row, Unit, Values};

use crate::{Slice, by_slice, missing, tell};
use seatrial_bench::Trials;

#[derive(PartialEq)]
enum Key {
    Metric(&'static str),
    Gpu(&'static str, u64),
}

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let (found, lost) = by_slice(parts, of_slice);
    if found.is_empty() {
        let text = "no slice had a time in which all GPUs copied; raise -p time= or lower -p block=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    let mut measures = Measures::default();
    let values = |trials: Trials| Values { unit: Unit::GigabitsPerSecond, trials };
    let whole = missing(parts).is_empty();
    let mut rows = Vec::new();
    for (key, trials) in found {
        match key {
            // With a missing GPU there is no sum, and the missing GPU may be the slowest.
            Key::Metric(name) if whole => {
                measures.metrics.insert(name.to_owned(), values(trials));
            }
            Key::Metric(_) => {}
            Key::Gpu(direction, gpu) => {
                let mut at = Params::default();
                at.set("direction", direction);
                at.set("gpu", gpu);
                rows.push(Row { at, values: values(trials) });
            }
        }
    }
    measures.series.insert("by_gpu".to_owned(), rows);
    tell(&mut measures, case, parts);
    measures.findings.extend(lost.finding());
    Ok(measures)
}

/// The sum, the slowest, and each GPU's rate in one slice, in Gbit/s.
fn of_slice(slice: Slice<'_>) -> Vec<(Key, f64)> {
    let Some(rates) = slice.rates() else { return Vec::new() };
    let (name, sum, least) = match slice.at().text("direction") {
        Ok("h2d") => ("h2d", "h2d_sum", Some("h2d_least")),
        Ok("d2h") => ("d2h", "d2h_sum", Some("d2h_least")),
        _ => ("both", "both_sum", None),
    };
    let mut gpus: BTreeMap<u64, f64> = BTreeMap::new();
    for rate in rates {
        // Two lanes per GPU; 1 Gbit is 1.25e8 bytes.
        *gpus.entry(rate.lane / 2).or_default() += rate.bytes_per_second / 1.25e8;
    }
    let mut found = vec![(Key::Metric(sum), gpus.values().sum())];
    found.extend(least.map(|least| (Key::Metric(least), gpus.values().copied().fold(f64::MAX, f64::min))));
    found.extend(gpus.into_iter().map(|(gpu, rate)| (Key::Gpu(name, gpu), rate)));
    found
}
