//! Datagrams at a rate or as fast as they go, and exactly what became of them.

mod bursts;
mod closed;
mod config;
mod control;
mod findings;
mod header;
mod inbound;
mod kernel;
mod outbound;
mod pace;
mod part;
mod phase;
mod plan;
#[cfg(test)]
mod policed;
mod rate_search;
mod record;
mod reduce;
mod rules;
mod searched;
mod shared;
mod slices;
mod steps;
mod talk;
#[cfg(test)]
mod tests;
mod threads;
mod window;

use seatrial_model::{AxisSpec, Better, Bytes, Kind, MetricSpec, ParamSpec, SeriesSpec, Unit};

use config::{HEADER, MOST_MESSAGE};
pub use part::prepare;
pub use plan::{between, limits, plan};
pub use reduce::reduce;

const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::GigabitsPerSecond).doc(doc)
}

const fn share(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Percent).doc(doc)
}

pub const FLOWS: ParamSpec = ParamSpec::new("flows", Kind::Load(1, 256), "1")
    .doc("Flows in each direction, each to a port of its own.");

pub const RATE: ParamSpec = ParamSpec::new("rate", Kind::Text, "max").word("max").doc(
    "Payload of each flow, such as '0.75 Gbit/s'; max is as fast as the kernel takes it, search looks \
     for the highest rate that loses nothing.",
);

pub const MESSAGE: ParamSpec =
    ParamSpec::new("message", Kind::Size(Bytes(HEADER as u64), Bytes(MOST_MESSAGE as u64)), "auto")
        .word("auto")
        .doc("Payload of a datagram; auto is what fits the path MTU.");

pub const BATCH: ParamSpec = ParamSpec::new("batch", Kind::Count(1, 1024), "64")
    .doc("Datagrams that one call sends or receives at most.");

pub const FRAGMENT: ParamSpec = ParamSpec::new("fragment", Kind::Flag, "true")
    .doc("Whether a message that is larger than the path MTU is sent in fragments, or refused.");

pub const THREADS: ParamSpec = ParamSpec::new("threads", Kind::Count(1, 256), "auto")
    .word("auto")
    .doc("Threads that send, and as many that receive; auto is one a flow, as far as there are cores.");

pub const OFFLOAD: ParamSpec = ParamSpec::new("offload", Kind::Choice(&["auto", "gso", "plain"]), "auto")
    .doc(
        "Whether the kernel cuts large pieces into datagrams (UDP_SEGMENT, UDP_GRO); auto is where it \
         can.",
    );

pub const BUFFER: ParamSpec =
    ParamSpec::new("buffer", Kind::Size(Bytes::kib(4), Bytes(2_000_000_000)), "auto")
        .word("auto")
        .doc("Receive buffer of each flow as the kernel counts it; auto asks for 8 MiB.");

pub const PACING: ParamSpec =
    ParamSpec::new("pacing", Kind::Choice(&["auto", "spin", "sleep", "kernel"]), "auto").doc(
        "How the rate is kept: look at the clock, sleep, or sleep with the kernel's fq; auto looks \
         where it has cores.",
    );

pub const PORT: ParamSpec = ParamSpec::new("port", Kind::Count(1, 65_535), "auto")
    .word("auto")
    .doc("The first UDP port, of as many as there are flows; auto lets the kernel choose.");

pub const METRICS: &[MetricSpec] = &[
    rate("throughput", "Payload received in the time that all flows have in common, copies left out."),
    share("loss", "Datagrams sent and not received, of those sent."),
    rate("offered", "Payload that was handed to the kernel over the time of the phase."),
    rate(
        "loss_free",
        "With rate=search: the highest payload that was sent without losing any, all flows together.",
    ),
    rate("forward", "Where datagrams go both ways: what the second node received."),
    rate("reverse", "Where datagrams go both ways: what the first node received."),
    MetricSpec::higher_is_better("packets", Unit::PerSecond).doc("Datagrams received over the same time."),
    share("duplicates", "Datagrams that came once more, of those received."),
    share("reordered", "Datagrams that came after a later one, of those received (RFC 4737)."),
    MetricSpec::lower_is_better("jitter", Unit::Microsecond)
        .doc("Interarrival jitter of RFC 3550, from read to read; of the flow where it is largest."),
    share("sender_cpu", "Time on CPUs of the threads that send, in percent of one CPU."),
    share("receiver_cpu", "Time on CPUs of the threads that receive, in percent of one CPU."),
    share("sender_host", "Time of all CPUs of the sending node, with interrupts, in percent of one CPU."),
    share("receiver_host", "Time of all CPUs of the receiving node, with interrupts, in percent of one CPU."),
];

const BY_STEP: &[AxisSpec] = &[AxisSpec { name: "step", unit: Unit::Count }];

const fn step(name: &'static str, doc: &'static str, unit: Unit, better: Better) -> SeriesSpec {
    SeriesSpec::new(name, unit, better, BY_STEP).doc(doc)
}

const BY_FLOW: &[AxisSpec] =
    &[AxisSpec { name: "direction", unit: Unit::Count }, AxisSpec { name: "flow", unit: Unit::Count }];

pub const SERIES: &[SeriesSpec] = &[
    SeriesSpec::higher_is_better("by_flow", Unit::GigabitsPerSecond, BY_FLOW)
        .doc("Payload that each flow received in the time that all flows of its direction have in common."),
    SeriesSpec::lower_is_better("loss_by_flow", Unit::Percent, BY_FLOW)
        .doc("Datagrams of each flow that were sent and not received, of those sent."),
    step(
        "step_offered",
        "With rate=search: payload that was handed to the kernel in each step.",
        Unit::GigabitsPerSecond,
        Better::Higher,
    ),
    step("step_received", "What arrived of it.", Unit::GigabitsPerSecond, Better::Higher),
    step("step_sent", "Datagrams sent in each step.", Unit::Count, Better::Higher),
    step("step_lost", "Datagrams of them that did not arrive.", Unit::Count, Better::Lower),
];
