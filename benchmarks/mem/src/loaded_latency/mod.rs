//! `mem.loaded_latency`: memory latency against the bandwidth that other cores use.

mod pace;
mod part;
mod plan;
mod reduce;
mod team;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, Actor, AxisSpec, Cost, Interaction, Kind, MetricSpec, ParamSpec, Parts, Remedy, SeriesSpec, Unit,
};

use seatrial_bench::{Benchmark, Part};

const LOAD_AXIS: &[AxisSpec] = &[AxisSpec { name: "load", unit: Unit::Percent }];

const ABOUT: About = About {
    id: "mem.loaded_latency",
    version: 1,
    title: "memory latency against the bandwidth that other cores use",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::User,
            "stop other programs and measure again; if still low, have root compare number, size and speed of memory modules (`dmidecode -t memory`) with the purchase order",
        ),
        Remedy::new(
            Actor::Root,
            "compare the memory settings of the firmware with those of a node that passes",
        ),
    ],
    params: &[
        ParamSpec::new("load", Kind::Choice(&["read", "copy"]), "read").doc(
            "Kernel of the loaders: read, or copy with non-temporal stores (half of the traffic is writes).",
        ),
        ParamSpec::new("loaders", Kind::Choice(&["machine", "node"]), "machine").doc(
            "Loading cores: machine (all cores but the measuring one), or node (only those of its NUMA \
             node).",
        ),
        ParamSpec::new("steps", Kind::Count(5, 50), "10")
            .doc("Number of load steps above idle, evenly spaced up to the full rate of the loaders."),
        seatrial_bench::PAGES,
        seatrial_bench::VERIFY,
        seatrial_bench::TIME,
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        MetricSpec::lower_is_better("loaded", Unit::Nanosecond)
            .doc("Time of one dependent load while the loaders run at full rate."),
        MetricSpec::lower_is_better("idle", Unit::Nanosecond)
            .doc("Time of one dependent load while the loaders are idle."),
        MetricSpec::higher_is_better("bandwidth", Unit::GigabytesPerSecond)
            .doc("Bytes counted as in STREAM over time of all loaders, at the step with the highest median."),
        MetricSpec::higher_is_better("knee", Unit::GigabytesPerSecond).doc(
            "Bandwidth at which the latency starts to rise steeply, one value per trial; absent without such \
             a knee.",
        ),
    ],
    series: &[
        SeriesSpec::lower_is_better("curve", Unit::Nanosecond, LOAD_AXIS)
            .doc("Latency by load, in percent of the full rate of the loaders."),
        SeriesSpec::higher_is_better("delivered", Unit::GigabytesPerSecond, LOAD_AXIS)
            .doc("Bandwidth that the loaders reached, by the same load."),
    ],
    parts: Parts::One("worker"),
    needs: &[],
    probes: &["steal", "load", "edac"],
    cost: Cost { seconds: 5, written: 0 },
    interaction: Interaction::Loads("memory and all cores of the node"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| Part::alone(case, place, part::LoadedLatencyWorker::prepare),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
