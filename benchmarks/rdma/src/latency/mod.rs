//! One message at a time: the time until it is answered, or complete.
//!
//! If the far end detects a message, it answers with a message of the same size, and the latency is half of the round
//! trip. If the far card does everything, the latency is the time from posting a request to its completion. With
//! several ports each runs its own ping-pong at the same time, which shows ports that disturb each other.

mod part;
mod ping_pong_qp;
mod reduce;
mod requester;
mod responder;

use seatrial_model::{
    About, Actor, AxisSpec, Cost, Interaction, MetricSpec, Parts, Remedy, SeriesSpec, Unit,
};

use seatrial_bench::verbs::plan_ports;
use seatrial_bench::{Benchmark, Part};

use crate::method::HasMethod;

/// What these benchmarks have in common.
pub const ABOUT: About = About {
    checks: &[
        Remedy::new(Actor::Root, "limit the C-states of idle cores and set the governor to performance"),
        Remedy::new(
            Actor::NetworkTeam,
            "check the load and the errors of the ports between the two nodes (`ibstat`, `perfquery`)",
        ),
    ],
    metrics: HALF_RTT_METRICS,
    series: &[BY_SIZE, BY_PORT],
    parts: Parts::Two(["client", "server"]),
    probes: &["steal", "load", "throttle", "clock", "ib_port", "nic"],
    cost: Cost { seconds: 5, written: 0 },
    interaction: Interaction::Loads("a core of both nodes for each port"),
    ..About::WORKER
};

pub const fn benchmark<M: HasMethod>(about: &'static About) -> Benchmark {
    Benchmark {
        about,
        factors: &[seatrial_bench::affinity::UNPINNED],
        plan: plan_ports,
        limits: |about, _, _| seatrial_bench::no_limits(about),
        part: |case, place| Part::new(case, place, |case, place| part::prepare(M::METHOD, case, place)),
        liveness_check: |_, _| None,
        reduce: |case, parts| reduce::reduce(M::METHOD, case, parts),
    }
}

const fn time(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Microsecond).doc(doc)
}

pub const HALF_RTT_METRICS: &[MetricSpec] = &[
    time(
        "latency",
        "Half the round trip of a message, median of each slice; of a size sweep, at its smallest size; of \
         several ports, over all of them.",
    ),
    time("p99", "99th percentile of half the round trips."),
    time("p999", "99.9th percentile of half the round trips."),
    time("slowest", "Half of the longest round trip."),
    RATE,
    LOSS,
];

/// Metrics of requests that the far card serves without its CPU.
pub const COMPLETION_METRICS: &[MetricSpec] = &[
    time(
        "latency",
        "Time from posting a request to its completion, median of each slice; of a size sweep, at its \
         smallest size; of several ports, over all of them.",
    ),
    time("p99", "99th percentile of the times."),
    time("p999", "99.9th percentile of the times."),
    time("slowest", "The longest time of a request."),
    RATE,
];

const RATE: MetricSpec = MetricSpec::higher_is_better("rate", Unit::PerSecond)
    .doc("Messages or requests per second, one after the other; of several ports, over each.");

const LOSS: MetricSpec = MetricSpec::lower_is_better("loss", Unit::Percent)
    .doc("Messages without an answer, in percent of those sent; over unreliable transports only.");

pub const BY_PORT: SeriesSpec = SeriesSpec::lower_is_better(
    "by_port",
    Unit::Microsecond,
    &[AxisSpec { name: "port", unit: Unit::Count }],
)
.doc("With several ports: the latency by port of the first node, at the smallest size.");

pub const BY_SIZE: SeriesSpec =
    SeriesSpec::lower_is_better("by_size", Unit::Microsecond, &[AxisSpec { name: "size", unit: Unit::Byte }])
        .doc("The latency by message size.");
