//! `net.udp_stream`: UDP datagrams at a requested or at the highest rate, and exactly what happened to each.

use seatrial_model::{About, Actor, Cost, Interaction, ParamSpec, Parts, Remedy};

use seatrial_bench::{Benchmark, Part};

use crate::datagrams::{
    self, BATCH, BUFFER, FLOWS, FRAGMENT, MESSAGE, METRICS, OFFLOAD, PACING, PORT, RATE, SERIES, THREADS,
};

const ABOUT: About = About {
    id: "net.udp_stream",
    version: 2,
    title: "UDP throughput, exact loss, and where datagrams were lost",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(Actor::Root, "raise net.core.rmem_max, and enlarge the receive ring (`ethtool -G`)"),
        Remedy::new(Actor::NetworkTeam, "look for dropped packets at the switch ports between the two nodes"),
    ],
    params: &[
        FLOWS,
        seatrial_bench::Direction::parameter(
            "Forward: the first node sends; reverse: the second node sends; both: both send at once.",
        ),
        RATE,
        MESSAGE,
        BATCH,
        OFFLOAD,
        BUFFER,
        PACING,
        THREADS,
        seatrial_bench::affinity::AFFINITY,
        FRAGMENT,
        PORT,
        seatrial_bench::interfaces::INTERFACE,
        seatrial_bench::interfaces::PEER_INTERFACE,
        seatrial_bench::WARM_UP,
        seatrial_bench::VERIFY,
        ParamSpec { default: "1 s", ..seatrial_bench::TIME },
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
    cost: Cost { seconds: 6, written: 0 },
    interaction: Interaction::Loads(
        "the link between two nodes up to the requested rate, and cores at both ends",
    ),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[seatrial_bench::affinity::UNPINNED],
    plan: datagrams::plan,
    limits: datagrams::limits,
    part: |case, place| Part::new(case, place, datagrams::prepare),
    liveness_check: |_, _| None,
    reduce: datagrams::reduce,
};
