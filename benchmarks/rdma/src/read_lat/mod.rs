//! `rdma.read_lat`: how long a read of another node's memory takes.

use seatrial_model::{About, Interaction, ParamSpec};
use seatrial_sys::verbs::VerbKind;

use crate::latency::{self, COMPLETION_METRICS};
use crate::method::HasMethod;
use seatrial_bench::Benchmark;
use seatrial_bench::verbs::{Method, RemoteCompletion, params as p};

pub struct ReadLat;

impl HasMethod for ReadLat {
    const METHOD: Method = Method { verb: VerbKind::Read, remote_completion: RemoteCompletion::None };
}

const ABOUT: About = About {
    id: "rdma.read_lat",
    title: "RDMA reads one after the other: time from request to completion",
    doc: include_str!("doc.md"),
    params: &[
        p::DEVICES_AT_ONCE,
        p::PEERS,
        ParamSpec { default: "2 B", ..p::SIZE },
        p::UP_TO,
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
    metrics: COMPLETION_METRICS,
    interaction: Interaction::Loads("a core of one node for each port"),
    ..latency::ABOUT
};

pub const BENCHMARK: Benchmark = latency::benchmark::<ReadLat>(&ABOUT);
