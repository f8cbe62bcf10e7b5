//! `mpi.one_sided`: latency, bandwidth and rate of operations on the memory of another rank.

mod config;
mod contents;
mod kernel;
mod plan;
mod program;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_bench::Benchmark;
use seatrial_model::{About, Actor, Bytes, Kind, ParamSpec, Remedy, Unit};
use seatrial_mpi_job::worker;

use crate::declare::{
    ALLOW_SINGLE_COPY, BY_RANK, BY_SIZE, JOB, LIKE, higher, job_params, latencies, latency, ranks, rates,
};
use config::{OPERATIONS, OneSidedConfig, SYNCHRONIZATIONS, WINDOWS};

pub use program::start;

pub const ID: &str = "mpi.one_sided";

const LARGEST: Bytes = Bytes::gib(1);

const ABOUT: About = About {
    id: ID,
    title: "MPI one-sided operations between pairs of ranks: put, get, accumulate, fetch-and-op, compare-and-swap",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::User,
            "compare window=allocate with the window of the application: only that one can be memory that processes share",
        ),
        Remedy::new(
            Actor::User,
            "look at the steering variables in the evidence (OMPI_MCA_osc, UCX_TLS): they choose the transport of windows",
        ),
        ALLOW_SINGLE_COPY,
    ],
    params: job_params![
        ParamSpec::new("op", Kind::Choice(OPERATIONS), "put").doc(
            "The operation of one rank of a pair on the memory of the other; those on elements have MPI_INT64_T, and \
             accumulate and fetch_and_op add.",
        ),
        ranks(2, "Ranks of the job, an even number; auto: 2 on one node, one on each of several; rank i operates on the memory of rank i + ranks / 2."),
        ParamSpec::new("size", Kind::Size(Bytes(1), LARGEST), "auto").word("auto").doc(
            "Bytes of an operation; auto: up to 4 MiB in powers of two as a series, and one element of 8 B with fetch_and_op and \
             compare_and_swap.",
        ),
        ParamSpec::new("depth", Kind::Load(1, 4096), "1").doc(
            "Operations before each synchronization: 1 measures latency, more measure bandwidth and rate.",
        ),
        ParamSpec::new("window", Kind::Choice(WINDOWS), "allocate").doc(
            "Where the memory of the window comes from: the library allocates it (MPI_Win_allocate), the program has it \
             (MPI_Win_create), or the program attaches it (MPI_Win_create_dynamic).",
        ),
        ParamSpec::new("sync", Kind::Choice(SYNCHRONIZATIONS), "flush").doc(
            "What completes operations: MPI_Win_flush in one lock, a lock and unlock each time, MPI_Win_fence of both ranks, or \
             post, start, complete and wait (PSCW).",
        ),
        ParamSpec::new("buffers", Kind::Choice(&["one", "fresh"]), "auto").word("auto").doc(
            "Memory of the operations: the same places again and again, or fresh places in a region larger than the caches; \
             auto: fresh for put and get with depth above 1, one otherwise and with like=osu.",
        ),
        LIKE.doc("osu repeats the warm-up and iteration counts and the single buffer of the OSU micro-benchmarks."),
    ],
    metrics: &[
        latency("latency", "Time of an operation and its synchronization at the smallest size, the mean over the pairs."),
        higher("bandwidth", Unit::GigabytesPerSecond, "Payload of all pairs together at the fastest size."),
        higher("rate", Unit::MegaPerSecond, "Operations of all pairs together at the smallest size."),
        latency("slowest_latency", "Latency that the slowest rank sees at the smallest size."),
        higher("slowest_bandwidth", Unit::GigabytesPerSecond, "Payload of the slowest rank at the fastest size."),
        higher("slowest_rate", Unit::MegaPerSecond, "Operations of the slowest rank at the smallest size."),
    ],
    series: &[
        latencies(
            "latency_by_size",
            BY_SIZE,
            "Time of an operation and its synchronization, the mean over the pairs, by size.",
        ),
        rates("bandwidth_by_size", Unit::GigabytesPerSecond, BY_SIZE, "Payload of all pairs together, by size."),
        latencies("latency_by_rank", BY_RANK, "Latency that each rank sees at the smallest size."),
        rates("bandwidth_by_rank", Unit::GigabytesPerSecond, BY_RANK, "Payload of each rank at the fastest size."),
        rates("rate_by_rank", Unit::MegaPerSecond, BY_RANK, "Operations of each rank at the smallest size."),
    ],
    ..JOB
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| worker::part(ID, case, place, OneSidedConfig::of),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
