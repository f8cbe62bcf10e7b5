//! `mpi.collective`: time of collective operations over the ranks of a job, and what non-blocking ones do behind a computation.

mod config;
mod contents;
mod kernel;
mod plan;
mod program;
mod reduce;
mod samples;
#[cfg(test)]
mod tests;

use seatrial_bench::Benchmark;
use seatrial_model::{About, Actor, Bytes, Kind, ParamSpec, Remedy, Unit};
use seatrial_mpi_job::worker;

use crate::declare::{
    ALLOW_SINGLE_COPY, BY_RANK, BY_SIZE, JOB, LIKE, higher, job_params, latencies, latency, ranks, rates,
};
use config::{CollectiveConfig, ELEMENT, OPERATIONS};

pub use program::start;

pub const ID: &str = "mpi.collective";

const LARGEST: Bytes = Bytes::gib(1);

const ABOUT: About = About {
    id: ID,
    title: "MPI collective operations: time of a call over the ranks of one node or of several",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::User,
            "look at the load and at the placement of the ranks in the evidence: one late rank delays all others",
        ),
        Remedy::new(
            Actor::User,
            "compare library and steering variables in the evidence (OMPI_MCA_coll, I_MPI_ADJUST_, MPIR_CVAR_) with those of \
             the site's module: they choose the algorithm",
        ),
        Remedy::new(
            Actor::User,
            "overlap: let the library progress by itself (MPICH_ASYNC_PROGRESS, I_MPI_ASYNC_PROGRESS), or call MPI_Test",
        ),
        ALLOW_SINGLE_COPY,
    ],
    params: job_params![
        ParamSpec::new("op", Kind::Choice(OPERATIONS), "allreduce")
            .doc("The collective operation, with an i in front its non-blocking form, whose overlap with a computation is measured; operations that reduce add elements of MPI_FLOAT."),
        ranks(2, "Ranks of the job; auto: one for each core, of several nodes as many on each as the one with the fewest has."),
        ParamSpec::new("size", Kind::Size(Bytes(ELEMENT), LARGEST), "auto").word("auto").doc(
            "Bytes, as the OSU micro-benchmarks count them: of allreduce, bcast, reduce and scan those of the whole vector; of \
             allgather, alltoall, gather and scatter those from a rank to each other rank; of reduce_scatter_block those of all \
             shares together. auto: 4 B to 1 MiB in powers of two as a series.",
        ),
        LIKE.doc("osu repeats the warm-up and iteration counts of the OSU micro-benchmarks."),
    ],
    metrics: &[
        latency("latency", "Time in a call at the smallest size, the mean over the ranks."),
        latency("completion", "Time from the entry of the last rank to the exit of the last rank, at the smallest size."),
        latency("slowest_latency", "Time in a call of the rank that is longest in it, at the smallest size."),
        higher(
            "overlap",
            Unit::Percent,
            "Of non-blocking operations: share of the time of a call alone in which the ranks compute, at the largest size.",
        ),
    ],
    series: &[
        latencies("latency_by_size", BY_SIZE, "Time in a call, the mean over the ranks, by size."),
        latencies(
            "completion_by_size",
            BY_SIZE,
            "Time from the entry of the last rank to the exit of the last rank, by size.",
        ),
        rates("overlap_by_size", Unit::Percent, BY_SIZE, "Share of the time of a call alone in which the ranks compute, by size."),
        latencies("latency_by_rank", BY_RANK, "Time in a call of each rank at the smallest size."),
    ],
    ..JOB
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| worker::part(ID, case, place, CollectiveConfig::of),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
