//! `rdma.atomic`: rate, latency and correctness of atomic operations of a card on another node's memory.

mod part;
mod reduce;
mod run;

use seatrial_model::{
    About, Actor, AxisSpec, Cost, Interaction, Kind, Limit, MetricSpec, ParamSpec, Parts, Remedy, SeriesSpec,
    Unit,
};
use seatrial_sys::verbs::VerbKind;

use seatrial_bench::verbs::{self, Method, RemoteCompletion, params as p};
use seatrial_bench::{Benchmark, Part};

const METHOD: Method = Method { verb: VerbKind::Atomic, remote_completion: RemoteCompletion::None };

const OPERATION: ParamSpec = ParamSpec::new(
    "operation",
    Kind::Choice(&["fetch_add", "compare_swap"]),
    "fetch_add",
)
.doc(
    "fetch_add adds 1; compare_swap compares with the value of the previous operation and swaps in the next.",
);

const fn time(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Microsecond).doc(doc)
}

const ABOUT: About = About {
    id: "rdma.atomic",
    version: 2,
    title: "RDMA atomics on the memory of another node: rate, latency, and a check of every result",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(Actor::User, "measure again with `-p queue_pairs=4`"),
        Remedy::new(
            Actor::NetworkTeam,
            "check width, speed and errors of the ports on the path (`ibdiagnet`, `perfquery`)",
        ),
    ],
    params: &[
        ParamSpec {
            doc: "RDMA port of the first node, such as mlx5_0/1, or a device with one port; several ports, \
                  such as mlx5_0/1+mlx5_1/1, are one case with queue_pairs and threads for each port: rate is \
                  their sum, and latency is that of the first port; auto measures each active port.",
            ..p::DEVICES
        },
        p::PEERS,
        OPERATION,
        p::WORDS,
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
        seatrial_bench::SCHED,
    ],
    metrics: &[
        MetricSpec::higher_is_better("rate", Unit::MegaPerSecond).doc(
            "Atomics per second of all queue pairs of all ports together, with depth operations in flight \
             on each.",
        ),
        time(
            "latency",
            "Time from posting one atomic to its completion, with no other in flight, over the first port; \
             median of each slice.",
        ),
        time("p99", "99th percentile of the latency."),
        time("p999", "99.9th percentile of the latency."),
        time("slowest", "The longest latency."),
    ],
    series: &[BY_PORT],
    parts: Parts::Two(["client", "server"]),
    needs: &[],
    probes: &["steal", "load", "throttle", "clock", "ib_port", "nic"],
    cost: Cost { seconds: 5, written: 0 },
    interaction: Interaction::Loads("a core for each thread, and the cards of two RDMA ports"),
};

const BY_PORT: SeriesSpec = SeriesSpec::higher_is_better(
    "by_port",
    Unit::MegaPerSecond,
    &[AxisSpec { name: "port", unit: Unit::Count }],
)
.doc("With several ports: atomics per second by port of the first node.");

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[seatrial_bench::affinity::UNPINNED],
    plan: verbs::plan_ports,
    limits: |about, _, _| {
        let mut limits = seatrial_bench::no_limits(about);
        let reason = "no card states its rate of atomics".to_owned();
        limits.insert("rate".to_owned(), Limit::Unknown { reason });
        limits
    },
    part: |case, place| Part::new(case, place, |case, place| part::prepare(METHOD, case, place)),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
