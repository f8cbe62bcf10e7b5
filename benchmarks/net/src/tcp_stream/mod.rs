//! `net.tcp_stream`: how much data TCP carries between two nodes, and what holds it back.

mod advice;
mod bottleneck;
mod config;
mod flow;
mod held_back;
#[cfg(test)]
mod hot_loops;
mod kernel;
mod meter;
mod method;
mod method_probe;
mod moderation;
mod part;
mod plan;
mod queued;
mod record;
mod reduce;
mod rest;
mod team;
#[cfg(test)]
mod tests;
mod unsent;

use seatrial_model::{
    About, Actor, AxisSpec, Bytes, Cost, Factor, Interaction, Kind, MetricSpec, ParamSpec, Parts, Remedy,
    SeriesSpec, Unit,
};

use crate::metrics::rate;
use seatrial_bench::{Benchmark, Part};

const fn cpu(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Percent).doc(doc)
}

const fn round_trip(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Microsecond).doc(doc)
}

const ABOUT: About = About {
    id: "net.tcp_stream",
    version: 2,
    title: "TCP throughput by flow, and what limits each flow",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::Root,
            "check speed and errors of both interfaces (`ethtool INTERFACE`, `ethtool -S INTERFACE`), then tcp_rmem and tcp_wmem",
        ),
        Remedy::new(
            Actor::NetworkTeam,
            "check speed, errors and trunks of the switch ports between the two nodes",
        ),
        Remedy::new(Actor::User, "measure again with `-p flows=4`: one core may be the limit"),
    ],
    params: &[
        ParamSpec::new("flows", Kind::Load(1, 128), "1")
            .doc("Connections in each direction, each with its own thread at both ends."),
        seatrial_bench::Direction::parameter(
            "Forward: the first node sends; reverse: the second node sends; both: both send at once.",
        ),
        ParamSpec::new("message", Kind::Size(Bytes(1), Bytes::mib(64)), "auto")
            .word("auto")
            .doc("Size of each send call; auto is 128 KiB."),
        ParamSpec::new("buffer", Kind::Size(Bytes::kib(1), Bytes::gib(1)), "auto").word("auto").doc(
            "Socket buffer size at both ends (SO_SNDBUF, SO_RCVBUF); auto leaves it to the kernel's \
             autotuning; SCTP has none and gets 4 MiB to receive.",
        ),
        crate::max_segment::MTU,
        ParamSpec::new("congestion", Kind::Text, "auto")
            .word("auto")
            .doc("Congestion control, such as cubic; auto is net.ipv4.tcp_congestion_control."),
        ParamSpec::new("nodelay", Kind::Flag, "false")
            .doc("Disables Nagle's algorithm (TCP_NODELAY), which delays small segments."),
        ParamSpec::new("pacing", Kind::Number(0.01, 1e6), "none")
            .word("none")
            .doc("Pacing rate of each flow in Mbit/s (SO_MAX_PACING_RATE); none: no pacing rate is set."),
        ParamSpec::new("send", Kind::Choice(method::SENDS), "auto")
            .word("auto")
            .doc("Send method; auto tries all methods in the warm-up and uses the fastest."),
        ParamSpec::new("receive", Kind::Choice(method::RECEIVES), "auto").word("auto").doc(
            "Receive method; auto tries all methods in the warm-up and uses the fastest that delivers the \
             data.",
        ),
        seatrial_bench::affinity::AFFINITY,
        ParamSpec::new("protocol", Kind::Choice(&["tcp", "mptcp", "sctp"]), "tcp")
            .doc("Transport protocol; mptcp and sctp need kernel support."),
        seatrial_bench::interfaces::INTERFACE,
        seatrial_bench::interfaces::PEER_INTERFACE,
        crate::rails::RAILS,
        seatrial_bench::WARM_UP,
        seatrial_bench::VERIFY,
        ParamSpec { default: "1 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        rate("throughput", "Payload received by all flows, in the time that all flows have in common."),
        rate("forward", "With direction=both: the throughput from the first node to the second."),
        rate("reverse", "With direction=both: the throughput from the second node to the first."),
        rate("slowest", "Throughput of all flows in the slowest 100 ms."),
        MetricSpec::higher_is_better("fairness", Unit::Ratio).doc(
            "Jain's index of the flows' rates: 1 if all are equal, 1 over the number of flows if one flow \
             has everything.",
        ),
        MetricSpec::lower_is_better("retransmits", Unit::Count).doc("Retransmitted segments of all flows."),
        round_trip("rtt", "Smoothed round trip time under load, from the senders' kernels (TCP_INFO)."),
        round_trip("rtt_min", "Shortest round trip time that any sender's kernel has seen."),
        cpu("sender_cpu", "CPU time of the sending threads, in percent of one CPU."),
        cpu("receiver_cpu", "CPU time of the receiving threads, in percent of one CPU."),
        cpu(
            "sender_host",
            "Busy time of all CPUs of the sending nodes, with interrupts, in percent of one CPU.",
        ),
        cpu(
            "receiver_host",
            "Busy time of all CPUs of the receiving nodes, with interrupts, in percent of one CPU.",
        ),
        rate("sender_per_core", "Throughput divided by the busy CPUs of the sending nodes."),
        rate("receiver_per_core", "Throughput divided by the busy CPUs of the receiving nodes."),
    ],
    series: &[
        SeriesSpec::higher_is_better(
            "by_flow",
            Unit::GigabitsPerSecond,
            &[
                AxisSpec { name: "direction", unit: Unit::Count },
                AxisSpec { name: "flow", unit: Unit::Count },
            ],
        )
        .doc("Payload that each flow received in the time that all flows of its direction have in common."),
        SeriesSpec::higher_is_better(
            "by_rail",
            Unit::GigabitsPerSecond,
            &[
                AxisSpec { name: "direction", unit: Unit::Count },
                AxisSpec { name: "rail", unit: Unit::Count },
            ],
        )
        .doc("With rails: payload received by all flows of each rail; rails are numbered as in the list."),
        seatrial_bench::BY_TIME,
    ],
    parts: Parts::OneWay(["client", "server"]),
    needs: &[],
    probes: &["steal", "load", "throttle", "nic", "qdisc", "softnet", "snmp", "kernel_log"],
    cost: Cost { seconds: 7, written: 0 },
    interaction: Interaction::Loads(
        "the link between two nodes fully, and a core for each flow at both ends",
    ),
};

/// What no rule finds by itself.
const FACTORS: &[Factor] = &[
    seatrial_bench::affinity::UNPINNED,
    Factor {
        name: "method",
        doc: "The fastest send and receive methods; without it plain write and read.",
        off: &[("send", "write"), ("receive", "read")],
    },
    Factor {
        name: "mtu",
        doc: "The MTU of the path; without it packets of an MTU of 1500 B.",
        off: &[("mtu", "1500")],
    },
];

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: FACTORS,
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| Part::new(case, place, part::prepare),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
