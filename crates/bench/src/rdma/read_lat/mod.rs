//! `rdma.read_lat`: how long a read of another node's memory takes.

use seatrial_model::{About, Cost, Interaction, ParamSpec};
use seatrial_sys::verbs::VerbKind;

use crate::common;
use crate::common::rdma::latency::{BY_SIZE, Exchange, WHOLES};
use crate::common::rdma::{Method, Notice, params as p};

/// The benchmark.
pub static READ_LATENCY: Exchange = Exchange { about: &ABOUT, method: METHOD };

const METHOD: Method = Method { verb: VerbKind::Read, notice: Notice::Nothing };

const ABOUT: About = About {
    id: "rdma.read_lat",
    version: 1,
    title: "RDMA reads one after the other: time from request to completion",
    doc: include_str!("doc.md"),
    params: &[
        p::DEVICE,
        p::PEER,
        ParamSpec { default: "2 B", ..p::SIZE },
        p::UP_TO,
        p::COMPLETION,
        p::MTU,
        p::SERVICE_LEVEL,
        p::TRAFFIC_CLASS,
        p::PKEY_INDEX,
        p::GID_INDEX,
        common::seating::AFFINITY,
        ParamSpec { default: "1 s", ..common::TIME },
        common::TRIALS,
        common::MAX_TRIALS,
        common::PRECISION,
    ],
    metrics: WHOLES,
    series: &[BY_SIZE],
    parts: &["client", "server"],
    needs: &[],
    probes: &["steal", "load", "throttle", "ib_port"],
    cost: Cost { seconds: 5, written: 0 },
    interaction: Interaction::Loads("one core of each of two nodes, and the link between them lightly"),
};
