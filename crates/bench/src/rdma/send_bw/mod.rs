//! `rdma.send_bw`: how much data messages carry that the far end receives.

use seatrial_model::{
    About, Case, Cost, Factor, Interaction, Limits, Measures, ParamSpec, Params, PartRecord, Place, Reason,
    Site,
};
use seatrial_sys::verbs::VerbKind;

use crate::common::rdma::bandwidth::{
    self, BY_SIZE, FORWARD, LOSS, MESSAGES, REGISTRATION, REVERSE, THROUGHPUT,
};
use crate::common::rdma::{self, Method, Notice, params as p};
use crate::{Benchmark, Error, Part, common};

/// The benchmark.
pub struct SendBandwidth;

const METHOD: Method = Method { verb: VerbKind::Send, notice: Notice::Completion };

const ABOUT: About = About {
    id: "rdma.send_bw",
    version: 1,
    title: "RDMA sends into receives that were posted before: throughput, message rate, loss",
    doc: include_str!("doc.md"),
    params: &[
        p::DEVICE,
        p::PEER,
        p::TRANSPORT_ALL,
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
        common::PAGES,
        common::seating::AFFINITY,
        ParamSpec { default: "1 s", ..common::TIME },
        common::TRIALS,
        common::MAX_TRIALS,
        common::PRECISION,
    ],
    metrics: &[THROUGHPUT, FORWARD, REVERSE, MESSAGES, LOSS, REGISTRATION],
    series: &[BY_SIZE],
    parts: &["client", "server"],
    needs: &[],
    probes: &["steal", "load", "throttle", "ib_port", "nic"],
    cost: Cost { seconds: 6, written: 0 },
    interaction: Interaction::Loads("the link between two RDMA ports fully, and a core for each thread"),
};

impl Benchmark for SendBandwidth {
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
