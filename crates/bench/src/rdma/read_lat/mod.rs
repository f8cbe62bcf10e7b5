//! `rdma.read_lat`: how long a read of another node's memory takes.

use seatrial_model::{
    About, Case, Cost, Factor, Interaction, Limits, Measures, ParamSpec, Params, PartRecord, Place, Reason,
    Site,
};
use seatrial_sys::verbs::VerbKind;

use crate::common::rdma::latency::{self, BY_SIZE, WHOLES};
use crate::common::rdma::{self, Method, Notice, params as p};
use crate::{Benchmark, Error, Part, common};

/// The benchmark.
pub struct ReadLatency;

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

impl Benchmark for ReadLatency {
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
