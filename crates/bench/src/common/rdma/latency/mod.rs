//! One message at a time: how long it takes until it is answered, or done.
//!
//! Where the far end takes notice, it sends a message of the same size back, and the figure is half of the round trip. Where
//! its card does everything, the figure is the time from posting the request to its completion.

mod answer;
mod ask;
mod part;
mod reduce;
mod voice;

pub use part::part;
pub use reduce::reduce;

use seatrial_model::{AxisSpec, Better, MetricSpec, SeriesSpec, Unit};

const fn time(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec { name, doc, unit: Unit::Microsecond, better: Better::Lower }
}

/// Metrics of messages that are answered.
pub const HALVES: &[MetricSpec] = &[
    time(
        "latency",
        "Half the round trip of a message, median of each slice; of a ladder at its smallest size.",
    ),
    time("p99", "Half the round trip that 99 % of all do not exceed."),
    time("p999", "Half the round trip that 99.9 % of all do not exceed."),
    time("slowest", "Half of the longest round trip."),
    RATE,
    LOSS,
];

/// Metrics of requests that the far card serves by itself.
pub const WHOLES: &[MetricSpec] = &[
    time(
        "latency",
        "Time from posting a request to its completion, median of each slice; of a ladder at its smallest size.",
    ),
    time("p99", "Time that 99 % of all requests do not exceed."),
    time("p999", "Time that 99.9 % of all requests do not exceed."),
    time("slowest", "The longest request."),
    RATE,
];

const RATE: MetricSpec = MetricSpec {
    name: "rate",
    doc: "Messages or requests a second, one after the other.",
    unit: Unit::PerSecond,
    better: Better::Higher,
};

const LOSS: MetricSpec = MetricSpec {
    name: "loss",
    doc: "Messages of which no answer came, of all that were sent; over unreliable transports only.",
    unit: Unit::Percent,
    better: Better::Lower,
};

/// The figure by size.
pub const BY_SIZE: SeriesSpec = SeriesSpec {
    name: "by_size",
    doc: "The latency by size of the message.",
    unit: Unit::Microsecond,
    better: Better::Lower,
    axes: &[AxisSpec { name: "size", unit: Unit::Byte }],
};
