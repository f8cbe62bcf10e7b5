//! UDP datagrams at a requested or at the highest rate, and exactly what happened to each.

mod bursts;
mod closed;
mod config;
mod control;
mod findings;
mod header;
#[cfg(test)]
mod hot_loops;
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

use crate::metrics::rate;
use seatrial_model::{AxisSpec, Better, Bytes, Kind, MetricSpec, ParamSpec, SeriesSpec, Unit};

use config::{HEADER, MOST_MESSAGE};
pub use part::prepare;
pub use plan::{between, limits, plan};
pub use reduce::reduce;

const fn share(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Percent).doc(doc)
}

pub const FLOWS: ParamSpec =
    ParamSpec::new("flows", Kind::Load(1, 256), "1").doc("Flows in each direction, each to its own port.");

pub const RATE: ParamSpec = ParamSpec::new("rate", Kind::Text, "max").word("max").doc(
    "Payload rate of each flow, such as '0.75 Gbit/s'; max: as fast as the kernel accepts datagrams; search: \
     find the highest rate without loss.",
);

pub const MESSAGE: ParamSpec =
    ParamSpec::new("message", Kind::Size(Bytes(HEADER as u64), Bytes(MOST_MESSAGE as u64)), "auto")
        .word("auto")
        .doc("Payload of a datagram; auto: what fits the path MTU.");

pub const BATCH: ParamSpec =
    ParamSpec::new("batch", Kind::Count(1, 1024), "64").doc("Most datagrams per send or receive call.");

pub const FRAGMENT: ParamSpec = ParamSpec::new("fragment", Kind::Flag, "true")
    .doc("Whether a message larger than the path MTU is sent in fragments; false: the case fails.");

pub const THREADS: ParamSpec = ParamSpec::new("threads", Kind::Count(1, 256), "auto")
    .word("auto")
    .doc("Sending threads, and as many receiving ones; auto: one per flow, as far as there are cores.");

pub const OFFLOAD: ParamSpec = ParamSpec::new("offload", Kind::Choice(&["auto", "gso", "plain"]), "auto")
    .doc(
        "gso: UDP_SEGMENT and UDP_GRO are required; plain: they are off; auto: they are used if the kernel \
         supports them.",
    );

pub const BUFFER: ParamSpec =
    ParamSpec::new("buffer", Kind::Size(Bytes::kib(4), Bytes(2_000_000_000)), "auto")
        .word("auto")
        .doc("Receive buffer of each flow (SO_RCVBUF, by the kernel's count); auto requests 8 MiB.");

pub const PACING: ParamSpec =
    ParamSpec::new("pacing", Kind::Choice(&["auto", "spin", "sleep", "kernel"]), "auto").doc(
        "How a sender keeps to its rate: spin polls the clock, sleep sleeps, kernel sleeps and uses the \
         queueing discipline fq; auto spins if there are enough cores.",
    );

pub const PORT: ParamSpec = ParamSpec::new("port", Kind::Count(1, 65_535), "auto")
    .word("auto")
    .doc("First UDP port; each flow uses one port from there on; auto: the kernel chooses.");

pub const METRICS: &[MetricSpec] = &[
    rate("throughput", "Payload received in the time that all flows have in common, without duplicates."),
    share("loss", "Lost datagrams, in percent of those sent."),
    rate("offered", "Payload handed to the kernel, divided by the length of the phase."),
    rate("loss_free", "With rate=search: the highest payload rate without loss, all flows together."),
    rate("forward", "With direction=both: payload that the second node received."),
    rate("reverse", "With direction=both: payload that the first node received."),
    MetricSpec::higher_is_better("packets", Unit::PerSecond)
        .doc("Datagrams received in the time of throughput."),
    share("duplicates", "Duplicate datagrams, in percent of those received."),
    share("reordered", "Datagrams that arrived after a later one, in percent of those received (RFC 4737)."),
    MetricSpec::lower_is_better("jitter", Unit::Microsecond)
        .doc("Interarrival jitter of RFC 3550, from read to read, of the flow with the largest one."),
    share("sender_cpu", "CPU time of the sending threads, in percent of one CPU."),
    share("receiver_cpu", "CPU time of the receiving threads, in percent of one CPU."),
    share(
        "sender_host",
        "Busy time of all CPUs of the sending node, with interrupts, in percent of one CPU.",
    ),
    share(
        "receiver_host",
        "Busy time of all CPUs of the receiving node, with interrupts, in percent of one CPU.",
    ),
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
        .doc("Lost datagrams of each flow, in percent of those sent."),
    seatrial_bench::BY_TIME,
    step(
        "step_offered",
        "With rate=search: payload handed to the kernel in each step.",
        Unit::GigabitsPerSecond,
        Better::Higher,
    ),
    step(
        "step_received",
        "With rate=search: payload received in each step.",
        Unit::GigabitsPerSecond,
        Better::Higher,
    ),
    step("step_sent", "With rate=search: datagrams sent in each step.", Unit::Count, Better::Higher),
    step("step_lost", "With rate=search: datagrams lost in each step.", Unit::Count, Better::Lower),
];
