//! `cpu.clock`: the effective clock of the cores, one alone and all together.

mod chain;
mod findings;
mod kernel;
mod lap;
mod part;
mod plan;
mod ramp;
mod readings;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, Actor, AxisSpec, Cost, Interaction, Kind, MetricSpec, ParamSpec, Parts, Remedy, SeriesSpec, Unit,
};

use seatrial_bench::{Benchmark, Part};

const ABOUT: About = About {
    id: "cpu.clock",
    version: 1,
    title: "effective clock of one core and of all cores",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(Actor::Root, "set the governor to performance and boost on: compare `seatrial settings` with a node that passes"),
        Remedy::new(Actor::Administrator, "check fans, heat sinks, the air at the inlet and the power limit of the firmware"),
        Remedy::new(Actor::User, "measure again while nothing else runs on the machine"),
    ],
    params: &[
        ParamSpec::new("cores", Kind::Choice(&[part::ONE, part::ALL, "both"]), "both")
            .doc("one: one core alone; all: all cores at once; both: one after the other."),
        ParamSpec {
            doc: "Measuring time of one trial; with cores=both a third for one core, the rest for all cores.",
            default: "1 s",
            ..seatrial_bench::TIME
        },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        MetricSpec::higher_is_better("clock_one", Unit::Gigahertz)
            .doc("Cycles over time of one core while the other cores are idle."),
        MetricSpec::higher_is_better("clock_all", Unit::Gigahertz)
            .doc("Cycles over time while all cores run, of the core with the lowest median."),
        MetricSpec::higher_is_better("slowest_core", Unit::Percent).doc(
            "Clock of the slowest core while all run, in percent of the median core; compared are cores with the \
             same highest clock (`cpuinfo_max_freq`), or all where the kernel tells none.",
        ),
    ],
    series: &[
        SeriesSpec::higher_is_better(
            "by_core",
            Unit::Gigahertz,
            &[AxisSpec { name: "cpu", unit: Unit::Count }],
        )
        .doc("Clock of each core while all run, by CPU number."),
        SeriesSpec::higher_is_better(
            "over_time",
            Unit::Gigahertz,
            &[AxisSpec { name: "elapsed", unit: Unit::Millisecond }],
        )
        .doc("Clock of the median core, by time since all cores started."),
    ],
    parts: Parts::One("worker"),
    needs: &[],
    probes: &["steal", "load", "throttle", "cpu_freq", "edac", "kernel_log"],
    cost: Cost { seconds: 5, written: 0 },
    interaction: Interaction::Loads("all cores of the node"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: |about, params, site| seatrial_bench::each_node(site, |node| plan::plan(about, params, node)),
    limits: plan::limits,
    part: |case, place| Part::alone(case, place, part::Worker::prepare),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
