//! `net.connect`: how long a TCP connection takes to be made.

mod client;
mod config;
mod part;
mod plan;
mod reduce;
mod server;
#[cfg(test)]
mod tests;

use seatrial_model::{About, Cost, Interaction, Kind, MetricSpec, ParamSpec, Unit};

use seatrial_bench::{Benchmark, Part};

const fn latency(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Microsecond).doc(doc)
}

const ABOUT: About = About {
    id: "net.connect",
    version: 2,
    title: "TCP connections made one after the other: time of each, and how many a second",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec::new("exchange", Kind::Flag, "false")
            .doc("Whether 8 B go there and back on every connection, as a short request does."),
        seatrial_bench::affinity::AFFINITY,
        seatrial_bench::ends::INTERFACE,
        ParamSpec { default: "1 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        ParamSpec { default: "5", ..seatrial_bench::PRECISION },
    ],
    metrics: &[
        latency(
            "connect",
            "Time until a connection stands, and its answer is there if one is asked for; median of each slice.",
        ),
        latency("p99", "Time that 99 % of all connections do not exceed."),
        latency("p999", "Time that 99.9 % of all connections do not exceed."),
        latency("slowest", "The connection that took longest."),
        MetricSpec::higher_is_better("rate", Unit::PerSecond)
            .doc("Connections made and closed a second, one after the other."),
    ],
    series: &[],
    parts: &["client", "server"],
    needs: &[],
    probes: &["steal", "load", "clock", "nic", "qdisc", "softnet", "snmp"],
    cost: Cost { seconds: 4, written: 0 },
    interaction: Interaction::Loads("one core of each of two nodes, and what counts connections on the way"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[seatrial_bench::affinity::UNPINNED],
    plan: plan::plan,
    limits: |about, _, _| seatrial_bench::no_limits(about),
    part: |case, place| Part::new(case, place, part::prepare),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
