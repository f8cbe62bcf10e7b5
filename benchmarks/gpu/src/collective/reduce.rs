//! Rates by size, the slowest rank of each run.

use std::collections::BTreeMap;

use seatrial_bench::{Trials, median};
use seatrial_model::{
    Bytes, Case, Cause, Fact, Measures, Params, PartRecord, Reason, Row, Unit, Value, Values,
};

use super::findings::{self, Facts};
use super::item::ItemType;
use super::log::NcclLog;
use super::operation::Operation;
use super::part::{INIT, RUNS, VARIABLES};
use super::plan::{ACTIVE_HCA, COULD_NVLS, RANKS};
use super::steer;

/// Nanoseconds of an operation, by rank.
type Times = BTreeMap<u64, f64>;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let (operation, ranks) = (Operation::of(&case.params)?, case.planned.count(RANKS)?);
    let found = by_size(parts, ranks);
    let (Some((smallest, small)), Some((largest, large))) = (found.first_key_value(), found.last_key_value())
    else {
        let text = "the ranks made too few operations within the time; raise -p time=";
        return Err(Reason::new(Cause::TooShort, text));
    };
    let is_like_nccl_tests = steer::is_like_nccl_tests(&case.params);
    let slowest = |times: &Times| match is_like_nccl_tests {
        true => times.values().sum::<f64>() / times.len() as f64,
        false => times.values().copied().fold(0.0, f64::max),
    };
    let of = |trials: &[Vec<Times>], value: &dyn Fn(f64) -> f64| -> Trials {
        trials.iter().map(|turns| turns.iter().map(|times| value(slowest(times))).collect()).collect()
    };
    let ranks_here = ranks as usize;
    let element = ItemType::of(&case.params)?.bytes();
    let algorithm = |size: u64| move |ns: f64| operation.bytes(size, ranks_here, element) as f64 / ns;
    let bus = |size: u64| move |ns: f64| algorithm(size)(ns) * operation.bus_factor(ranks_here);
    let micros = |ns: f64| ns / 1e3;
    let mut measures = Measures::default();
    let mut metric = |name: &str, unit, trials| {
        measures.metrics.insert(name.to_owned(), Values { unit, trials });
    };
    metric("busbw", Unit::GigabytesPerSecond, of(large, &bus(*largest)));
    metric("algbw", Unit::GigabytesPerSecond, of(large, &algorithm(*largest)));
    metric("latency", Unit::Microsecond, of(small, &micros));
    let rates: Vec<(u64, f64)> =
        found.iter().map(|(size, trials)| (*size, median(&of(trials, &bus(*size))))).collect();
    let best = rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    if let Some((half, _)) = rates.iter().find(|(_, rate)| 2.0 * rate >= best) {
        metric("half", Unit::Byte, vec![vec![*half as f64]]);
    }
    let inits: BTreeMap<u32, f64> = parts.iter().fold(BTreeMap::new(), |mut inits, part| {
        if let Some(seconds) = part.evidence.get(INIT).and_then(serde_json::Value::as_f64) {
            let of_trial = inits.entry(part.trial).or_insert(0.0);
            *of_trial = f64::max(*of_trial, seconds);
        }
        inits
    });
    metric("init", Unit::Second, inits.into_values().map(|seconds| vec![seconds]).collect());
    let row = |size: u64, unit, trials| Row {
        at: Params::from([("size", Bytes(size).into())]),
        values: Values { unit, trials },
    };
    let curve = found.iter().map(|(size, all)| row(*size, Unit::GigabytesPerSecond, of(all, &bus(*size))));
    let times = found.iter().map(|(size, all)| row(*size, Unit::Microsecond, of(all, &micros)));
    let (curve, times) = (curve.collect(), times.collect());
    measures.series.insert("curve".to_owned(), curve);
    measures.series.insert("time_by_size".to_owned(), times);
    let of_rank = |rank: u64| {
        let trials = large
            .iter()
            .map(|turns| turns.iter().filter_map(|times| Some(times.get(&rank)? / 1e3)).collect());
        Row {
            at: Params::from([("rank", Value::from(rank))]),
            values: Values { unit: Unit::Microsecond, trials: trials.collect() },
        }
    };
    measures.series.insert("by_rank".to_owned(), (0..ranks).map(of_rank).collect());
    measures.evidence.insert("smallest".to_owned(), (*smallest).into());
    measures.evidence.insert("largest".to_owned(), (*largest).into());
    let variables: BTreeMap<String, String> = parts
        .first()
        .and_then(|part| serde_json::from_value(part.evidence.get(VARIABLES)?.clone()).ok())
        .unwrap_or_default();
    measures.evidence.insert(VARIABLES.to_owned(), serde_json::json!(variables));
    crate::tell(&mut measures, case, parts);
    let log = parts.iter().filter_map(|part| NcclLog::of(&part.evidence)).reduce(|mut log, other| {
        log.join(other);
        log
    });
    let turns: Vec<Times> = large.iter().flatten().cloned().collect();
    let bytes = operation.bytes(*largest, ranks_here, element);
    let chosen = |log: &NcclLog| {
        let choice = log.choice(operation.in_log()?, [bytes, bytes / ranks])?;
        Some(choice.algorithm.clone())
    };
    let algorithm = log.as_ref().and_then(chosen);
    measures.findings.extend(findings::found(&Facts {
        log: log.as_ref().unwrap_or(&NcclLog::default()),
        active_hca: case.planned.flag(ACTIVE_HCA).unwrap_or(false),
        could_nvls: case.planned.flag(COULD_NVLS).unwrap_or(false),
        algorithm: algorithm.as_deref(),
        curve: &rates,
        turns: &turns,
        variables: &variables,
    }));
    if let Some(log) = log {
        log.put(&mut measures.evidence);
    }
    Ok(measures)
}

/// The times of each size, trial and turn. A turn of which a rank is missing says nothing of all.
fn by_size(parts: &[PartRecord], ranks: u64) -> BTreeMap<u64, Vec<Vec<Times>>> {
    let mut turns: BTreeMap<(u64, u32, u64), Times> = BTreeMap::new();
    for part in parts {
        for sample in part.samples.iter().filter(|sample| sample.channel == RUNS) {
            let count = |name| sample.at.count(name).unwrap_or(0);
            let each = sample.span().get() as f64 / sample.amount.value().max(1.0);
            let times = turns.entry((count("size"), part.trial, count("slice"))).or_default();
            times.insert(count("rank"), each);
        }
    }
    let mut found: BTreeMap<u64, BTreeMap<u32, Vec<Times>>> = BTreeMap::new();
    for ((size, trial, _), times) in turns {
        if times.len() as u64 == ranks && times.values().all(|ns| *ns > 0.0) {
            found.entry(size).or_default().entry(trial).or_default().push(times);
        }
    }
    found.into_iter().map(|(size, trials)| (size, trials.into_values().collect())).collect()
}
