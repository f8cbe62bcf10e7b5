//! `rdma.send_lat`: how long a message takes until the far end has received it.

use seatrial_model::{About, ParamSpec};
use seatrial_sys::verbs::VerbKind;

use crate::latency;
use crate::method::HasMethod;
use seatrial_bench::Benchmark;
use seatrial_bench::verbs::{Method, RemoteCompletion, params as p};

pub struct SendLat;

impl HasMethod for SendLat {
    const METHOD: Method = Method { verb: VerbKind::Send, remote_completion: RemoteCompletion::Cqe };
}

const ABOUT: About = About {
    id: "rdma.send_lat",
    title: "RDMA send ping-pong: latency by completion queues",
    doc: include_str!("doc.md"),
    params: &[
        p::DEVICES_AT_ONCE,
        p::PEERS,
        p::TRANSPORT_ALL,
        ParamSpec { default: "2 B", ..p::SIZE },
        p::UP_TO,
        p::INLINE_AUTO,
        p::COMPLETION,
        p::MTU,
        p::SERVICE_LEVEL,
        p::TRAFFIC_CLASS,
        p::PKEY_INDEX,
        p::GID_INDEX,
        seatrial_bench::affinity::AFFINITY,
        seatrial_bench::VERIFY,
        ParamSpec { default: "1 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    ..latency::ABOUT
};

pub const BENCHMARK: Benchmark = latency::benchmark::<SendLat>(&ABOUT);
