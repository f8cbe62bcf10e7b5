//! Streams of messages at full queue depth, counted by the end that knows of their completion: writes and reads by
//! the posting end, since a completion says that the far end has the data, or has given it; sends, and writes over an
//! unreliable connection, by the receiving end.

pub mod check;
pub mod counts;
mod message;
mod on_demand_mr;
mod part;
pub mod passes;
mod receiver;
mod reduce;
pub mod send_loop;

use seatrial_model::{
    About, Actor, AxisSpec, Cost, Interaction, MetricSpec, Parts, Remedy, SeriesSpec, Unit,
};

use seatrial_bench::verbs::{capacity, plan_ports};
use seatrial_bench::{Benchmark, Part};

use crate::method::HasMethod;

/// What these benchmarks have in common.
pub const ABOUT: About = About {
    checks: &[
        Remedy::new(
            Actor::NetworkTeam,
            "check width, speed and errors of both ports and the switch between (`ibstat`, `perfquery`, `mlxlink`)",
        ),
        Remedy::new(
            Actor::Root,
            "compare the PCIe link of the card with its slot (`lspci -vv`): generation and number of lanes",
        ),
        Remedy::new(Actor::NetworkTeam, "on RoCE check flow control (PFC, ECN)"),
    ],
    series: &[BY_SIZE, BY_PORT],
    parts: Parts::OneWay(["client", "server"]),
    probes: &["steal", "load", "throttle", "ib_port", "nic"],
    cost: Cost { seconds: 6, written: 0 },
    interaction: Interaction::Loads("the link between two RDMA ports, and a core for each thread"),
    ..About::WORKER
};

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

pub const THROUGHPUT: MetricSpec =
    rate("throughput", "Payload rate of both directions together; of a size sweep, at its fastest size.");

pub const FORWARD: MetricSpec =
    rate("forward", "With direction=both: payload rate of the first node's requests.");

pub const REVERSE: MetricSpec =
    rate("reverse", "With direction=both: payload rate of the second node's requests.");

pub const MESSAGES: MetricSpec = MetricSpec::higher_is_better("messages", Unit::MegaPerSecond)
    .doc("Message rate of both directions together; of a size sweep, at its smallest size.");

pub const LOSS: MetricSpec = MetricSpec::lower_is_better("loss", Unit::Percent)
    .doc("Lost messages, in percent of those sent; over unreliable transports only.");

pub const REGISTRATION: MetricSpec = MetricSpec::lower_is_better("registration", Unit::Microsecond).doc(
    "Time to register the memory of one message of the largest size with the card (ibv_reg_mr), before any \
     message is sent.",
);

pub const BY_SIZE: SeriesSpec = SeriesSpec::higher_is_better(
    "by_size",
    Unit::GigabitsPerSecond,
    &[AxisSpec { name: "size", unit: Unit::Byte }],
)
.doc("Payload rate of both directions together, by message size.");

pub const BY_PORT: SeriesSpec = SeriesSpec::higher_is_better(
    "by_port",
    Unit::GigabitsPerSecond,
    &[AxisSpec { name: "direction", unit: Unit::Count }, AxisSpec { name: "port", unit: Unit::Count }],
)
.doc("With several ports: payload rate by direction and port of the first node, at the fastest size.");
