//! `gpu.compute`: rate of matrix products on a GPU, with right results.

mod part;
mod plan;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_model::{About, Actor, Cost, Interaction, MetricSpec, Need, Parts, Remedy, Unit};

use seatrial_bench::Benchmark;

const ABOUT: About = About {
    id: "gpu.compute",
    version: 1,
    title: "rate of matrix products on a GPU, with every result checked",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::Root,
            "check power limit, clocks and temperature while the test runs (`nvidia-smi -q`)",
        ),
        Remedy::new(Actor::User, "end other processes on the GPU"),
        Remedy::new(Actor::Vendor, "replace a GPU whose results are wrong"),
    ],
    params: &[
        crate::product::ANY_TYPE,
        crate::product::ENGINE,
        crate::product::SHAPE,
        crate::product::DATA,
        crate::product::LIBRARY,
        crate::GPU,
        seatrial_bench::TIME,
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        MetricSpec::higher_is_better("rate", Unit::TeraflopPerSecond)
            .doc("Multiplications and additions over time, 2 x rows x columns x depth of each product."),
        crate::product::POWER,
        crate::product::CLOCK,
        MetricSpec::higher_is_better("efficiency", Unit::Percent)
            .doc("Rate over what the units can do at the clock that the GPU really had."),
        MetricSpec::higher_is_better("per_watt", Unit::GigaflopPerSecondWatt).doc("Rate over power."),
    ],
    series: &[],
    parts: Parts::One("worker"),
    needs: &[Need::Library("libcuda.so.1")],
    probes: &["steal", "load", "kernel_log"],
    cost: Cost { seconds: 9, written: 0 },
    interaction: Interaction::Loads("the GPU, up to its power limit"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| crate::part(case, place, None, part::ready),
    liveness_check: |_, _| None,
    reduce: |case, parts| reduce::reduce(case, parts),
};
