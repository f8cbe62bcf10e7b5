//! `gpu.host_copy_all`: bandwidth between the host and all GPUs at once.

mod part;
mod plan;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, Actor, AxisSpec, Bytes, Cost, Interaction, Kind, MetricSpec, Need, ParamSpec, Parts, Remedy,
    SeriesSpec, Unit,
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
    checks: &[
        Remedy::new(
            Actor::Root,
            "run `seatrial run gpu.host_copy`, and find the GPU or the switch that is slow by itself",
        ),
        Remedy::new(Actor::User, "run `seatrial run mem.bandwidth`: the memory of the host may be the limit"),
    ],
    params: &[
        ParamSpec::new("direction", Kind::Choice(&["h2d", "d2h", "both"]), "auto")
            .word("auto")
            .doc("h2d: host to devices; d2h: devices to host; both at once; auto: all three in turn."),
        ParamSpec::new("coverage", Kind::Choice(&["block", "memory"]), "block").doc(
            "block: one block, again and again; memory: 10/11 of each device's memory, ten times, like \
             COBALT2's gpu-copy.",
        ),
        ParamSpec::new("block", Kind::Size(Bytes::kib(4), Bytes::gib(16)), "512 MiB")
            .doc("Size of a copy, and of the pinned memory per GPU and direction."),
        seatrial_bench::PAGES,
        ParamSpec { default: "2 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        rate("h2d_sum", "Host to device, sum over all GPUs while all copy."),
        rate("d2h_sum", "Device to host, sum over all GPUs while all copy."),
        rate("both_sum", "Both directions at once, sum over all GPUs while all copy."),
        rate("h2d_least", "Host to device, the slowest GPU while all copy."),
        rate("d2h_least", "Device to host, the slowest GPU while all copy."),
    ],
    series: &[SeriesSpec::higher_is_better(
        "by_gpu",
        Unit::GigabitsPerSecond,
        &[AxisSpec { name: "direction", unit: Unit::Count }, AxisSpec { name: "gpu", unit: Unit::Count }],
    )
    .doc("Bandwidth of each GPU while all copy, by direction.")],
    parts: Parts::One("worker"),
    needs: &[Need::Library("libcuda.so.1")],
    probes: &["steal", "load", "pcie_aer", "kernel_log"],
    cost: Cost { seconds: 14, written: 0 },
    interaction: Interaction::Loads("all GPUs, their links and the host memory"),
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
