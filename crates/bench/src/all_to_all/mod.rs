//! Every node sends to every other at one moment, or each to one other: which part sends to which, the case over all nodes
//! and its limits, the threads that move the data, and the rates of the exchange, of each node and of each flow.
//!
//! A benchmark adds what carries the data, and what its ports let through.

mod exchange;
mod flow_bytes;
mod lap_team;
mod plan;
mod reduce;
mod slow_node;

use seatrial_model::{AxisSpec, Kind, MetricSpec, ParamSpec, SeriesSpec, Unit};

pub use exchange::Exchange;
pub use flow_bytes::{CountedAt, FlowBytes, Transfer, put};
pub use lap_team::{LapTeam, OBEYED_WITHIN};
pub use plan::{THREADS, TeamSize, case, flows, limits, slice_ns};
pub use reduce::reduce;

/// The distance of a permutation.
pub const SHIFT: ParamSpec = ParamSpec::new("shift", Kind::Count(1, 100_000), "all")
    .word("all")
    .doc("Every node sends to the node so many places behind it in the list; all: to every other node.");

const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::GigabitsPerSecond).doc(doc)
}

pub const THROUGHPUT: MetricSpec =
    rate("throughput", "Payload received by all nodes together, while all flows ran.");

pub const SLOWEST_FLOW: MetricSpec = rate("slowest_flow", "Payload of the slowest flow.");

pub const FAIRNESS: MetricSpec = MetricSpec::higher_is_better("fairness", Unit::Ratio).doc(
    "Jain's index of the flows' rates: 1 if all are equal, 1 over the number of flows if one flow has everything.",
);

pub const SLOWEST_NODE: MetricSpec =
    rate("slowest_node", "Payload that the slowest node sent or received, whichever is less.");

pub const SLOWEST_EXCHANGE: MetricSpec = rate(
    "slowest_exchange",
    "Median over the flows that a node sends or receives, times their number and at most their sum, of the node where it is \
     least: flows that are fast do not make up for others that are slow.",
)
.isolates();

const fn series(name: &'static str, axes: &'static [AxisSpec], doc: &'static str) -> SeriesSpec {
    SeriesSpec::higher_is_better(name, Unit::GigabitsPerSecond, axes).doc(doc)
}

pub const BY_NODE: SeriesSpec = series(
    "by_node",
    &[AxisSpec { name: "node", unit: Unit::Count }, AxisSpec { name: "direction", unit: Unit::Count }],
    "Payload that each node sent and received.",
);

pub const BY_FLOW: SeriesSpec = series(
    "by_flow",
    &[AxisSpec { name: "from", unit: Unit::Count }, AxisSpec { name: "to", unit: Unit::Count }],
    "Payload from each node to each other, of up to 64 nodes.",
);
