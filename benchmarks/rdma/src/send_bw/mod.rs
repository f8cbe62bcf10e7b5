//! `rdma.send_bw`: how much data messages carry that the far end receives.

use seatrial_model::{About, ParamSpec};
use seatrial_sys::verbs::VerbKind;

use crate::bandwidth::{self, FORWARD, LOSS, MESSAGES, REGISTRATION, REVERSE, THROUGHPUT};
use crate::method::HasMethod;
use seatrial_bench::Benchmark;
use seatrial_bench::verbs::{Method, RemoteCompletion, params as p};

pub struct SendBw;

impl HasMethod for SendBw {
    const METHOD: Method = Method { verb: VerbKind::Send, remote_completion: RemoteCompletion::Cqe };
}

const ABOUT: About = About {
    id: "rdma.send_bw",
    version: 2,
    title: "RDMA sends into posted receives: throughput, message rate, loss",
    doc: include_str!("doc.md"),
    params: &[
        p::DEVICES,
        p::PEERS,
        p::TRANSPORT_ALL,
        p::MULTICAST,
        p::DIRECTION,
        p::SIZE,
        p::UP_TO,
        p::QUEUE_PAIRS,
        p::THREADS,
        p::DEPTH,
        p::RECEIVES,
        p::MODERATION,
        p::POST_LIST,
        p::INLINE,
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

pub const BENCHMARK: Benchmark = bandwidth::benchmark::<SendBw>(&ABOUT);
