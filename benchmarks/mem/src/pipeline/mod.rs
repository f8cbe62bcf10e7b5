//! `mem.pipeline`: whether a machine keeps the pace of many parallel memory operations, and how much faster it could
//! be.

#[cfg(test)]
mod fixture;
mod layout;
mod limits;
mod part;
mod pattern;
mod permute;
mod plan;
mod queue;
mod reduce;
mod ring;
pub mod scenario;
mod settings;
mod shared;
mod stream;
#[cfg(test)]
mod tests;
mod window;

use seatrial_model::{
    About, Actor, AxisSpec, Cost, Interaction, Kind, MetricSpec, ParamSpec, Parts, Remedy, SeriesSpec, Unit,
};

use seatrial_bench::{Benchmark, Part};

const ABOUT: About = About {
    id: "mem.pipeline",
    version: 1,
    title: "many paced memory operations in parallel, such as COBALT2's",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(Actor::User, "run `seatrial run mem.bandwidth`, and stop other programs on these CPUs"),
        Remedy::new(
            Actor::Root,
            "set the governor to performance, and allow real-time priority (`rtprio` in limits.conf)",
        ),
    ],
    params: &[
        ParamSpec::new("scenario", Kind::Choice(scenario::NAMES), "cobalt2").doc(
            "The demand, as steps with operation, block and rate: cobalt2 (702 Gbit/s) or cobalt2-readme \
             (621 Gbit/s).",
        ),
        ParamSpec::new("mode", Kind::Choice(&["paced", "max"]), "paced")
            .doc("paced: run at the pace of the scenario; max: search for the fastest pace that is kept."),
        ParamSpec::new("threads", Kind::Choice(&["core", "step"]), "core").doc(
            "core: one pinned thread per core, which takes the most urgent block; step: one thread per step \
             and station.",
        ),
        ParamSpec::new("blocks", Kind::Choice(&["rotate", "one"]), "rotate").doc(
            "rotate: use enough blocks to exceed the caches; one: use one block again and again, as \
             COBALT2's program does.",
        ),
        seatrial_bench::PAGES,
        seatrial_bench::VERIFY,
        ParamSpec { default: "4 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        MetricSpec::higher_is_better("throughput", Unit::GigabitsPerSecond).doc(
            "Counted bits of the blocks finished in the window, over its time; with mode=max at the fastest \
             pace kept.",
        ),
        MetricSpec::higher_is_better("achieved", Unit::Percent)
            .doc("With mode=paced: throughput in percent of the scenario's demand."),
        MetricSpec::higher_is_better("headroom", Unit::Count).doc(
            "With mode=max: the fastest pace with at most 0.25 % late blocks, relative to the scenario's \
             pace.",
        ),
        MetricSpec::lower_is_better("late", Unit::Percent)
            .doc("Blocks not finished by their deadline, in percent of the blocks due in the window."),
        MetricSpec::lower_is_better("lateness_p99", Unit::Microsecond)
            .doc("99th percentile of the time from a block's deadline to its end; 0 for a block in time."),
        MetricSpec::lower_is_better("lateness_max", Unit::Microsecond)
            .doc("Time from deadline to end of the latest block."),
        MetricSpec::higher_is_better("traffic_least", Unit::GigabytesPerSecond)
            .doc("Least traffic on the memory bus: every byte of a block once for each load and store."),
        MetricSpec::higher_is_better("traffic_most", Unit::GigabytesPerSecond).doc(
            "Estimated upper bound of that traffic, including write-allocate reads of lines that are stored \
             to.",
        ),
    ],
    series: &[
        SeriesSpec::higher_is_better(
            "by_step",
            Unit::GigabitsPerSecond,
            &[AxisSpec { name: "step", unit: Unit::Count }],
        )
        .doc("Throughput by step, over all stations."),
        SeriesSpec::lower_is_better(
            "late_by_step",
            Unit::Percent,
            &[AxisSpec { name: "step", unit: Unit::Count }],
        )
        .doc("Late blocks by step, in percent of the blocks due."),
        SeriesSpec::higher_is_better(
            "by_node",
            Unit::GigabitsPerSecond,
            &[AxisSpec { name: "node", unit: Unit::Count }],
        )
        .doc("Throughput by NUMA node."),
        SeriesSpec::lower_is_better(
            "late_by_node",
            Unit::Percent,
            &[AxisSpec { name: "node", unit: Unit::Count }],
        )
        .doc("Late blocks by NUMA node, in percent of the blocks due."),
    ],
    parts: Parts::One("worker"),
    needs: &[],
    probes: &["steal", "load", "edac"],
    cost: Cost { seconds: 36, written: 0 },
    interaction: Interaction::Loads("memory and all cores of the node"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: limits::limits,
    part: |case, place| Part::alone(case, place, part::PipelineWorker::prepare),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
