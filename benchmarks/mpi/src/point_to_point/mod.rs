//! `mpi.point_to_point`: latency, bandwidth and message rate of messages between pairs of ranks.

mod config;
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
use config::RankConfig;

pub use program::start;

pub const ID: &str = "mpi.point_to_point";

/// Bytes of the largest message, below the 2 GiB that MPI can count.
const LARGEST: Bytes = Bytes::gib(1);

const ABOUT: About = About {
    id: ID,
    title: "MPI messages between pairs of ranks: latency, bandwidth, both directions, message rate",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::User,
            "compare the library in the evidence with the one that the site's module loads: a build without the fabric's \
             transport is slow",
        ),
        Remedy::new(
            Actor::User,
            "look at the steering variables in the evidence (UCX_TLS, OMPI_MCA_btl, FI_PROVIDER): they may exclude shared memory",
        ),
        ALLOW_SINGLE_COPY,
    ],
    params: job_params![
        ParamSpec::new("op", Kind::Choice(&["latency", "bandwidth", "both_directions", "message_rate"]), "latency")
            .doc(
                "What pairs of ranks do: a ping-pong, windows of messages one way, windows both ways, or windows of small \
                 messages.",
            ),
        ranks(2, "Ranks of the job, an even number; auto: 2 on one node, one on each of several; rank i exchanges messages with rank i + ranks / 2."),
        ParamSpec::new("size", Kind::Size(Bytes(1), LARGEST), "auto").word("auto").doc(
            "Size of a message; auto: 1 B to 4 MiB in powers of two as a series, and 8 B with op=message_rate.",
        ),
        ParamSpec::new("window", Kind::Load(1, 4096), "64")
            .doc("Messages that are under way at the same time, except with op=latency."),
        ParamSpec::new("buffers", Kind::Choice(&["one", "fresh"]), "auto").word("auto").doc(
            "Memory of the messages: one buffer for all, or a fresh place for each in a region larger than the caches; auto: \
             fresh for bandwidth and both_directions, one otherwise and with like=osu.",
        ),
        LIKE.doc("osu repeats the warm-up and iteration counts, the window and the single buffer of the OSU micro-benchmarks."),
    ],
    metrics: &[
        latency("latency", "Half of the round trip of the smallest message, the mean over the pairs."),
        higher(
            "bandwidth",
            Unit::GigabytesPerSecond,
            "Payload of all pairs together at the fastest size, both directions added up.",
        ),
        higher("message_rate", Unit::MegaPerSecond, "Messages of all pairs together at the smallest size."),
        latency("slowest_latency", "Latency that the slowest rank sees at the smallest size."),
        higher(
            "slowest_bandwidth",
            Unit::GigabytesPerSecond,
            "Payload that the slowest rank sends or receives at the fastest size.",
        ),
        higher(
            "slowest_rate",
            Unit::MegaPerSecond,
            "Messages that the slowest rank sends or receives at the smallest size.",
        ),
    ],
    series: &[
        latencies("latency_by_size", BY_SIZE, "Half of the round trip, the mean over the pairs, by message size."),
        rates(
            "bandwidth_by_size",
            Unit::GigabytesPerSecond,
            BY_SIZE,
            "Payload of all pairs together, by message size.",
        ),
        latencies("latency_by_rank", BY_RANK, "Latency that each rank sees at the smallest size."),
        rates(
            "bandwidth_by_rank",
            Unit::GigabytesPerSecond,
            BY_RANK,
            "Payload that each rank sends or receives at the fastest size.",
        ),
        rates(
            "rate_by_rank",
            Unit::MegaPerSecond,
            BY_RANK,
            "Messages that each rank sends or receives at the smallest size.",
        ),
    ],
    ..JOB
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| worker::part(ID, case, place, RankConfig::of),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
