//! Latency of an operation with its synchronization, or payload and rate of all pairs together, and the slowest rank.

use seatrial_bench::median;
use seatrial_model::{Case, Measures, PartRecord, Reason, Unit};
use seatrial_mpi_job::between_nodes::{PairBytes, tell_moved};
use seatrial_mpi_job::ranks::RANKS;
use seatrial_mpi_job::worker::keep_job;

use super::config::{OneSidedOp, sizes};
use crate::measures::{RankMetric, not_reached, row_of_size};
use crate::pairs::{
    AtSize, PairValue, Pairing, SLOWEST_BANDWIDTH, SLOWEST_RATE, by_size, mapped, slowest, too_short,
};

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let (op, depth) = (OneSidedOp::of(&case.params)?, case.params.count("depth")?);
    let value = if depth == 1 { PairValue::Latency { parts: 1.0 } } else { PairValue::Rate };
    let pairs = case.planned.count(RANKS)? / 2;
    let found = by_size(Pairing { value, pairs, both_ways: false }, parts);
    let (_, small) = found.first_key_value().ok_or_else(|| too_short(parts))?;
    let mut measures = Measures::default();
    if depth == 1 {
        measures.metric("latency", Unit::Microsecond, small.all.clone());
        slowest(&mut measures, case, small, RankMetric::LATENCY, |us| us);
        let rows = found.iter().map(|(size, at)| row_of_size(*size, Unit::Microsecond, at.all.clone()));
        measures.series.insert("latency_by_size".to_owned(), rows.collect());
    } else {
        let rate_of = |size: u64| move |rate: f64| rate * size as f64 / 1e9;
        measures.metric("rate", Unit::MegaPerSecond, mapped(&small.all, |rate| rate / 1e6));
        if op.is_atomic() {
            slowest(&mut measures, case, small, SLOWEST_RATE, |rate| rate / 1e6);
        } else {
            let bytes = |(size, at): &(&u64, &AtSize)| median(&at.all) * **size as f64;
            let fastest = found.iter().max_by(|one, other| bytes(one).total_cmp(&bytes(other)));
            let (&size, fast) = fastest.ok_or_else(|| too_short(parts))?;
            measures.metric("bandwidth", Unit::GigabytesPerSecond, mapped(&fast.all, rate_of(size)));
            slowest(&mut measures, case, fast, SLOWEST_BANDWIDTH, rate_of(size));
            measures.evidence.insert("fastest_size".to_owned(), size.into());
            let rows = found.iter().map(|(size, at)| {
                row_of_size(*size, Unit::GigabytesPerSecond, mapped(&at.all, rate_of(*size)))
            });
            measures.series.insert("bandwidth_by_size".to_owned(), rows.collect());
        }
    }
    let missing = sizes(op, &case.params)?.into_iter().filter(|size| !found.contains_key(size)).count();
    measures.findings.extend(not_reached(missing));
    tell_moved(case, parts, &mut measures, |rank, sample| {
        let bytes = sample.amount.value() as u64 * sample.at.count("size").unwrap_or(0);
        let of_origin = |moves: bool| if moves && rank < pairs { bytes } else { 0 };
        PairBytes {
            forward: of_origin(op != OneSidedOp::Get),
            back: of_origin(op == OneSidedOp::Get || op.is_atomic()),
        }
    });
    keep_job(&mut measures, parts);
    Ok(measures)
}
