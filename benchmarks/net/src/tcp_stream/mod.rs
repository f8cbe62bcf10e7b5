//! `net.tcp_stream`: how much data TCP carries between two nodes, and what holds it back.

mod advice;
mod closing;
mod config;
mod flow;
mod kernel;
mod limited;
mod meter;
mod method;
mod method_probe;
mod moderation;
mod part;
mod pattern;
mod plan;
mod queued;
mod rails;
mod record;
mod reduce;
mod rest;
mod team;
#[cfg(test)]
mod tests;
mod unsent;

use seatrial_model::{
    About, AxisSpec, Bytes, Cost, Factor, Interaction, Kind, MetricSpec, ParamSpec, SeriesSpec, Unit,
};

use seatrial_bench::{Benchmark, Part};

const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::GigabitsPerSecond).doc(doc)
}

const fn cpu(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Percent).doc(doc)
}

const fn round_trip(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Microsecond).doc(doc)
}

const ABOUT: About = About {
    id: "net.tcp_stream",
    version: 2,
    title: "TCP throughput by flows, with what limited each of them",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec::new("flows", Kind::Load(1, 128), "1")
            .doc("Connections in each direction, each with a thread of its own at both ends."),
        seatrial_bench::Direction::parameter(
            "Forward: the first node sends; reverse: the second does; both: either to the other at once.",
        ),
        ParamSpec::new("message", Kind::Size(Bytes(1), Bytes::mib(64)), "auto")
            .word("auto")
            .doc("Bytes that are sent with one call; auto is 128 KiB."),
        ParamSpec::new("buffer", Kind::Size(Bytes::kib(1), Bytes::gib(1)), "auto").word("auto").doc(
            "Size of the socket buffers of both ends; auto leaves them to the kernel, which adapts \
             them.",
        ),
        ParamSpec::new("mtu", Kind::Count(576, 32_767), "auto").word("auto").doc(
            "The largest packet that TCP makes, in bytes, as if the path had that MTU; auto is the \
             path's own.",
        ),
        ParamSpec::new("congestion", Kind::Text, "auto")
            .word("auto")
            .doc("Congestion control, by the kernel's word for it; auto is the system's."),
        ParamSpec::new("nodelay", Kind::Flag, "false")
            .doc("Switches Nagle's algorithm off, which holds small segments back."),
        ParamSpec::new("pacing", Kind::Number(0.01, 1e6), "none")
            .word("none")
            .doc("Rate in Mbit/s that the kernel paces each flow to; none leaves it to congestion control."),
        ParamSpec::new("send", Kind::Choice(method::SENDS), "auto")
            .word("auto")
            .doc("How data is handed to the kernel; auto tries all ways for a moment and takes the fastest."),
        ParamSpec::new("receive", Kind::Choice(method::RECEIVES), "auto").word("auto").doc(
            "How data is taken from the kernel; auto tries all and takes the fastest that hands it \
             over.",
        ),
        seatrial_bench::affinity::AFFINITY,
        ParamSpec::new("protocol", Kind::Choice(&["tcp", "mptcp", "sctp"]), "tcp")
            .doc("What carries the data: TCP, or another protocol of streams where the kernel has it."),
        seatrial_bench::ends::INTERFACE,
        rails::RAILS,
        ParamSpec { default: "1 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
    ],
    metrics: &[
        rate("throughput", "Payload received in the time that all flows have in common, all flows together."),
        rate("forward", "Where data goes both ways: what of it goes from the first node to the second."),
        rate("reverse", "Where data goes both ways: what of it goes from the second node to the first."),
        rate("slowest", "The slowest 100 ms of all flows together."),
        MetricSpec::higher_is_better("fairness", Unit::Ratio).doc(
            "Jain's index of the flows' rates: 1 when all are alike, 1 over their number when one has \
             it all.",
        ),
        MetricSpec::lower_is_better("retransmits", Unit::Count)
            .doc("Segments that were sent again, all flows together."),
        round_trip(
            "rtt",
            "Smoothed round trip time of the flows, as their senders' kernels see it under load.",
        ),
        round_trip("rtt_min", "The shortest round trip time that any sender's kernel knows of."),
        cpu("sender_cpu", "Time on CPUs of the threads that send, in percent of one CPU."),
        cpu("receiver_cpu", "Time on CPUs of the threads that receive, in percent of one CPU."),
        cpu("sender_host", "Time of all CPUs of the sending nodes, with interrupts, in percent of one CPU."),
        cpu(
            "receiver_host",
            "Time of all CPUs of the receiving nodes, with interrupts, in percent of one CPU.",
        ),
        rate("sender_per_core", "Throughput over the CPUs that were busy on the sending nodes."),
        rate("receiver_per_core", "Throughput over the CPUs that were busy on the receiving nodes."),
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
        .doc("With rails: the same of all flows of a rail together, by its number in the list."),
    ],
    parts: &["client", "server"],
    needs: &[],
    probes: &["steal", "load", "throttle", "nic", "qdisc", "softnet", "snmp"],
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
        doc: "Plain write and read in place of the fastest ways of the kernel.",
        off: &[("send", "write"), ("receive", "read")],
    },
    Factor { name: "mtu", doc: "Packets as of an MTU of 1500 B.", off: &[("mtu", "1500")] },
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
