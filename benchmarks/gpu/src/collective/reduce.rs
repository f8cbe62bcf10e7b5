//! Rates by size, the slowest rank of each run.

use std::collections::BTreeMap;

use seatrial_bench::{Trials, median};
use seatrial_model::{
    Bytes, Case, Cause, Fact, Finding, Measures, Params, PartRecord, Reason, Row, Sample, Severity, Subject,
    Unit, Value, Values,
};

use super::findings::{self, Facts};
use super::item::ItemType;
use super::limits::ALGORITHM;
use super::log::NcclLog;
use super::operation::Operation;
use super::part::{EACH, INIT, RUNS, VARIABLES, WRONG};
use super::plan::{ACTIVE_HCA, COULD_NVLS, RANKS, sizes_of, without_room};
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
    let mut series = |name: &str, unit, trials: &dyn Fn(u64, &[Vec<Times>]) -> Trials| {
        let row = |(size, all): (&u64, &Vec<Vec<Times>>)| Row {
            at: Params::from([("size", Bytes(*size).into())]),
            values: Values { unit, trials: trials(*size, all) },
        };
        measures.series.insert(name.to_owned(), found.iter().map(row).collect());
    };
    series("curve", Unit::GigabytesPerSecond, &|size, all| of(all, &bus(size)));
    series("algbw_by_size", Unit::GigabytesPerSecond, &|size, all| of(all, &algorithm(size)));
    series("time_by_size", Unit::Microsecond, &|_, all| of(all, &micros));
    series("count_by_size", Unit::Count, &|size, _| {
        vec![vec![operation.elements(size, ranks_here, element) as f64]]
    });
    let wrong = wrong(parts);
    series("wrong_by_size", Unit::Count, &|size, _| {
        wrong.values().map(|of| vec![of.get(&size).copied().unwrap_or(0) as f64]).collect()
    });
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
    let each = by_iteration(parts, *largest, ranks);
    if !each.is_empty() {
        measures.series.insert("by_iteration".to_owned(), each);
    }
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
    let asked = steer::algorithm(&case.params).map(str::to_uppercase);
    let algorithm = log.as_ref().and_then(chosen).or(asked);
    if let Some(name) = &algorithm {
        measures.found.set(ALGORITHM, name.as_str());
    }
    measures.findings.extend(left_out(case, &found)?);
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

/// Wrong elements of all ranks by trial and size.
fn wrong(parts: &[PartRecord]) -> BTreeMap<u32, BTreeMap<u64, u64>> {
    let mut found: BTreeMap<u32, BTreeMap<u64, u64>> = BTreeMap::new();
    for part in parts {
        let of_trial = found.entry(part.trial).or_default();
        let told = part.evidence.get(WRONG).and_then(serde_json::Value::as_object).into_iter().flatten();
        for (size, count) in told.filter_map(|(size, count)| Some((size.parse().ok()?, count.as_u64()?))) {
            *of_trial.entry(size).or_default() += count;
        }
    }
    found
}

/// The time of each operation of the largest size that was timed by itself, of its slowest rank.
fn by_iteration(parts: &[PartRecord], largest: u64, ranks: u64) -> Vec<Row> {
    let mut found: BTreeMap<u64, BTreeMap<u32, Vec<f64>>> = BTreeMap::new();
    for part in parts {
        let count = |sample: &Sample, name| sample.at.count(name).unwrap_or(0);
        let of_size = |sample: &&Sample| sample.channel == EACH && count(sample, "size") == largest;
        for sample in part.samples.iter().filter(of_size) {
            let of_iteration = found.entry(count(sample, "iteration")).or_default();
            of_iteration.entry(part.trial).or_default().push(sample.span().get() as f64 / 1e3);
        }
    }
    let slowest = |times: &Vec<f64>| {
        (times.len() as u64 == ranks).then(|| vec![times.iter().copied().fold(0.0, f64::max)])
    };
    let row = |(iteration, trials): (u64, BTreeMap<u32, Vec<f64>>)| Row {
        at: Params::from([("iteration", iteration.into())]),
        values: Values { unit: Unit::Microsecond, trials: trials.values().filter_map(slowest).collect() },
    };
    found.into_iter().map(row).filter(|row| !row.values.trials.is_empty()).collect()
}

/// Sizes of the series that were not measured, with the reason.
fn left_out(case: &Case, found: &BTreeMap<u64, Vec<Vec<Times>>>) -> Result<Option<Finding>, Reason> {
    let too_long = "an operation would take longer than a trial (-p time=), by the time of a smaller size";
    let slow = sizes_of(case)?.into_iter().filter(|size| found.keys().all(|done| done < size));
    let mut all: Vec<(u64, String)> = slow.map(|size| (size, too_long.to_owned())).collect();
    all.extend(without_room(case)?);
    let told: Vec<String> =
        all.iter().map(|(size, why)| format!("{}: {why}", Bytes(*size).rounded())).collect();
    Ok((!told.is_empty()).then(|| {
        let text = format!("sizes that were not measured: {}", told.join("; "));
        Finding::new("sizes-left-out", Severity::Info, Subject::node(), text)
    }))
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
