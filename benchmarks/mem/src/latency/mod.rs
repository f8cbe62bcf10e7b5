//! `mem.latency`: latency of dependent loads, from L1 to memory.

mod layout;
mod part;
mod plan;
mod plateau;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, Actor, AxisSpec, Bytes, Cost, Interaction, Kind, MetricSpec, ParamSpec, Parts, Remedy, SeriesSpec,
    Unit,
};

use seatrial_bench::{Benchmark, Part};

const ABOUT: About = About {
    id: "mem.latency",
    version: 1,
    title: "latency of dependent loads, from the L1 cache to memory",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(Actor::Root, "compare speed and slots of the memory modules (`dmidecode -t memory`) with the purchase order, or with a machine of the same kind that passes"),
        Remedy::new(Actor::Root, "switch power saving of memory and fabric off in the firmware"),
        Remedy::new(Actor::User, "measure again with `-p pages=2MiB` while nothing else runs"),
    ],
    params: &[
        ParamSpec::new("scope", Kind::Choice(&["machine", "matrix"]), "machine").doc(
            "machine: one core with the memory of its NUMA node; matrix: one core of every NUMA node with \
             the memory of every node.",
        ),
        ParamSpec::new("size", Kind::Size(Bytes::kib(4), Bytes::gib(64)), "auto")
            .word("auto")
            .doc("Size of the chased ring; auto: a sweep from 4 KiB to 4 times the last-level cache."),
        seatrial_bench::PAGES,
        seatrial_bench::VERIFY,
        seatrial_bench::TIME,
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        MetricSpec::lower_is_better("latency", Unit::Nanosecond).doc(
            "Time of one dependent load in the largest ring: memory latency, unless `size` is smaller than \
             the caches.",
        ),
        MetricSpec::lower_is_better("l1", Unit::Nanosecond)
            .doc("Time of one dependent load in a ring of at most half of the L1 cache."),
        MetricSpec::lower_is_better("l2", Unit::Nanosecond).doc(
            "Time of one dependent load in a ring of at most half of the L2 cache and at least twice the L1 \
             cache.",
        ),
        MetricSpec::lower_is_better("l3", Unit::Nanosecond).doc(
            "Time of one dependent load in a ring of at most half of the L3 cache and at least twice the L2 \
             cache.",
        ),
        MetricSpec::lower_is_better("local", Unit::Nanosecond)
            .doc("With scope=matrix: the slowest node with its own memory."),
        MetricSpec::lower_is_better("remote", Unit::Nanosecond)
            .doc("With scope=matrix: the slowest pair of different nodes."),
        MetricSpec::higher_is_better("nearest_other", Unit::Percent).doc(
            "With scope=matrix: latency of the nearest other node's memory in percent of that of the own memory, of \
             the NUMA node where this is least. Below 100 the own memory is not the nearest.",
        ),
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
        .doc("Latency by NUMA node of the core and NUMA node of the memory."),
    ],
    parts: Parts::One("worker"),
    needs: &[],
    probes: &["steal", "load", "edac"],
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
