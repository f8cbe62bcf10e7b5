//! `rdma.write_bw`: how much data one-sided writes carry between two RDMA ports.

use seatrial_model::{About, ParamSpec};
use seatrial_sys::verbs::VerbKind;

use crate::bandwidth::{self, FORWARD, LOSS, MESSAGES, REGISTRATION, REVERSE, THROUGHPUT};
use crate::method::HasMethod;
use seatrial_bench::Benchmark;
use seatrial_bench::verbs::{Method, RemoteCompletion, params as p};

pub struct WriteBw;

impl HasMethod for WriteBw {
    const METHOD: Method = Method { verb: VerbKind::Write, remote_completion: RemoteCompletion::None };
}

const ABOUT: About = About {
    id: "rdma.write_bw",
    version: 2,
    title: "RDMA writes into the memory of another node: throughput and message rate",
    doc: include_str!("doc.md"),
    params: &[
        p::DEVICES,
        p::PEERS,
        p::TRANSPORT_RC_UC,
        p::DIRECTION,
        p::SIZE,
        p::UP_TO,
        p::QUEUE_PAIRS,
        p::THREADS,
        p::DEPTH,
        p::MODERATION,
        p::POST_LIST,
        p::INLINE,
        p::FENCE_PUT,
        p::COMPLETION,
        p::BUFFERS,
        p::MTU,
        p::SERVICE_LEVEL,
        p::TRAFFIC_CLASS,
        p::PKEY_INDEX,
        p::GID_INDEX,
        seatrial_bench::PAGES,
        seatrial_bench::affinity::AFFINITY,
        seatrial_bench::VERIFY,
        ParamSpec { default: "1 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[THROUGHPUT, FORWARD, REVERSE, MESSAGES, LOSS, REGISTRATION],
    ..bandwidth::ABOUT
};

pub const BENCHMARK: Benchmark = bandwidth::benchmark::<WriteBw>(&ABOUT);
