//! `net.connect`: how long a TCP connection takes to establish.

mod client;
mod plan;
mod reduce;
mod server;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, Actor, Case, Cost, Interaction, Kind, MetricSpec, ParamSpec, PartPlacement, Parts, Reason, Remedy,
    Unit,
};

use crate::metrics::latency;
use client::ConnectClient;
use seatrial_bench::{Benchmark, Endpoint, Part, Prepared, call, pin, serve};

const ABOUT: About = About {
    id: "net.connect",
    version: 2,
    title: "TCP connections, one after the other: time of each, and connections per second",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::NetworkTeam,
            "look for lost packets and for firewall rules on the path between the two nodes",
        ),
        Remedy::new(Actor::Root, "raise net.core.somaxconn and net.netfilter.nf_conntrack_max"),
    ],
    params: &[
        ParamSpec::new("exchange", Kind::Flag, "false")
            .doc("Exchange 8 B in both directions on every connection, as a short request does."),
        seatrial_bench::affinity::AFFINITY,
        seatrial_bench::interfaces::INTERFACE,
        seatrial_bench::interfaces::PEER_INTERFACE,
        ParamSpec { default: "1 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        ParamSpec { default: "5", ..seatrial_bench::PRECISION },
        seatrial_bench::SCHED,
    ],
    metrics: &[
        latency(
            "connect",
            "Time to establish a connection, with exchange=true including the answer; median of each slice.",
        ),
        latency("p99", "99th percentile of the times."),
        latency("p999", "99.9th percentile of the times."),
        latency("slowest", "The longest time of a connection."),
        MetricSpec::higher_is_better("rate", Unit::PerSecond)
            .doc("Connections made and closed per second, one after the other."),
    ],
    series: &[],
    parts: Parts::Two(["client", "server"]),
    needs: &[],
    probes: &["steal", "load", "clock", "nic", "qdisc", "softnet", "snmp"],
    cost: Cost { seconds: 4, written: 0 },
    interaction: Interaction::Loads("one core of each of two nodes, and firewalls that track connections"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[seatrial_bench::affinity::UNPINNED],
    plan: plan::plan,
    limits: |about, _, _| seatrial_bench::no_limits(about),
    part: |case, place| Part::new(case, place, prepare),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};

fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let (endpoint, cpu) = (Endpoint::of(case, place), place.cpu(0));
    if place.part != "client" {
        return serve(place, &endpoint, 1, move |streams| server::begin(streams, cpu));
    }
    cpu.map_or(Ok(()), pin)?;
    let (from, exchange) = (endpoint.clone(), case.params.flag("exchange")?);
    call(place, endpoint, 1, move |streams| ConnectClient::begin(streams, from, exchange))
}
