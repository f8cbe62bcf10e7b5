//! `net.all_to_all`: every node to every other at one moment, and the node that holds the others back.

mod ends;
mod exchange;
mod flows;
mod kernel;
mod part;
mod plan;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_bench::{Benchmark, Part};
use seatrial_model::{
    About, Actor, AxisSpec, Bytes, Cost, Interaction, Kind, MetricSpec, ParamSpec, Parts, Remedy, SeriesSpec,
    Unit,
};

use crate::metrics::rate;

const fn series(name: &'static str, axes: &'static [AxisSpec], doc: &'static str) -> SeriesSpec {
    SeriesSpec::higher_is_better(name, Unit::GigabitsPerSecond, axes).doc(doc)
}

const ABOUT: About = About {
    id: "net.all_to_all",
    title: "TCP throughput of all nodes to all others at one moment",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::Root,
            "check speed and errors of the interface of the slowest node (`ethtool NAME`, `ethtool -S NAME`)",
        ),
        Remedy::new(
            Actor::NetworkTeam,
            "where all nodes are slow, check the links between the switches: their sum may be less than that of the ports",
        ),
        Remedy::new(Actor::User, "measure again with `-p threads=8`: a core of each node may be the limit"),
    ],
    params: &[
        ParamSpec::new("shift", Kind::Count(1, 100_000), "all")
            .word("all")
            .doc("Every node sends to the node so many places behind it in the list; all: to every other node."),
        seatrial_bench::group::PER_NODE,
        ParamSpec::new("threads", Kind::Load(1, 256), "auto").word("auto").doc(
            "Threads of each part that send, and as many that receive; auto: one for every 8 flows, 4 at most.",
        ),
        ParamSpec::new("message", Kind::Size(Bytes(1), Bytes::mib(64)), "auto")
            .word("auto")
            .doc("Size of each send call; auto is 128 KiB."),
        seatrial_bench::affinity::AFFINITY,
        seatrial_bench::interfaces::INTERFACE,
        seatrial_bench::WARM_UP,
        ParamSpec { default: "1 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        rate("throughput", "Payload received by all nodes together, while all flows ran."),
        rate("slowest_flow", "Payload of the slowest flow."),
        MetricSpec::higher_is_better("fairness", Unit::Ratio).doc(
            "Jain's index of the flows' rates: 1 if all are equal, 1 over the number of flows if one flow \
             has everything.",
        ),
        rate("slowest_node", "Payload that the slowest node sent or received, whichever is less."),
        rate(
            "slowest_exchange",
            "Median over the flows that a node sends or receives, times their number and at most their sum, of the node where it is least: \
             flows that are fast do not make up for others that are slow.",
        )
        .isolates(),
    ],
    series: &[
        series(
            "by_node",
            &[AxisSpec { name: "node", unit: Unit::Count }, AxisSpec { name: "direction", unit: Unit::Count }],
            "Payload that each node sent and received.",
        ),
        series(
            "by_flow",
            &[AxisSpec { name: "from", unit: Unit::Count }, AxisSpec { name: "to", unit: Unit::Count }],
            "Payload from each node to each other, of up to 64 nodes.",
        ),
        seatrial_bench::BY_TIME,
    ],
    parts: Parts::TwoOrMore("node"),
    probes: &["steal", "load", "throttle", "nic", "softnet", "snmp"],
    cost: Cost { seconds: 7, written: 0 },
    interaction: Interaction::Loads("the network between all nodes fully, and several cores of each"),
    ..About::WORKER
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| Part::new(case, place, part::prepare),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
