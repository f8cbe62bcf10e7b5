//! `rdma.atomic`: how many atomic operations a card does on another node's memory, how long one takes, and whether they
//! are right.

mod part;
mod reduce;
mod run;

use seatrial_model::{
    About, AxisSpec, Cost, Interaction, Kind, Limit, MetricSpec, ParamSpec, SeriesSpec, Unit,
};
use seatrial_sys::verbs::VerbKind;

use seatrial_bench::verbs::{self, Method, RemoteCompletion, params as p};
use seatrial_bench::{Benchmark, Part};

const METHOD: Method = Method { verb: VerbKind::Atomic, remote_completion: RemoteCompletion::None };

/// What is done to a word.
const OPERATION: ParamSpec =
    ParamSpec::new("operation", Kind::Choice(&["fetch_add", "compare_swap"]), "fetch_add")
        .doc("Fetch and add 1, or compare with the value that the last one left and swap in the next.");

const fn time(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Microsecond).doc(doc)
}

const ABOUT: About = About {
    id: "rdma.atomic",
    version: 2,
    title: "RDMA atomics on the memory of another node: rate, latency, and whether every result is right",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec {
            doc: "The port of the first node, such as mlx5_0/1, or a device of one port; several such as \
                  mlx5_0/1+mlx5_1/1 are one case, with queue_pairs and threads for each, of which rate is the sum and \
                  latency that of the first; auto measures each active port.",
            ..p::DEVICES
        },
        p::PEERS,
        OPERATION,
        p::QUEUE_PAIRS,
        p::THREADS,
        ParamSpec { default: "16", ..p::DEPTH },
        p::OUTSTANDING,
        p::COMPLETION,
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
    metrics: &[
        MetricSpec::higher_is_better("rate", Unit::MegaPerSecond).doc(
            "Atomics a second of all queue pairs of all ports together, depth of them under way on \
             each.",
        ),
        time(
            "latency",
            "Time from posting one atomic to its completion, nothing else under way, over the first port; median of \
             each slice.",
        ),
        time("p99", "Time that 99 % of these do not exceed."),
        time("p999", "Time that 99.9 % of these do not exceed."),
        time("slowest", "The longest of these."),
    ],
    series: &[BY_PORT],
    parts: &["client", "server"],
    needs: &[],
    probes: &["steal", "load", "throttle", "clock", "ib_port", "nic"],
    cost: Cost { seconds: 5, written: 0 },
    interaction: Interaction::Loads("a core for each thread, and the cards of two RDMA ports"),
};

/// The rate by port.
const BY_PORT: SeriesSpec = SeriesSpec::higher_is_better(
    "by_port",
    Unit::MegaPerSecond,
    &[AxisSpec { name: "port", unit: Unit::Count }],
)
.doc("Where several ports are measured together: atomics a second by port of the first node.");

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[seatrial_bench::affinity::UNPINNED],
    plan: verbs::plan_ports,
    limits: |about, _, _| {
        let mut limits = seatrial_bench::no_limits(about);
        let reason = "no card states how many atomics it does".to_owned();
        limits.insert("rate".to_owned(), Limit::Unknown { reason });
        limits
    },
    part: |case, place| Part::new(case, place, |case, place| part::prepare(METHOD, case, place)),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
