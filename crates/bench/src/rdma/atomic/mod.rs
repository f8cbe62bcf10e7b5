//! `rdma.atomic`: how many atomic operations a card does on another node's memory, how long one takes, and whether they
//! are right.

mod part;
mod reduce;
mod run;

use seatrial_model::{
    About, Better, Case, Cost, Factor, Interaction, Kind, Limit, Limits, Measures, MetricSpec, ParamSpec,
    Params, PartRecord, Place, Reason, Site, Unit,
};
use seatrial_sys::verbs::VerbKind;

use crate::common::rdma::{self, Method, Notice, params as p};
use crate::{Benchmark, Error, Part, common};

/// The benchmark.
pub struct Atomic;

const METHOD: Method = Method { verb: VerbKind::Atomic, notice: Notice::Nothing };

/// What is done to a word.
const OPERATION: ParamSpec = ParamSpec {
    name: "operation",
    doc: "Fetch and add 1, or compare with the value that the last one left and swap in the next.",
    kind: Kind::Choice(&["fetch_add", "compare_swap"]),
    word: None,
    default: "fetch_add",
};

const fn time(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec { name, doc, unit: Unit::Microsecond, better: Better::Lower }
}

const ABOUT: About = About {
    id: "rdma.atomic",
    version: 1,
    title: "RDMA atomics on the memory of another node: rate, latency, and whether every result is right",
    doc: include_str!("doc.md"),
    params: &[
        p::DEVICE,
        p::PEER,
        OPERATION,
        p::QUEUE_PAIRS,
        ParamSpec { default: "16", ..p::DEPTH },
        p::OUTSTANDING,
        p::COMPLETION,
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
    metrics: &[
        MetricSpec {
            name: "rate",
            doc: "Atomics a second of all queue pairs together, depth of them under way on each.",
            unit: Unit::MegaPerSecond,
            better: Better::Higher,
        },
        time(
            "latency",
            "Time from posting one atomic to its completion, nothing else under way; median of each slice.",
        ),
        time("p99", "Time that 99 % of these do not exceed."),
        time("p999", "Time that 99.9 % of these do not exceed."),
        time("slowest", "The longest of these."),
    ],
    series: &[],
    parts: &["client", "server"],
    needs: &[],
    probes: &["steal", "load", "throttle", "ib_port"],
    cost: Cost { seconds: 5, written: 0 },
    interaction: Interaction::Loads("one core, and the cards of two RDMA ports"),
};

impl Benchmark for Atomic {
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
        let mut limits = common::all_unstated(&ABOUT);
        let reason = "no card states how many atomics it does".to_owned();
        limits.insert("rate".to_owned(), Limit::Unknown { reason });
        limits
    }

    fn part(&self, case: &Case, place: &Place) -> Result<Box<dyn Part>, Error> {
        part::part(METHOD, case, place)
    }

    fn reduce(&self, _: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
        reduce::reduce(parts)
    }
}
