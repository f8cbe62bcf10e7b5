//! `gpu.burn`: all GPUs of a node multiply matrices for a long time, and every result is compared.

mod part;
mod plan;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, Actor, AxisSpec, Cost, Interaction, Kind, MetricSpec, Nanos, Need, ParamSpec, Parts, Remedy,
    SeriesSpec, Unit,
};

use crate::product::{CLOCK, DATA, POWER, SHAPE, TYPE};
use seatrial_bench::Benchmark;

const fn percent(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Percent).doc(doc)
}

const BY_WINDOW: &[AxisSpec] =
    &[AxisSpec { name: "gpu", unit: Unit::Count }, AxisSpec { name: "window", unit: Unit::Second }];

const ABOUT: About = About {
    id: "gpu.burn",
    version: 1,
    title: "all GPUs of a node under full load for a long time, with every result compared",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(Actor::Vendor, "replace a GPU whose results are wrong, whatever its rate"),
        Remedy::new(
            Actor::Administrator,
            "compare heat, power and clock of the GPUs: `watch` in the evidence, `nvidia-smi -q -d PERFORMANCE,TEMPERATURE`",
        ),
        Remedy::new(Actor::Administrator, "check fans, air flow, cold plates and power supplies of the node"),
    ],
    params: &[
        TYPE,
        ParamSpec { default: "16384", ..SHAPE },
        DATA,
        ParamSpec::new("memory", Kind::Count(1, 95), "90").doc(
            "Share of the free device memory, in percent, that the product is written to, one place after the other.",
        ),
        crate::GPU,
        ParamSpec::new("time", Kind::Time(Nanos::millis(50), Nanos::secs(72 * 3600)), "60 s")
            .doc("Measuring time of one trial."),
        ParamSpec { default: "1", ..seatrial_bench::TRIALS },
        ParamSpec { default: "1", ..seatrial_bench::MAX_TRIALS },
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        MetricSpec::higher_is_better("rate", Unit::TeraflopPerSecond)
            .doc("Rate of the slowest GPU, in windows of 10 s."),
        MetricSpec::higher_is_better("worst", Unit::TeraflopPerSecond)
            .doc("The lowest rate of any GPU in any window of 10 s."),
        percent("sag", "How much lower the rate of the last window is than that of the best, of the GPU that loses most."),
        percent("spread", "How much lower the rate of the slowest GPU is than that of the fastest."),
        MetricSpec::lower_is_better("hottest", Unit::Celsius).doc("The highest temperature of any GPU."),
        MetricSpec::lower_is_better("heat_spread", Unit::Celsius)
            .doc("Highest temperature of the hottest GPU less that of the coolest."),
        POWER,
        CLOCK,
    ],
    series: &[SeriesSpec::higher_is_better("by_window", Unit::TeraflopPerSecond, BY_WINDOW)
        .doc("Rate of each GPU, by the start of a window of 10 s.")],
    parts: Parts::One("worker"),
    needs: &[Need::Library("libcuda.so.1")],
    probes: &["steal", "load", "pcie_aer", "kernel_log"],
    cost: Cost { seconds: 75, written: 0 },
    interaction: Interaction::Loads("all GPUs, up to their power limits, and their memory"),
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
