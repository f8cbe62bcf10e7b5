//! `net.mtu`: the largest packets that get through between two nodes.

mod client;
mod config;
mod control;
mod datagram;
mod meet;
mod part;
mod plan;
mod reduce;
mod search;
mod server;
#[cfg(test)]
mod tests;

use seatrial_model::{About, Cost, Interaction, MetricSpec, ParamSpec, Unit};

use seatrial_bench::{Benchmark, Part};

const fn size(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::Byte).doc(doc)
}

const ABOUT: About = About {
    id: "net.mtu",
    version: 1,
    title: "path MTU both ways: the largest packet that really gets through",
    doc: include_str!("doc.md"),
    params: &[
        seatrial_bench::ends::INTERFACE,
        ParamSpec { default: "100 ms", ..seatrial_bench::TIME },
        ParamSpec { default: "2", ..seatrial_bench::TRIALS },
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
    ],
    metrics: &[
        size("path", "The largest IP packet that gets through both ways without being fragmented."),
        size("forward", "The same from the first node to the second."),
        size("reverse", "The same from the second node to the first."),
    ],
    series: &[],
    parts: &["client", "server"],
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
    part: |case, place| Part::new(case, place, part::prepare),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
