//! `gpu.host_copy_all`: how fast data move between the host and all GPUs at once.

mod part;
mod plan;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, AxisSpec, Bytes, Cost, Interaction, Kind, MetricSpec, Need, ParamSpec, SeriesSpec, Unit,
};

use seatrial_bench::Benchmark;

const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::GigabitsPerSecond).doc(doc)
}

const ABOUT: About = About {
    id: "gpu.host_copy_all",
    version: 1,
    title: "copies between host and all GPUs at once",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec::new("direction", Kind::Choice(&["h2d", "d2h", "both"]), "auto")
            .word("auto")
            .doc("To the devices, from them, or both at once; auto is all three in turn."),
        ParamSpec::new("coverage", Kind::Choice(&["block", "memory"]), "block").doc(
            "One block again and again, or ten times 10/11 of each device's memory, as COBALT2's \
             gpu-copy does.",
        ),
        ParamSpec::new("block", Kind::Size(Bytes::kib(4), Bytes::gib(16)), "512 MiB")
            .doc("Size of a copy, and of what is pinned for each GPU and direction."),
        seatrial_bench::PAGES,
        ParamSpec { default: "2 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
    ],
    metrics: &[
        rate("h2d_sum", "Host to device, all GPUs at once, summed over the time that all copied."),
        rate("d2h_sum", "Device to host, all GPUs at once, summed over the time that all copied."),
        rate("both_sum", "Both directions of all GPUs at once, summed over the time that all copied."),
        rate("h2d_least", "Host to device, the slowest of the GPUs that copied at once."),
        rate("d2h_least", "Device to host, the slowest of the GPUs that copied at once."),
    ],
    series: &[SeriesSpec::higher_is_better(
        "by_gpu",
        Unit::GigabitsPerSecond,
        &[AxisSpec { name: "direction", unit: Unit::Count }, AxisSpec { name: "gpu", unit: Unit::Count }],
    )
    .doc("Each GPU while all copied, by direction.")],
    parts: &["worker"],
    needs: &[Need::Library("libcuda.so.1")],
    probes: &["steal", "load", "pcie_aer", "kernel_log"],
    cost: Cost { seconds: 14, written: 0 },
    interaction: Interaction::Loads("all GPUs, their links and the memory of the host"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| crate::part(case, place, None, part::ready),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
