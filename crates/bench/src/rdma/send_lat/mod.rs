//! `rdma.send_lat`: how long a message takes until the far end has received it.

use seatrial_model::{
    About, Bytes, Case, Cost, Factor, Interaction, Kind, Limits, Measures, ParamSpec, Params, PartRecord,
    Place, Reason, Site,
};
use seatrial_sys::verbs::VerbKind;

use crate::common::rdma::latency::{self, BY_SIZE, HALVES};
use crate::common::rdma::{self, Method, Notice, params as p};
use crate::{Benchmark, Error, Part, common};

/// The benchmark.
pub struct SendLatency;

const METHOD: Method = Method { verb: VerbKind::Send, notice: Notice::Completion };

const ABOUT: About = About {
    id: "rdma.send_lat",
    version: 1,
    title: "RDMA sends there and back: latency by completion queues",
    doc: include_str!("doc.md"),
    params: &[
        p::DEVICE,
        p::PEER,
        p::TRANSPORT_ALL,
        ParamSpec { default: "2 B", ..p::SIZE },
        p::UP_TO,
        ParamSpec {
            kind: Kind::Size(Bytes(0), Bytes::kib(4)),
            word: Some("auto"),
            default: "auto",
            doc: "Messages up to this size are copied into the request; auto is the most that the device grants, up to 220 B.",
            ..p::INLINE
        },
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
    metrics: HALVES,
    series: &[BY_SIZE],
    parts: &["client", "server"],
    needs: &[],
    probes: &["steal", "load", "throttle", "ib_port"],
    cost: Cost { seconds: 5, written: 0 },
    interaction: Interaction::Loads("one core of each of two nodes, and the link between them lightly"),
};

impl Benchmark for SendLatency {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn factors(&self) -> &'static [Factor] {
        &[common::seating::UNPINNED]
    }

    fn plan(&self, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
        rdma::plan_pairs(&ABOUT, params, site)
    }

    fn limits(&self, _: &Case, _: &Site) -> Limits {
        common::all_unstated(&ABOUT)
    }

    fn part(&self, case: &Case, place: &Place) -> Result<Box<dyn Part>, Error> {
        latency::part(METHOD, case, place)
    }

    fn reduce(&self, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
        latency::reduce(METHOD, case, parts)
    }
}
