//! What the samples of pairs of ranks say: of all pairs together, of each rank, and which rank is the slowest.

use std::collections::BTreeMap;

use seatrial_bench::{Curve, Trials, common_window};
use seatrial_model::{
    Case, Cause, Finding, Measures, PartRecord, Quantity, Reason, Sample, Severity, Subject, Unit,
};
use seatrial_mpi_job::between_nodes::MESSAGES;
use seatrial_mpi_job::ranks::{RANKS, cpu_of, place_of};

use crate::measures::{NS_PER_US, RankMetric, add_ranks};

/// A rank is slow below this share of the median of all.
const SLOW: f64 = 0.9;

/// Ranks from which one can be told from the others: those of a pair see the same.
const FEWEST_RANKS: usize = 4;

/// How the slowest rank is told where rates are measured.
pub const SLOWEST_BANDWIDTH: RankMetric = RankMetric {
    metric: "slowest_bandwidth",
    series: "bandwidth_by_rank",
    unit: Unit::GigabytesPerSecond,
    lower_is_better: false,
};
pub const SLOWEST_RATE: RankMetric = RankMetric {
    metric: "slowest_rate",
    series: "rate_by_rank",
    unit: Unit::MegaPerSecond,
    lower_is_better: false,
};

/// What a sample of a pair is turned into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PairValue {
    /// Microseconds; a message or operation of the sample counts so many times.
    Latency { parts: f64 },
    /// Messages or operations a second.
    Rate,
}

/// How pairs are put together.
#[derive(Clone, Copy, Debug)]
pub struct Pairing {
    pub value: PairValue,
    /// Number of pairs: rank i exchanges with rank i + pairs.
    pub pairs: u64,
    /// Whether the samples of both ranks of a pair add up; else those of the first count.
    pub both_ways: bool,
}

/// What the samples of one size say.
#[derive(Default)]
pub struct AtSize {
    /// Of all pairs together.
    pub all: Trials,
    /// The same of each rank, without adding up.
    pub ranks: BTreeMap<u64, Trials>,
}

/// Why samples say nothing.
pub fn too_short(parts: &[PartRecord]) -> Reason {
    let text = if parts.iter().all(|part| part.samples.is_empty()) {
        "the ranks exchanged too few messages within the time; raise -p time="
    } else {
        "the pairs of ranks exchanged no messages at the same time; raise -p time=, or lower -p ranks= to one a core"
    };
    Reason::new(Cause::TooShort, text)
}

pub fn mapped(trials: &Trials, of: impl Fn(f64) -> f64) -> Trials {
    trials.iter().map(|trial| trial.iter().map(|value| of(*value)).collect()).collect()
}

fn value(of: PairValue, sample: &Sample) -> Option<f64> {
    let (span_ns, messages) = (sample.span().get() as f64, sample.amount.value());
    let value = match of {
        PairValue::Latency { parts } => span_ns / messages / parts / NS_PER_US,
        PairValue::Rate => messages / span_ns * 1e9,
    };
    value.is_finite().then_some(value)
}

pub fn by_size(pairing: Pairing, parts: &[PartRecord]) -> BTreeMap<u64, AtSize> {
    let mut found: BTreeMap<u64, AtSize> = BTreeMap::new();
    for part in parts {
        let mut slices: BTreeMap<(u64, u64), Vec<(u64, &Sample)>> = BTreeMap::new();
        let mut ranks: BTreeMap<(u64, u64), Vec<f64>> = BTreeMap::new();
        for sample in part.samples.iter().filter(|sample| sample.channel == MESSAGES) {
            let count = |name| sample.at.count(name).unwrap_or(0);
            let (size, slice, rank) = (count("size"), count("slice"), count("rank"));
            // With messages one way both ends have seen the same ones.
            if rank < pairing.pairs || pairing.both_ways {
                slices.entry((size, slice)).or_default().push((rank, sample));
            }
            ranks.entry((size, rank)).or_default().extend(value(pairing.value, sample));
        }
        let mut all: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for ((size, _), samples) in slices {
            all.entry(size).or_default().extend(together(pairing, &samples));
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
fn together(pairing: Pairing, samples: &[(u64, &Sample)]) -> Option<f64> {
    let ranks = pairing.pairs as usize * if pairing.both_ways { 2 } else { 1 };
    let mut by_rank: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
    for (rank, sample) in samples {
        by_rank.entry(*rank).or_default().push(sample);
    }
    if by_rank.len() != ranks {
        return None;
    }
    if pairing.value != PairValue::Rate || ranks == 1 {
        let of_rank = |samples: &Vec<&Sample>| {
            let values: Vec<f64> = samples.iter().filter_map(|sample| value(pairing.value, sample)).collect();
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
pub fn slowest(
    measures: &mut Measures,
    case: &Case,
    at: &AtSize,
    metric: RankMetric,
    of: impl Fn(f64) -> f64 + Copy,
) {
    let ranks: BTreeMap<u64, Trials> =
        at.ranks.iter().map(|(rank, trials)| (*rank, mapped(trials, of))).collect();
    let Some((rank, share)) = add_ranks(measures, case, &ranks, metric) else { return };
    // A rank of which every run was too short is missing among the others.
    let half = case.planned.count(RANKS).unwrap_or(2) / 2;
    let (first, second) = (rank % half, rank % half + half);
    let place = |rank: u64| Some((place_of(case, rank)?, cpu_of(case, rank)?));
    // The speed of ranks that are not pinned is that of the scheduler.
    let (Some((one, cpu)), Some((other, other_cpu))) = (place(first), place(second)) else { return };
    if ranks.len() < FEWEST_RANKS || share >= SLOW {
        return;
    }
    let places = if case.nodes.len() > 1 {
        format!("CPU {cpu} of {} and CPU {other_cpu} of {}", one.node, other.node)
    } else {
        format!("CPUs {cpu} and {other_cpu}")
    };
    let text = format!(
        "rank {rank} is the slowest: ranks {first} and {second} on {places} reach {:.0} % of the speed of the median rank",
        100.0 * share
    );
    let mut finding = Finding::new("slow-rank", Severity::Warning, Subject::node(), text);
    finding.value = Quantity::new(share, Unit::Ratio).ok();
    finding.node = place_of(case, rank).map(|place| place.node.clone());
    finding.evidence = vec![metric.series.to_owned()];
    measures.findings.push(finding);
}
