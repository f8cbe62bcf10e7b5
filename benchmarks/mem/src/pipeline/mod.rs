//! `mem.pipeline`: whether a machine keeps the pace of many memory operations at once, and how much faster it could.

mod class;
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

use seatrial_model::{About, AxisSpec, Cost, Interaction, Kind, MetricSpec, ParamSpec, SeriesSpec, Unit};

use seatrial_bench::{Benchmark, Part};

const ABOUT: About = About {
    id: "mem.pipeline",
    version: 1,
    title: "many paced memory operations at once, such as COBALT2's",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec::new("scenario", Kind::Choice(scenario::NAMES), "cobalt2").doc(
            "The demand: steps with operation, block and rate; cobalt2 is 702 Gbit/s, cobalt2-readme \
             621 Gbit/s.",
        ),
        ParamSpec::new("mode", Kind::Choice(&["paced", "max"]), "paced")
            .doc("Keep the scenario's pace, or search for the fastest pace that is kept."),
        ParamSpec::new("threads", Kind::Choice(&["core", "step"]), "core").doc(
            "A pinned thread a core that takes the most urgent block, or a thread for every step of \
             every station.",
        ),
        ParamSpec::new("blocks", Kind::Choice(&["rotate", "one"]), "rotate").doc(
            "Go through enough blocks to leave the caches behind, or use one again and again as the \
             original does.",
        ),
        ParamSpec::new("sched", Kind::Text, "other").doc(
            "Scheduling of the threads: other, or fifo:N for SCHED_FIFO of priority N, which takes a \
             privilege.",
        ),
        seatrial_bench::PAGES,
        ParamSpec { default: "4 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
    ],
    metrics: &[
        MetricSpec::higher_is_better("throughput", Unit::GigabitsPerSecond).doc(
            "Counted bits of the blocks finished in the window over its time; mode max: at the fastest \
             pace kept.",
        ),
        MetricSpec::higher_is_better("achieved", Unit::Percent)
            .doc("In mode paced: throughput in percent of what the scenario demands."),
        MetricSpec::higher_is_better("headroom", Unit::Count).doc(
            "In mode max: the fastest pace at which at most 0.25 % of the blocks are late, over the \
             scenario's.",
        ),
        MetricSpec::lower_is_better("late", Unit::Percent)
            .doc("Blocks that were not finished by their deadline, in percent of those due in the window."),
        MetricSpec::lower_is_better("lateness_p99", Unit::Microsecond).doc(
            "Time from deadline to end of a block that 99 % of all blocks do not exceed; 0 for a block \
             in time.",
        ),
        MetricSpec::lower_is_better("lateness_max", Unit::Microsecond).doc("The same of the latest block."),
        MetricSpec::higher_is_better("traffic_least", Unit::GigabytesPerSecond).doc(
            "What crosses the memory bus at least: every byte of a block once for loading and once for \
             storing it.",
        ),
        MetricSpec::higher_is_better("traffic_most", Unit::GigabytesPerSecond).doc(
            "Estimate of the most: with the lines that are read before they are stored to \
             (write-allocate).",
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
        .doc("Late blocks by step, in percent of those due."),
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
        .doc("Late blocks by NUMA node, in percent of those due."),
    ],
    parts: &["worker"],
    needs: &[],
    probes: &["steal", "load"],
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
