//! `mem.loaded_latency`: how the latency of memory grows with the bandwidth that others draw from it.

mod pace;
mod part;
mod plan;
mod reduce;
mod team;
#[cfg(test)]
mod tests;

use seatrial_model::{About, AxisSpec, Cost, Interaction, Kind, MetricSpec, ParamSpec, SeriesSpec, Unit};

use seatrial_bench::{Benchmark, Part};

const LOAD_AXIS: &[AxisSpec] = &[AxisSpec { name: "load", unit: Unit::Percent }];

const ABOUT: About = About {
    id: "mem.loaded_latency",
    version: 1,
    title: "latency of memory against the bandwidth that other cores draw",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec::new("load", Kind::Choice(&["read", "copy"]), "read").doc(
            "What the loaders do: read, or copy with non-temporal stores, which writes as much as it \
             reads.",
        ),
        ParamSpec::new("loaders", Kind::Choice(&["machine", "node"]), "machine")
            .doc("Who loads: every core but the chaser's, or only those of its NUMA node."),
        ParamSpec::new("steps", Kind::Count(5, 50), "10")
            .doc("Steps of load above idle, evenly up to what the loaders move when flat out."),
        seatrial_bench::PAGES,
        seatrial_bench::TIME,
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
    ],
    metrics: &[
        MetricSpec::lower_is_better("loaded", Unit::Nanosecond)
            .doc("Time of one dependent load while the loaders are flat out."),
        MetricSpec::lower_is_better("idle", Unit::Nanosecond).doc("The same while they wait."),
        MetricSpec::higher_is_better("bandwidth", Unit::GigabytesPerSecond).doc(
            "Bytes that the loaders' loop names over time, at the step where that is highest by its \
             median.",
        ),
        MetricSpec::higher_is_better("knee", Unit::GigabytesPerSecond)
            .doc("Bandwidth at which the latency takes off, one value a trial; absent when it does not."),
    ],
    series: &[
        SeriesSpec::lower_is_better("curve", Unit::Nanosecond, LOAD_AXIS)
            .doc("Latency by load, in percent of what the loaders move when flat out."),
        SeriesSpec::higher_is_better("delivered", Unit::GigabytesPerSecond, LOAD_AXIS)
            .doc("Bandwidth that the loaders really had meanwhile, by the same load."),
    ],
    parts: &["worker"],
    needs: &[],
    probes: &["steal", "load"],
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
