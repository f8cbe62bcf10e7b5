//! Latency, bandwidth and rate of all pairs together, and the slowest rank.

use std::collections::BTreeMap;

use seatrial_bench::{Curve, Trials, common_window, median};
use seatrial_model::{
    Bytes, Case, Cause, Finding, Measures, PartRecord, Quantity, Reason, Sample, Severity, Subject, Unit,
};

use super::config::{Op, sizes};
use super::slices::MESSAGES;
use crate::measures::{NS_PER_US, RankMetric, add_ranks, not_reached, row_of_size};
use crate::ranks::RANKS;
use crate::worker::keep_job;

/// A rank is slow below this share of the median of all.
const SLOW: f64 = 0.9;

/// Ranks from which one can be told from the others: those of a pair see the same.
const FEWEST_RANKS: usize = 4;

/// How the slowest rank of the other operations is told.
const BANDWIDTH: RankMetric = RankMetric {
    metric: "slowest_bandwidth",
    series: "bandwidth_by_rank",
    unit: Unit::GigabytesPerSecond,
    lower_is_better: false,
};
const RATE: RankMetric = RankMetric {
    metric: "slowest_rate",
    series: "rate_by_rank",
    unit: Unit::MegaPerSecond,
    lower_is_better: false,
};

/// What the samples of one size say.
#[derive(Default)]
struct AtSize {
    /// Of all pairs together: microseconds with latency, else messages a second.
    all: Trials,
    /// The same of each rank, without adding up.
    ranks: BTreeMap<u64, Trials>,
}

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let (op, half) = (Op::of(&case.params)?, case.params.count("ranks")? / 2);
    let found = by_size(op, half, parts);
    let too_short = || {
        let text = if parts.iter().all(|part| part.samples.is_empty()) {
            "the ranks exchanged too few messages within the time; raise -p time="
        } else {
            "the pairs of ranks exchanged no messages at the same time; raise -p time=, or lower -p ranks= to one a core"
        };
        Reason::new(Cause::TooShort, text)
    };
    let (&smallest, small) = found.first_key_value().ok_or_else(too_short)?;
    let mut measures = Measures::default();
    let rate_of = |size: u64| move |rate: f64| rate * size as f64 / 1e9;
    match op {
        Op::Latency => {
            measures.metric("latency", Unit::Microsecond, small.all.clone());
            slowest(&mut measures, case, small, RankMetric::LATENCY, |us| us);
            let rows = found.iter().map(|(size, at)| row_of_size(*size, Unit::Microsecond, at.all.clone()));
            measures.series.insert("latency_by_size".to_owned(), rows.collect());
        }
        Op::MessageRate => {
            measures.metric("message_rate", Unit::MegaPerSecond, mapped(&small.all, |rate| rate / 1e6));
            slowest(&mut measures, case, small, RATE, |rate| rate / 1e6);
        }
        Op::Bandwidth | Op::BothDirections => {
            let bytes = |(size, at): &(&u64, &AtSize)| median(&at.all) * **size as f64;
            let fastest = found.iter().max_by(|one, other| bytes(one).total_cmp(&bytes(other)));
            let (&size, fast) = fastest.ok_or_else(too_short)?;
            measures.metric("bandwidth", Unit::GigabytesPerSecond, mapped(&fast.all, rate_of(size)));
            measures.metric("message_rate", Unit::MegaPerSecond, mapped(&small.all, |rate| rate / 1e6));
            slowest(&mut measures, case, fast, BANDWIDTH, rate_of(size));
            measures.evidence.insert("fastest_size".to_owned(), Bytes(size).get().into());
        }
    }
    if op != Op::Latency {
        let rows = found
            .iter()
            .map(|(size, at)| row_of_size(*size, Unit::GigabytesPerSecond, mapped(&at.all, rate_of(*size))));
        measures.series.insert("bandwidth_by_size".to_owned(), rows.collect());
    }
    measures.evidence.insert("smallest_size".to_owned(), smallest.into());
    let missing = sizes(op, &case.params)?.into_iter().filter(|size| !found.contains_key(size)).count();
    measures.findings.extend(not_reached(missing));
    keep_job(&mut measures, parts);
    Ok(measures)
}

fn mapped(trials: &Trials, of: impl Fn(f64) -> f64) -> Trials {
    trials.iter().map(|trial| trial.iter().map(|value| of(*value)).collect()).collect()
}

/// Half a round trip in microseconds; of the rest, messages a second.
fn value(op: Op, sample: &Sample) -> Option<f64> {
    let (span_ns, messages) = (sample.span().get() as f64, sample.amount.value());
    let value = match op {
        Op::Latency => span_ns / messages / 2.0 / NS_PER_US,
        _ => messages / span_ns * 1e9,
    };
    value.is_finite().then_some(value)
}

fn by_size(op: Op, half: u64, parts: &[PartRecord]) -> BTreeMap<u64, AtSize> {
    let mut found: BTreeMap<u64, AtSize> = BTreeMap::new();
    for part in parts {
        let mut slices: BTreeMap<(u64, u64), Vec<(u64, &Sample)>> = BTreeMap::new();
        let mut ranks: BTreeMap<(u64, u64), Vec<f64>> = BTreeMap::new();
        for sample in part.samples.iter().filter(|sample| sample.channel == MESSAGES) {
            let count = |name| sample.at.count(name).unwrap_or(0);
            let (size, slice, rank) = (count("size"), count("slice"), count("rank"));
            // With messages one way both ends have seen the same ones.
            if rank < half || op == Op::BothDirections {
                slices.entry((size, slice)).or_default().push((rank, sample));
            }
            ranks.entry((size, rank)).or_default().extend(value(op, sample));
        }
        let mut all: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for ((size, _), samples) in slices {
            let together =
                together(op, &samples, half as usize * if op == Op::BothDirections { 2 } else { 1 });
            all.entry(size).or_default().extend(together);
        }
        for (size, values) in all.into_iter().filter(|(_, values)| !values.is_empty()) {
            found.entry(size).or_default().all.push(values);
        }
        for ((size, rank), values) in ranks {
            if let Some(at) = found.get_mut(&size) {
                at.ranks.entry(rank).or_default().push(values);
            }
        }
    }
    found
}

/// What the ranks of one slice saw together: the mean latency, or the sum of the rates while all ran. Nothing where a
/// rank has no sample.
fn together(op: Op, samples: &[(u64, &Sample)], ranks: usize) -> Option<f64> {
    let mut by_rank: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
    for (rank, sample) in samples {
        by_rank.entry(*rank).or_default().push(sample);
    }
    if by_rank.len() != ranks {
        return None;
    }
    if op == Op::Latency || ranks == 1 {
        let of_rank = |samples: &Vec<&Sample>| {
            let values: Vec<f64> = samples.iter().filter_map(|sample| value(op, sample)).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let values: Vec<f64> = by_rank.values().map(of_rank).collect::<Option<_>>()?;
        return Some(values.iter().sum::<f64>() / values.len() as f64);
    }
    let curve = |samples: &Vec<&Sample>| {
        let mut curve = Curve::default();
        samples.iter().for_each(|sample| curve.push(sample));
        curve
    };
    let curves: Vec<Curve> = by_rank.values().map(curve).collect();
    let (start, end) = common_window(&curves.iter().collect::<Vec<_>>())?;
    Some(curves.iter().map(|curve| curve.rate(start, end)).sum())
}

/// Adds the values of each rank and of the slowest, and names it where it falls behind the others.
fn slowest(
    measures: &mut Measures,
    case: &Case,
    at: &AtSize,
    metric: RankMetric,
    of: impl Fn(f64) -> f64 + Copy,
) {
    let ranks: BTreeMap<u64, Trials> =
        at.ranks.iter().map(|(rank, trials)| (*rank, mapped(trials, of))).collect();
    let Some((rank, share)) = add_ranks(measures, &ranks, metric) else { return };
    // A rank of which every run was too short is missing among the others.
    let half = case.planned.count(RANKS).unwrap_or(2) / 2;
    let (first, second) = (rank % half, rank % half + half);
    let cpu = |rank: u64| case.places.first()?.cpu(rank as usize);
    // The speed of ranks that are not pinned is that of the scheduler.
    let (Some(one), Some(other)) = (cpu(first), cpu(second)) else { return };
    if ranks.len() < FEWEST_RANKS || share >= SLOW {
        return;
    }
    let text = format!(
        "rank {rank} is the slowest: ranks {first} and {second} on CPUs {one} and {other} reach {:.0} % of the speed of the \
         median rank",
        100.0 * share
    );
    let mut finding = Finding::new("slow-rank", Severity::Warning, Subject::node(), text);
    finding.value = Quantity::new(share, Unit::Ratio).ok();
    finding.evidence = vec![metric.series.to_owned()];
    measures.findings.push(finding);
}
