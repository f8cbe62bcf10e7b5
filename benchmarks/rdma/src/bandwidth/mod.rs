//! Streams of messages: as many as a queue pair holds are under way, and the end that sees them through counts them.
//!
//! Writes and reads are counted where they were posted: a completion says that the far end has the data, or has given
//! it. Sends, and writes over an unreliable connection, are counted where they arrive.

mod check;
pub mod counts;
mod message;
mod on_demand_mr;
mod part;
mod receiver;
mod reduce;
mod send_loop;

use seatrial_model::{About, AxisSpec, MetricSpec, SeriesSpec, Unit};

use seatrial_bench::verbs::{capacity, plan_ports};
use seatrial_bench::{Benchmark, Part};

use crate::method::HasMethod;

/// The benchmark that `about` defines, of the method `M`.
pub const fn benchmark<M: HasMethod>(about: &'static About) -> Benchmark {
    Benchmark {
        about,
        factors: &[seatrial_bench::affinity::UNPINNED],
        plan: plan_ports,
        limits: |about, case, site| capacity(about, M::METHOD, case, site),
        part: |case, place| Part::new(case, place, |case, place| part::prepare(M::METHOD, case, place)),
        liveness_check: |_, _| None,
        reduce: |case, parts| reduce::reduce(M::METHOD, case, parts),
    }
}

const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::GigabitsPerSecond).doc(doc)
}

pub const THROUGHPUT: MetricSpec = rate(
    "throughput",
    "Payload over time, of a size sweep at its fastest size; of both directions together.",
);

/// Where both ends post.
pub const FORWARD: MetricSpec =
    rate("forward", "Where both nodes post: what the first node's requests move.");

/// Where both ends post.
pub const REVERSE: MetricSpec =
    rate("reverse", "Where both nodes post: what the second node's requests move.");

pub const MESSAGES: MetricSpec = MetricSpec::higher_is_better("messages", Unit::MegaPerSecond)
    .doc("Messages over time, of a size sweep at its smallest size; of both directions together.");

/// What did not come.
pub const LOSS: MetricSpec = MetricSpec::lower_is_better("loss", Unit::Percent)
    .doc("Messages that did not arrive, of all that were sent; over unreliable transports only.");

/// What it costs to make memory known.
pub const REGISTRATION: MetricSpec = MetricSpec::lower_is_better("registration", Unit::Microsecond).doc(
    "Time to register memory of one message of the largest size with the card, before anything is \
     sent.",
);

pub const BY_SIZE: SeriesSpec = SeriesSpec::higher_is_better(
    "by_size",
    Unit::GigabitsPerSecond,
    &[AxisSpec { name: "size", unit: Unit::Byte }],
)
.doc("Payload over time by size of the message; of both directions together.");

pub const BY_PORT: SeriesSpec = SeriesSpec::higher_is_better(
    "by_port",
    Unit::GigabitsPerSecond,
    &[AxisSpec { name: "direction", unit: Unit::Count }, AxisSpec { name: "port", unit: Unit::Count }],
)
.doc(
    "Where several ports are measured together: payload over time by direction and port of the first \
     node, at the fastest size.",
);
