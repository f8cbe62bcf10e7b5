//! One message at a time: how long it takes until it is answered, or done.
//!
//! Where the far end learns of a message, it sends a message of the same size back, and the figure is half of the round
//! trip. Where its card does everything, the figure is the time from posting the request to its completion. Over
//! several ports one conversation goes on over each at the same time, so that a card shows whose ports disturb one
//! another.

mod part;
mod ping_pong_qp;
mod reduce;
mod requester;
mod responder;

use seatrial_model::{About, AxisSpec, MetricSpec, SeriesSpec, Unit};

use seatrial_bench::verbs::plan_ports;
use seatrial_bench::{Benchmark, Part};

use crate::method::HasMethod;

/// The benchmark that `about` defines, of the method `M`.
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

/// Metrics of messages that are answered.
pub const HALF_RTT_METRICS: &[MetricSpec] = &[
    time(
        "latency",
        "Half the round trip of a message, median of each slice; of a size sweep at its smallest size, of several ports over \
         any of them.",
    ),
    time("p99", "Half the round trip that 99 % of all do not exceed."),
    time("p999", "Half the round trip that 99.9 % of all do not exceed."),
    time("slowest", "Half of the longest round trip."),
    RATE,
    LOSS,
];

/// Metrics of requests that the far card serves by itself.
pub const COMPLETION_METRICS: &[MetricSpec] = &[
    time(
        "latency",
        "Time from posting a request to its completion, median of each slice; of a size sweep at its smallest size, of \
         several ports over any of them.",
    ),
    time("p99", "Time that 99 % of all requests do not exceed."),
    time("p999", "Time that 99.9 % of all requests do not exceed."),
    time("slowest", "The longest request."),
    RATE,
];

const RATE: MetricSpec = MetricSpec::higher_is_better("rate", Unit::PerSecond)
    .doc("Messages or requests a second, one after the other; of several ports over each.");

const LOSS: MetricSpec = MetricSpec::lower_is_better("loss", Unit::Percent)
    .doc("Messages of which no answer came, of all that were sent; over unreliable transports only.");

/// The figure by port.
pub const BY_PORT: SeriesSpec = SeriesSpec::lower_is_better(
    "by_port",
    Unit::Microsecond,
    &[AxisSpec { name: "port", unit: Unit::Count }],
)
.doc(
    "Where several ports are measured together: the latency by port of the first node, at the smallest \
     size.",
);

/// The figure by size.
pub const BY_SIZE: SeriesSpec =
    SeriesSpec::lower_is_better("by_size", Unit::Microsecond, &[AxisSpec { name: "size", unit: Unit::Byte }])
        .doc("The latency by size of the message.");
