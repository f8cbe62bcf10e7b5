//! `net.eth_receive`: whether a port receives the telescope's data without loss, after COBALT2's eth-test. It is
//! `net.udp_stream` with the load of that test, on the receiving end.

mod plan;
#[cfg(test)]
mod tests;

use seatrial_model::{About, Actor, Cost, Interaction, ParamSpec, Parts, Remedy};

use crate::datagrams::{self as stream, METRICS, SERIES};
use seatrial_bench::{Benchmark, Part};

const ABOUT: About = About {
    id: "net.eth_receive",
    version: 2,
    title: "loss of steady UDP streams at a receiving port (COBALT2's eth-test)",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::Root,
            "raise net.core.rmem_max and net.core.netdev_max_backlog, and enlarge the receive ring (`ethtool -G`)",
        ),
        Remedy::new(Actor::NetworkTeam, "check flow control and the buffers of the switch between the nodes"),
    ],
    params: &[
        ParamSpec { default: "12", ..stream::FLOWS },
        ParamSpec { default: "0.7575 Gbit/s", ..stream::RATE },
        ParamSpec { default: "8900 B", ..stream::MESSAGE },
        ParamSpec { default: "128", ..stream::BATCH },
        ParamSpec { default: "false", ..stream::FRAGMENT },
        stream::OFFLOAD,
        stream::BUFFER,
        stream::PACING,
        stream::THREADS,
        seatrial_bench::affinity::AFFINITY,
        stream::PORT,
        seatrial_bench::interfaces::INTERFACE,
        seatrial_bench::interfaces::PEER_INTERFACE,
        seatrial_bench::VERIFY,
        ParamSpec { default: "6 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: METRICS,
    series: SERIES,
    parts: Parts::OneWay(["sender", "receiver"]),
    needs: &[],
    probes: &["steal", "load", "throttle", "nic", "qdisc", "softnet", "snmp"],
    cost: Cost { seconds: 22, written: 0 },
    interaction: Interaction::Loads("the link to a port with 9 Gbit/s, and cores at both ends"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[seatrial_bench::affinity::UNPINNED],
    plan: plan::plan,
    limits: stream::limits,
    part: |case, place| Part::new(case, place, stream::prepare),
    liveness_check: |_, _| None,
    reduce: stream::reduce,
};
