//! `rdma.read_bw`: how much data one-sided reads fetch between two RDMA ports.

use seatrial_model::{
    About, Case, Cost, Factor, Interaction, Limits, Measures, ParamSpec, Params, PartRecord, Place, Reason,
    Site,
};
use seatrial_sys::verbs::VerbKind;

use crate::common::rdma::bandwidth::{self, BY_SIZE, FORWARD, MESSAGES, REGISTRATION, REVERSE, THROUGHPUT};
use crate::common::rdma::{self, Method, Notice, params as p};
use crate::{Benchmark, Error, Part, common};

/// The benchmark.
pub struct ReadBandwidth;

const METHOD: Method = Method { verb: VerbKind::Read, notice: Notice::Nothing };

const ABOUT: About = About {
    id: "rdma.read_bw",
    version: 1,
    title: "RDMA reads from the memory of another node: throughput and message rate",
    doc: include_str!("doc.md"),
    params: &[
        p::DEVICE,
        p::PEER,
        p::DIRECTION,
        p::SIZE,
        p::UP_TO,
        p::QUEUE_PAIRS,
        p::THREADS,
        p::DEPTH,
        p::OUTSTANDING,
        p::MODERATION,
        p::POST_LIST,
        p::FENCE_GET,
        p::COMPLETION,
        p::BUFFERS,
        p::MTU,
        p::SERVICE_LEVEL,
        p::TRAFFIC_CLASS,
        p::PKEY_INDEX,
        p::GID_INDEX,
        common::PAGES,
        common::seating::AFFINITY,
        ParamSpec { default: "1 s", ..common::TIME },
        common::TRIALS,
        common::MAX_TRIALS,
        common::PRECISION,
    ],
    metrics: &[THROUGHPUT, FORWARD, REVERSE, MESSAGES, REGISTRATION],
    series: &[BY_SIZE],
    parts: &["client", "server"],
    needs: &[],
    probes: &["steal", "load", "throttle", "ib_port", "nic"],
    cost: Cost { seconds: 6, written: 0 },
    interaction: Interaction::Loads("the link between two RDMA ports fully, and a core for each thread"),
};

impl Benchmark for ReadBandwidth {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn factors(&self) -> &'static [Factor] {
        &[common::seating::UNPINNED]
    }

    fn plan(&self, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
        rdma::plan_pairs(&ABOUT, params, site)
    }

    fn limits(&self, case: &Case, site: &Site) -> Limits {
        rdma::capacity(&ABOUT, METHOD, case, site)
    }

    fn part(&self, case: &Case, place: &Place) -> Result<Box<dyn Part>, Error> {
        bandwidth::part(METHOD, case, place)
    }

    fn reduce(&self, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
        bandwidth::reduce(METHOD, case, parts)
    }
}
