//! `mem.latency`: how long a load takes that has to wait for the one before.

mod layout;
mod part;
mod plan;
mod plateau;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, AxisSpec, Bytes, Cost, Interaction, Kind, MetricSpec, ParamSpec, SeriesSpec, Unit,
};

use seatrial_bench::{Benchmark, Part};

const ABOUT: About = About {
    id: "mem.latency",
    version: 1,
    title: "latency of dependent loads, from the first cache to memory",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec::new("scope", Kind::Choice(&["machine", "matrix"]), "machine").doc(
            "One core with the memory next to it, or one core of every NUMA node with every node's \
             memory.",
        ),
        ParamSpec::new("size", Kind::Size(Bytes::kib(4), Bytes::gib(64)), "auto").word("auto").doc(
            "Size of the one ring that is chased; auto sweeps from 4 KiB to 4 times the last-level \
             cache.",
        ),
        seatrial_bench::PAGES,
        seatrial_bench::TIME,
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
    ],
    metrics: &[
        MetricSpec::lower_is_better("latency", Unit::Nanosecond).doc(
            "Time of one dependent load from the largest ring, which is memory unless `size` says \
             otherwise.",
        ),
        MetricSpec::lower_is_better("l1", Unit::Nanosecond)
            .doc("The same from a ring that fills at most half of the first cache."),
        MetricSpec::lower_is_better("l2", Unit::Nanosecond)
            .doc("The same from at most half of the second cache and at least twice the first."),
        MetricSpec::lower_is_better("l3", Unit::Nanosecond)
            .doc("The same from at most half of the third cache and at least twice the second."),
        MetricSpec::lower_is_better("local", Unit::Nanosecond)
            .doc("In scope matrix: the slowest node with its own memory."),
        MetricSpec::lower_is_better("remote", Unit::Nanosecond)
            .doc("In scope matrix: the slowest pair of different nodes."),
    ],
    series: &[
        SeriesSpec::lower_is_better(
            "by_size",
            Unit::Nanosecond,
            &[AxisSpec { name: "size", unit: Unit::Byte }],
        )
        .doc("Latency by size of the ring."),
        SeriesSpec::lower_is_better(
            "matrix",
            Unit::Nanosecond,
            &[
                AxisSpec { name: "cpu_node", unit: Unit::Count },
                AxisSpec { name: "memory_node", unit: Unit::Count },
            ],
        )
        .doc("Latency by node of the core and node of the memory."),
    ],
    parts: &["worker"],
    needs: &[],
    probes: &["steal", "load"],
    cost: Cost { seconds: 5, written: 0 },
    interaction: Interaction::Loads("one core and the last-level cache next to it"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: |about, _, _| plan::limits(about),
    part: |case, place| Part::alone(case, place, part::LatencyWorker::prepare),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
