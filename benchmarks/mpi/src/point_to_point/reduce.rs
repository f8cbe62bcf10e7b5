//! Latency, bandwidth and rate of all pairs together, and the slowest rank.

use seatrial_bench::median;
use seatrial_model::{Bytes, Case, Measures, PartRecord, Reason, Unit};
use seatrial_mpi_job::between_nodes::{PairBytes, tell_moved};
use seatrial_mpi_job::ranks::RANKS;
use seatrial_mpi_job::worker::keep_job;

use super::config::{Op, sizes};
use crate::measures::{RankMetric, not_reached, row_of_size};
use crate::pairs::{
    AtSize, PairValue, Pairing, SLOWEST_BANDWIDTH, SLOWEST_RATE, by_size, mapped, slowest, too_short,
};

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let (op, pairs) = (Op::of(&case.params)?, case.planned.count(RANKS)? / 2);
    let value = match op {
        // Half of the round trip.
        Op::Latency => PairValue::Latency { parts: 2.0 },
        _ => PairValue::Rate,
    };
    let found = by_size(Pairing { value, pairs, both_ways: op == Op::BothDirections }, parts);
    let (&smallest, small) = found.first_key_value().ok_or_else(|| too_short(parts))?;
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
            slowest(&mut measures, case, small, SLOWEST_RATE, |rate| rate / 1e6);
        }
        Op::Bandwidth | Op::BothDirections => {
            let bytes = |(size, at): &(&u64, &AtSize)| median(&at.all) * **size as f64;
            let fastest = found.iter().max_by(|one, other| bytes(one).total_cmp(&bytes(other)));
            let (&size, fast) = fastest.ok_or_else(|| too_short(parts))?;
            measures.metric("bandwidth", Unit::GigabytesPerSecond, mapped(&fast.all, rate_of(size)));
            measures.metric("message_rate", Unit::MegaPerSecond, mapped(&small.all, |rate| rate / 1e6));
            slowest(&mut measures, case, fast, SLOWEST_BANDWIDTH, rate_of(size));
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
    tell_moved(case, parts, &mut measures, |rank, sample| {
        let bytes = sample.amount.value() as u64 * sample.at.count("size").unwrap_or(0);
        let is_leader = rank < pairs;
        PairBytes {
            forward: if is_leader || op == Op::BothDirections { bytes } else { 0 },
            back: if is_leader && op == Op::Latency { bytes } else { 0 },
        }
    });
    keep_job(&mut measures, parts);
    Ok(measures)
}
