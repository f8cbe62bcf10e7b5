//! `rdma.write_poll_lat`: how long a write takes until the far end's CPU sees it in memory.

use seatrial_model::{About, ParamSpec};
use seatrial_sys::verbs::VerbKind;

use crate::latency;
use crate::method::HasMethod;
use seatrial_bench::Benchmark;
use seatrial_bench::verbs::{Method, RemoteCompletion, params as p};

pub struct WritePollLat;

impl HasMethod for WritePollLat {
    const METHOD: Method = Method { verb: VerbKind::Write, remote_completion: RemoteCompletion::Polled };
}

const ABOUT: About = About {
    id: "rdma.write_poll_lat",
    title: "RDMA write ping-pong by polling memory: the shortest latency of the card",
    doc: include_str!("doc.md"),
    params: &[
        p::DEVICES_AT_ONCE,
        p::PEERS,
        p::TRANSPORT_RC_UC,
        ParamSpec { default: "2 B", ..p::SIZE },
        p::UP_TO,
        p::INLINE_AUTO,
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

pub const BENCHMARK: Benchmark = latency::benchmark::<WritePollLat>(&ABOUT);
