//! `rdma.write_lat`: how long a write takes until the far end's completion queue reports it.

use seatrial_model::{About, Cost, Interaction, ParamSpec};
use seatrial_sys::verbs::VerbKind;

use crate::latency::{self, BY_PORT, BY_SIZE, HALF_RTT_METRICS};
use crate::method::HasMethod;
use seatrial_bench::Benchmark;
use seatrial_bench::verbs::{Method, RemoteCompletion, params as p};

pub struct WriteLat;

impl HasMethod for WriteLat {
    const METHOD: Method = Method { verb: VerbKind::Write, remote_completion: RemoteCompletion::Cqe };
}

const ABOUT: About = About {
    id: "rdma.write_lat",
    version: 1,
    title: "RDMA write ping-pong with immediate data: latency by completion queues",
    doc: include_str!("doc.md"),
    params: &[
        p::DEVICES_AT_ONCE,
        p::PEERS,
        p::TRANSPORT_RC_UC,
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
        ParamSpec { default: "1 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
    ],
    metrics: HALF_RTT_METRICS,
    series: &[BY_SIZE, BY_PORT],
    parts: &["client", "server"],
    needs: &[],
    probes: &["steal", "load", "throttle", "clock", "ib_port", "nic"],
    cost: Cost { seconds: 5, written: 0 },
    interaction: Interaction::Loads("a core of both nodes for each port"),
};

pub const BENCHMARK: Benchmark = latency::benchmark::<WriteLat>(&ABOUT);
