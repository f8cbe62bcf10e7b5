//! What a rank has to know, read from the case.

use seatrial_bench::turns::turn_span;
use seatrial_model::{Case, Cause, Nanos, Params, Reason};
use seatrial_mpi_job::ranks::{OSU_SMALL, is_like_osu};
use serde::{Deserialize, Serialize};

use crate::copies::region;

/// What pairs of ranks do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    Latency,
    Bandwidth,
    BothDirections,
    MessageRate,
}

impl Op {
    pub fn of(params: &Params) -> Result<Self, Reason> {
        match params.text("op")? {
            "latency" => Ok(Self::Latency),
            "bandwidth" => Ok(Self::Bandwidth),
            "both_directions" => Ok(Self::BothDirections),
            "message_rate" => Ok(Self::MessageRate),
            other => Err(Reason::new(Cause::Protocol, format!("op={other} does not exist"))),
        }
    }

    /// Whether both ranks of a pair send and receive.
    pub const fn is_both_ways(self) -> bool {
        matches!(self, Self::Latency | Self::BothDirections)
    }
}

/// The largest size of OSU's sweep.
const LARGEST_OF_SWEEP: u32 = 22;

/// Size of the messages whose rate is measured.
const SMALL: u64 = 8;

/// Warm-up and measured iterations of an OSU benchmark: latency counts round trips, bandwidth counts windows.
pub const fn osu_iterations(op: Op, size: u64) -> (u64, u64) {
    match (op, size <= OSU_SMALL) {
        (Op::Latency, true) => (100, 10_000),
        (Op::Latency, false) => (10, 1000),
        (_, true) => (10, 100),
        (_, false) => (2, 20),
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankConfig {
    pub op: Op,
    /// Bytes of a message, by rising size.
    pub sizes: Vec<u64>,
    /// Messages under way; 1 with latency.
    pub window: usize,
    /// Bytes of the region that messages take fresh places of; 0 where all messages have one place.
    pub region: u64,
    pub osu: bool,
    /// Time of one size before the next has its turn.
    pub slice: Nanos,
}

impl RankConfig {
    pub fn of(case: &Case) -> Result<Self, Reason> {
        let op = Op::of(&case.params)?;
        let sizes = sizes(op, &case.params)?;
        Ok(Self {
            op,
            window: window(op, &case.params)?,
            region: region(case)?,
            osu: is_like_osu(&case.params),
            slice: turn_span(case.budget.measure, sizes.len()),
            sizes,
        })
    }
}

pub fn sizes(op: Op, params: &Params) -> Result<Vec<u64>, Reason> {
    Ok(match params.bytes("size")? {
        Some(size) => vec![size.get()],
        None if op == Op::MessageRate => vec![SMALL],
        None => (0..=LARGEST_OF_SWEEP).map(|power| 1 << power).collect(),
    })
}

pub fn window(op: Op, params: &Params) -> Result<usize, Reason> {
    Ok(if op == Op::Latency { 1 } else { params.count("window")? as usize })
}
