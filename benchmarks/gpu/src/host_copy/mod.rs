//! `gpu.host_copy`: how fast data move between the host and a GPU.

mod cell;
mod copier;
mod latency;
mod pageable;
mod part;
mod pinned;
mod plan;
mod reduce;
mod samples;
mod sizes;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, AxisSpec, Cost, Interaction, Kind, MetricSpec, Need, ParamSpec, SeriesSpec, Unit,
};

use seatrial_bench::Benchmark;

const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::GigabytesPerSecond).doc(doc)
}

const fn latency(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Nanosecond).doc(doc)
}

const ABOUT: About = About {
    id: "gpu.host_copy",
    version: 1,
    title: "copies between host and GPU, each direction and both",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec::new("engine", Kind::Choice(&["copy", "sm"]), "copy")
            .doc("The copy engines by the driver's copy, or the GPU's processors by a kernel of ours."),
        ParamSpec::new("memory", Kind::Choice(&["pinned", "pageable"]), "pinned")
            .doc("Memory of the host: pinned, which the GPU reaches by itself, or pageable."),
        ParamSpec::new("direction", Kind::Choice(&["h2d", "d2h", "both"]), "auto")
            .word("auto")
            .doc("To the device, from it, or both at once; auto is all three in turn."),
        ParamSpec::new("size", Kind::Text, "512 MiB").doc(
            "Size of a copy: a size, quick (32 MiB), shmoo (81 sizes from 1 KiB to 64 MiB) or \
             FROM:TO:STEP.",
        ),
        ParamSpec::new("scope", Kind::Choice(&["near", "matrix"]), "near")
            .doc("The memory next to the GPU, or that of every NUMA node in turn."),
        crate::GPU,
        seatrial_bench::PAGES,
        seatrial_bench::TIME,
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
    ],
    metrics: &[
        rate("h2d", "Bytes copied to the device over time, at the largest size."),
        rate("d2h", "Bytes copied from the device over time, at the largest size."),
        rate("both", "Bytes copied in both directions at once over the time that both ran."),
        rate("both_h2d", "The part of `both` that went to the device."),
        rate("both_d2h", "The part of `both` that came from the device."),
        latency(
            "h2d_latency",
            "Time from asking for a copy of 8 bytes to the device to its end, seen by the host.",
        ),
        latency(
            "d2h_latency",
            "Time from asking for a copy of 8 bytes from the device to its end, seen by the host.",
        ),
        latency("latency", "Time of one load by a processor of the GPU from pinned memory of the host."),
        rate("h2d_remote", "In scope matrix: to the device from the slowest NUMA node that is not its own."),
        rate("d2h_remote", "In scope matrix: from the device to the slowest NUMA node that is not its own."),
    ],
    series: &[
        SeriesSpec::higher_is_better(
            "by_size",
            Unit::GigabytesPerSecond,
            &[AxisSpec { name: "direction", unit: Unit::Count }, AxisSpec { name: "size", unit: Unit::Byte }],
        )
        .doc("Bandwidth by direction and size of a copy."),
        SeriesSpec::higher_is_better(
            "matrix",
            Unit::GigabytesPerSecond,
            &[
                AxisSpec { name: "direction", unit: Unit::Count },
                AxisSpec { name: "memory_node", unit: Unit::Count },
            ],
        )
        .doc("Bandwidth by direction and NUMA node of the host's memory."),
    ],
    parts: &["worker"],
    needs: &[Need::Library("libcuda.so.1")],
    probes: &["steal", "load", "pcie_aer", "kernel_log"],
    cost: Cost { seconds: 9, written: 0 },
    interaction: Interaction::Loads("the GPU, its link and the memory next to it"),
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
