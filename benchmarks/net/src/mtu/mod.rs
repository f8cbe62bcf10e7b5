//! `net.mtu`: the largest packets that get through between two nodes.

mod client;
mod control;
mod datagram;
mod meet;
mod plan;
mod reduce;
mod search;
mod server;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, Actor, Case, Cost, Interaction, MetricSpec, ParamSpec, PartPlacement, Parts, Reason, Remedy, Unit,
};

use client::MtuClient;
use seatrial_bench::{Benchmark, Endpoint, Part, Prepared, call, serve};

const fn size(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::Byte).doc(doc)
}

const ABOUT: About = About {
    id: "net.mtu",
    version: 1,
    title: "path MTU in both directions: the largest packet that really arrives",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(Actor::NetworkTeam, "set the wanted MTU on every switch port of the path"),
        Remedy::new(Actor::Root, "set the wanted MTU on both interfaces (`ip link set dev INTERFACE mtu N`)"),
    ],
    params: &[
        seatrial_bench::interfaces::INTERFACE,
        seatrial_bench::interfaces::PEER_INTERFACE,
        ParamSpec { default: "100 ms", ..seatrial_bench::TIME },
        ParamSpec { default: "2", ..seatrial_bench::TRIALS },
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        size("path", "Largest IP packet that arrives unfragmented in both directions."),
        size("forward", "Largest IP packet from the first node to the second."),
        size("reverse", "Largest IP packet from the second node to the first."),
    ],
    series: &[],
    parts: Parts::Two(["client", "server"]),
    needs: &[],
    probes: &["nic", "snmp"],
    cost: Cost { seconds: 1, written: 0 },
    interaction: Interaction::Passive,
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| Part::new(case, place, prepare),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};

fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let endpoint = Endpoint::of(case, place);
    match place.part.as_str() {
        "client" => call(place, endpoint, 1, MtuClient::begin),
        _ => serve(place, &endpoint, 1, server::begin),
    }
}
