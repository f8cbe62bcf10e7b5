//! What a rank has to know, read from the case: operation, window, synchronization, sizes.

use seatrial_bench::turns::turn_span;
use seatrial_model::{Case, Cause, Nanos, Params, Reason};
use seatrial_mpi_job::ranks::{OSU_SMALL, is_like_osu};
use seatrial_sys::mpi::{RmaMemory, RmaSynchronization};
use serde::{Deserialize, Serialize};

use crate::copies::region;

/// A one-sided operation of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OneSidedOp {
    Put,
    Get,
    Accumulate,
    FetchAndOp,
    CompareAndSwap,
}

use OneSidedOp::{Accumulate, CompareAndSwap, FetchAndOp, Get, Put};

/// The operations as the parameter `op` spells them.
pub const OPERATIONS: &[&str] = &["put", "get", "accumulate", "fetch_and_op", "compare_and_swap"];
const OPS: [OneSidedOp; 5] = [Put, Get, Accumulate, FetchAndOp, CompareAndSwap];

/// The memory of windows and their synchronization, as the parameters spell them.
pub const WINDOWS: &[&str] = &["allocate", "create", "dynamic"];
const MEMORIES: [RmaMemory; 3] = [RmaMemory::Allocate, RmaMemory::Create, RmaMemory::Dynamic];
pub const SYNCHRONIZATIONS: &[&str] = &["flush", "lock", "fence", "pscw"];
const SYNCHRONIZATION: [RmaSynchronization; 4] = [
    RmaSynchronization::Flush,
    RmaSynchronization::Lock,
    RmaSynchronization::Fence,
    RmaSynchronization::Pscw,
];

/// Bytes of an element, an MPI_INT64_T.
pub const ELEMENT: u64 = 8;

/// The largest size of OSU's sweep.
const LARGEST_OF_SWEEP: u64 = 1 << 22;

/// The value that stands where `word` stands in `words`.
fn pick<T: Copy>(name: &str, word: &str, words: &[&str], values: &[T]) -> Result<T, Reason> {
    let found = words.iter().position(|known| *known == word).and_then(|at| values.get(at)).copied();
    found.ok_or_else(|| Reason::new(Cause::Protocol, format!("{name}={word} does not exist")))
}

impl OneSidedOp {
    pub fn of(params: &Params) -> Result<Self, Reason> {
        pick("op", params.text("op")?, OPERATIONS, &OPS)
    }

    /// Whether bytes are copied as they are; else elements are changed.
    pub const fn copies(self) -> bool {
        matches!(self, Put | Get)
    }

    /// Whether the operation is of one element.
    pub const fn is_atomic(self) -> bool {
        matches!(self, FetchAndOp | CompareAndSwap)
    }
}

/// Warm-up and measured iterations of OSU's one-sided benchmarks, of latency and of bandwidth.
pub const fn osu_iterations(depth: usize, size: u64) -> (u64, u64) {
    match (depth, size <= OSU_SMALL) {
        (1, true) => (100, 10_000),
        (1, false) => (10, 1000),
        (_, true) => (10, 100),
        (_, false) => (2, 20),
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneSidedConfig {
    pub op: OneSidedOp,
    window: String,
    sync: String,
    /// Bytes of an operation, by rising size.
    pub sizes: Vec<u64>,
    /// Operations between two synchronizations.
    pub depth: usize,
    /// Bytes of the region that operations take fresh places of; 0 where they have the same places again and again.
    pub region: u64,
    pub osu: bool,
    /// Time of one size before the next has its turn.
    pub slice: Nanos,
}

impl OneSidedConfig {
    pub fn of(case: &Case) -> Result<Self, Reason> {
        let (params, op) = (&case.params, OneSidedOp::of(&case.params)?);
        let sizes = sizes(op, params)?;
        Ok(Self {
            op,
            window: params.text("window")?.to_owned(),
            sync: params.text("sync")?.to_owned(),
            depth: params.count("depth")? as usize,
            region: region(case)?,
            osu: is_like_osu(params),
            slice: turn_span(case.budget.measure, sizes.len()),
            sizes,
        })
    }

    pub fn memory(&self) -> Result<RmaMemory, Reason> {
        pick("window", &self.window, WINDOWS, &MEMORIES)
    }

    pub fn synchronization(&self) -> Result<RmaSynchronization, Reason> {
        pick("sync", &self.sync, SYNCHRONIZATIONS, &SYNCHRONIZATION)
    }
}

/// The sizes of a case.
pub fn sizes(op: OneSidedOp, params: &Params) -> Result<Vec<u64>, Reason> {
    let contradiction = |text: String| Err(Reason::new(Cause::Contradiction, text));
    let Some(size) = params.bytes("size")? else {
        let least = if op.copies() { 1 } else { ELEMENT };
        let most = if op.is_atomic() { ELEMENT } else { LARGEST_OF_SWEEP };
        let powers = std::iter::successors(Some(least), |size| Some(size * 2));
        return Ok(powers.take_while(|size| *size <= most).collect());
    };
    let size = size.get();
    if op.is_atomic() && size != ELEMENT {
        return contradiction(format!(
            "size={size} B: op={} is of one element of {ELEMENT} B; leave size out",
            params.text("op")?
        ));
    }
    if !op.copies() && size % ELEMENT != 0 {
        return contradiction(format!("size={size} B: elements have {ELEMENT} B; set a multiple"));
    }
    Ok(vec![size])
}
