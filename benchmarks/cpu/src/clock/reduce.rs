//! Reduces blocks to clocks.

use std::collections::BTreeMap;

use seatrial_model::{Case, Cause, Measures, Params, PartRecord, Reason, Row, Unit, Values};
use seatrial_stats::Sorted;
use serde_json::json;

use super::findings;
use super::lap::SLICE;
use super::part;
use super::readings::Readings;

const MOST_ROWS: u64 = 10;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let readings = Readings::new(parts);
    let mut measures = Measures::default();
    let values = |trials: Vec<Vec<f64>>| Values { unit: Unit::Gigahertz, trials };
    let alone = readings.alone();
    if !alone.is_empty() {
        measures.metrics.insert("clock_one".to_owned(), values(alone));
    }
    let by_cpu = readings.by_cpu();
    let pooled = |trials: &[Vec<f64>]| Sorted::pooled(trials).map_or(f64::INFINITY, |all| all.median());
    let slowest = by_cpu.iter().min_by(|(_, a), (_, b)| pooled(a).total_cmp(&pooled(b)));
    if let Some((cpu, trials)) = slowest {
        measures.metrics.insert("clock_all".to_owned(), values(trials.clone()));
        measures.evidence.insert("slowest_cpu".to_owned(), json!(cpu));
        let slowest = Values { unit: Unit::Percent, trials: readings.slowest_core(&highest_clocks(parts)) };
        measures.metrics.insert("slowest_core".to_owned(), slowest);
        let row = |(cpu, trials): (&u64, &Vec<Vec<f64>>)| row("cpu", *cpu, values(trials.clone()));
        measures.series.insert("by_core".to_owned(), by_cpu.iter().map(row).collect());
        measures.series.insert("over_time".to_owned(), over_time(&readings));
    }
    if measures.metrics.is_empty() {
        let text = "no core ran enough blocks in any slice: other processes hold the cores, or CPU time is \
            throttled (cgroup cpu.max); raise -p time=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    measures.keep_evidence(
        parts.first(),
        &["interrupted_one", "interrupted_all", "ramp", "clock", part::HIGHEST_CLOCK],
    );
    measures.keep_integrity(parts.first());
    measures.findings = findings::all(&readings, case, parts);
    Ok(measures)
}

/// The highest clock in kHz by CPU; cores without one are alike.
fn highest_clocks(parts: &[PartRecord]) -> BTreeMap<u64, u64> {
    let told = parts.iter().filter_map(|part| part.evidence.get(part::HIGHEST_CLOCK)?.as_object()).flatten();
    told.filter_map(|(cpu, clock)| Some((cpu.parse().ok()?, clock.as_u64()?))).collect()
}

fn row(axis: &str, at: u64, values: Values) -> Row {
    let mut place = Params::default();
    place.set(axis, at);
    Row { at: place, values }
}

fn over_time(readings: &Readings) -> Vec<Row> {
    let trials = readings.over_time();
    let slices = trials.iter().filter_map(|trial| Some(trial.last_key_value()?.0 + 1)).max().unwrap_or(0);
    let width = slices.div_ceil(MOST_ROWS).max(1);
    let mut rows: BTreeMap<u64, Vec<Vec<f64>>> = BTreeMap::new();
    for trial in &trials {
        let mut of_trial: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for (slice, clock) in trial {
            of_trial.entry(slice / width).or_default().push(*clock);
        }
        for (number, clocks) in of_trial {
            rows.entry(number).or_default().push(clocks);
        }
    }
    let milliseconds = |number: u64| number * width * SLICE.get() / 1_000_000;
    rows.into_iter()
        .map(|(number, trials)| {
            row("elapsed", milliseconds(number), Values { unit: Unit::Gigahertz, trials })
        })
        .collect()
}
