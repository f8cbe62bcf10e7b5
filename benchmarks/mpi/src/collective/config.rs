//! What a rank has to know, read from the case: the operation, its sizes, and how long the buffers are.

use seatrial_bench::turns::turn_span;
use seatrial_model::{Case, Cause, Nanos, Params, Reason};
use seatrial_mpi_job::ranks::{OSU_SMALL, RANKS, is_like_osu};
use serde::{Deserialize, Serialize};

/// A collective operation of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Collective {
    Barrier,
    Bcast,
    Reduce,
    Allreduce,
    Allgather,
    Alltoall,
    ReduceScatterBlock,
    Gather,
    Scatter,
    Scan,
}

use Collective::{
    Allgather, Allreduce, Alltoall, Barrier, Bcast, Gather, Reduce, ReduceScatterBlock, Scan, Scatter,
};

/// The operations as the parameter `op` spells them: the blocking forms, and the non-blocking ones behind an i as in MPI.
pub const OPERATIONS: &[&str] = &[
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "allgather",
    "alltoall",
    "reduce_scatter_block",
    "gather",
    "scatter",
    "scan",
    "ibarrier",
    "ibcast",
    "ireduce",
    "iallreduce",
    "iallgather",
    "ialltoall",
    "ireduce_scatter_block",
    "igather",
    "iscatter",
    "iscan",
];

/// In the order of the blocking forms in [`OPERATIONS`].
const ALL: [Collective; 10] =
    [Barrier, Bcast, Reduce, Allreduce, Allgather, Alltoall, ReduceScatterBlock, Gather, Scatter, Scan];

/// What the words of the non-blocking forms begin with.
const NON_BLOCKING: char = 'i';

pub fn is_non_blocking(params: &Params) -> Result<bool, Reason> {
    Ok(params.text("op")?.starts_with(NON_BLOCKING))
}

/// The rank that sends to all or gets from all.
pub const ROOT: usize = 0;

/// Bytes of an element, an MPI_FLOAT.
pub const ELEMENT: u64 = 4;

/// The largest size of the sweep, as in OSU's benchmarks (MAX_MSG_SIZE_COLL of osu_util.h).
const LARGEST_OF_SWEEP: u64 = 1 << 20;

/// Number of elements in the buffers of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// What the rank sends.
    pub out: usize,
    /// Where the rank receives. The root of a broadcast sends from here.
    pub into: usize,
}

impl Collective {
    pub fn of(params: &Params) -> Result<Self, Reason> {
        let word = params.text("op")?;
        let blocking = word.strip_prefix(NON_BLOCKING).unwrap_or(word);
        let at = OPERATIONS.iter().position(|name| *name == blocking);
        at.and_then(|at| ALL.get(at).copied())
            .ok_or_else(|| Reason::new(Cause::Protocol, format!("op={word} does not exist")))
    }

    /// Whether the result is a sum over ranks.
    pub const fn sums(self) -> bool {
        matches!(self, Reduce | Allreduce | ReduceScatterBlock | Scan)
    }

    /// The buffers of `rank` where the size has so many elements, in the meaning that OSU's benchmarks have: what a rank
    /// sends to each other rank, of reduce_scatter_block what all ranks get together.
    pub const fn buffers(self, elements: usize, ranks: usize, rank: usize) -> Buffers {
        let (all, is_root) = (elements * ranks, rank == ROOT);
        let (out, into) = match self {
            Barrier => (0, 0),
            Bcast => (0, elements),
            Reduce => (elements, if is_root { elements } else { 0 }),
            Allreduce | Scan => (elements, elements),
            Allgather => (elements, all),
            Alltoall => (all, all),
            ReduceScatterBlock => (elements / ranks * ranks, elements / ranks),
            Gather => (elements, if is_root { all } else { 0 }),
            Scatter => (if is_root { all } else { 0 }, elements),
        };
        Buffers { out, into }
    }
}

/// Warm-up and measured iterations of OSU's collective benchmarks.
pub const fn osu_iterations(size: u64) -> (u64, u64) {
    if size <= OSU_SMALL { (100, 1000) } else { (10, 100) }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectiveConfig {
    pub op: Collective,
    pub non_blocking: bool,
    /// Bytes, by rising size; one size of 0 without data.
    pub sizes: Vec<u64>,
    pub osu: bool,
    /// Time of one size before the next has its turn.
    pub slice: Nanos,
}

impl CollectiveConfig {
    pub fn of(case: &Case) -> Result<Self, Reason> {
        let op = Collective::of(&case.params)?;
        let sizes = sizes(op, &case.params, case.planned.count(RANKS)?)?;
        Ok(Self {
            op,
            non_blocking: is_non_blocking(&case.params)?,
            osu: is_like_osu(&case.params),
            slice: turn_span(case.budget.measure, sizes.len()),
            sizes,
        })
    }
}

/// The sizes of a case in which the operation moves data.
pub fn sizes(op: Collective, params: &Params, ranks: u64) -> Result<Vec<u64>, Reason> {
    let word = params.text("op")?;
    let contradiction = |text: String| Err(Reason::new(Cause::Contradiction, text));
    let least = if op == ReduceScatterBlock { ELEMENT * ranks } else { ELEMENT };
    let Some(size) = params.bytes("size")? else {
        let powers = std::iter::successors(Some(ELEMENT), |size| Some(size * 2));
        let powers = powers.take_while(|size| *size <= LARGEST_OF_SWEEP);
        return Ok(if op == Barrier { vec![0] } else { powers.filter(|size| *size >= least).collect() });
    };
    let size = size.get();
    if op == Barrier {
        return contradiction(format!("size={size} B: op={word} moves no data; leave size out"));
    }
    if size % ELEMENT != 0 {
        return contradiction(format!("size={size} B: elements have {ELEMENT} B; set a multiple"));
    }
    if size < least {
        return contradiction(format!(
            "size={size} B: op={word} shares its size out to {ranks} ranks, {ELEMENT} B each at least; set \
             {least} B or more"
        ));
    }
    Ok(vec![size])
}
