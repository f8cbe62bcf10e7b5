//! Latency over all ranks, completion, and the rank that spends the longest time in the calls.

use std::collections::BTreeMap;

use seatrial_bench::Trials;
use seatrial_model::{Case, Cause, Measures, PartRecord, Reason, Unit};
use seatrial_mpi_job::ranks::RANKS;
use seatrial_mpi_job::worker::keep_job;

use super::config::{Collective, is_non_blocking, sizes};
use super::samples::{CALL_TIME, CALLS, COMPLETION_TIME, COMPUTATION_TIME, OVERALL_TIME};
use crate::measures::{NS_PER_US, RankMetric, add_ranks, not_reached, row_of_size};

/// What the samples of one size say, in microseconds a call.
#[derive(Default)]
struct SizeTimes {
    /// The mean over the ranks.
    latency: Trials,
    completion: Trials,
    /// Of non-blocking operations, in percent.
    overlap: Trials,
    ranks: BTreeMap<u64, Trials>,
}

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let (op, ranks) = (Collective::of(&case.params)?, case.planned.count(RANKS)?);
    let found = by_size(ranks, parts);
    let (_, small) = found.first_key_value().ok_or_else(|| {
        Reason::new(Cause::TooShort, "the ranks made too few calls within the time; raise -p time=")
    })?;
    let mut measures = Measures::default();
    measures.metric("latency", Unit::Microsecond, small.latency.clone());
    // The clocks of several nodes do not tell which rank came last.
    let has_completion = case.nodes.len() == 1;
    if has_completion {
        measures.metric_of_all("completion", Unit::Microsecond, small.completion.clone());
    }
    add_ranks(&mut measures, case, &small.ranks, RankMetric::LATENCY);
    let has_overlap = is_non_blocking(&case.params)?;
    if let Some((_, large)) = found.last_key_value().filter(|_| has_overlap) {
        measures.metric("overlap", Unit::Percent, large.overlap.clone());
    }
    if op != Collective::Barrier {
        let mut series = |name: &str, unit: Unit, of: fn(&SizeTimes) -> &Trials| {
            let rows = found.iter().map(|(size, at)| row_of_size(*size, unit, of(at).clone()));
            measures.series.insert(name.to_owned(), rows.collect());
        };
        series("latency_by_size", Unit::Microsecond, |at| &at.latency);
        if has_completion {
            series("completion_by_size", Unit::Microsecond, |at| &at.completion);
        }
        if has_overlap {
            series("overlap_by_size", Unit::Percent, |at| &at.overlap);
        }
    }
    let missing = sizes(op, &case.params, ranks)?.into_iter().filter(|size| !found.contains_key(size));
    measures.findings.extend(not_reached(missing.count()));
    keep_job(&mut measures, parts);
    Ok(measures)
}

/// Sums over the samples of one size, turn and rank.
#[derive(Clone, Copy, Default)]
struct CallTimes {
    calls: f64,
    time_ns: f64,
    completion_ns: f64,
    overall_ns: f64,
    computation_ns: f64,
}

/// The share of the time of the calls alone in which the ranks computed, in percent, as OSU's benchmarks have it.
fn overlap(ranks: impl Iterator<Item = CallTimes> + Clone) -> Option<f64> {
    let sum = |of: fn(&CallTimes) -> f64| ranks.clone().map(|times| of(&times)).sum::<f64>();
    let (overall, computing) = (sum(|times| times.overall_ns), sum(|times| times.computation_ns));
    let share = 100.0 - (overall - computing) / sum(|times| times.time_ns) * 100.0;
    (overall > 0.0 && share.is_finite()).then(|| share.clamp(0.0, 100.0))
}

fn by_size(ranks: u64, parts: &[PartRecord]) -> BTreeMap<u64, SizeTimes> {
    let mut found: BTreeMap<u64, SizeTimes> = BTreeMap::new();
    for part in parts {
        let mut turns: BTreeMap<(u64, u64), BTreeMap<u64, CallTimes>> = BTreeMap::new();
        for sample in &part.samples {
            let count = |name| sample.at.count(name).unwrap_or(0);
            let turn = turns.entry((count("size"), count("slice"))).or_default();
            let times = turn.entry(count("rank")).or_default();
            match sample.channel.as_str() {
                CALLS => times.calls += sample.amount.value(),
                CALL_TIME => times.time_ns += sample.amount.value(),
                COMPLETION_TIME => times.completion_ns += sample.amount.value(),
                OVERALL_TIME => times.overall_ns += sample.amount.value(),
                COMPUTATION_TIME => times.computation_ns += sample.amount.value(),
                _ => {}
            }
        }
        let mut of_part: BTreeMap<u64, SizeOfPart> = BTreeMap::new();
        // A turn of which the times of a rank are missing says nothing of all.
        for ((size, _), turn) in turns.iter().filter(|(_, turn)| turn.len() as u64 == ranks) {
            of_part.entry(*size).or_default().add(turn);
        }
        for (size, of_part) in of_part {
            let at = found.entry(size).or_default();
            at.latency.push(of_part.latency);
            at.completion.push(of_part.completion);
            at.overlap.push(of_part.overlap);
            for (rank, values) in of_part.ranks {
                at.ranks.entry(rank).or_default().push(values);
            }
        }
    }
    found
}

/// The values of one trial.
#[derive(Default)]
struct SizeOfPart {
    latency: Vec<f64>,
    completion: Vec<f64>,
    overlap: Vec<f64>,
    ranks: BTreeMap<u64, Vec<f64>>,
}

impl SizeOfPart {
    fn add(&mut self, turn: &BTreeMap<u64, CallTimes>) {
        let micros = |ns: f64, calls: f64| Some(ns / calls / NS_PER_US).filter(|value| value.is_finite());
        let of_ranks: Option<Vec<(u64, f64)>> =
            turn.iter().map(|(rank, times)| Some((*rank, micros(times.time_ns, times.calls)?))).collect();
        let Some(of_ranks) = of_ranks else { return };
        let sum: f64 = of_ranks.iter().map(|(_, micros)| micros).sum();
        self.latency.push(sum / of_ranks.len() as f64);
        self.completion
            .extend(turn.values().next().and_then(|first| micros(first.completion_ns, first.calls)));
        self.overlap.extend(overlap(turn.values().copied()));
        for (rank, micros) in of_ranks {
            self.ranks.entry(rank).or_default().push(micros);
        }
    }
}
