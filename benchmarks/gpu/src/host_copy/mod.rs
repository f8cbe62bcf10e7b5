//! `gpu.host_copy`: bandwidth and latency between the host and a GPU.

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
    About, Actor, AxisSpec, Cost, Interaction, Kind, Need, ParamSpec, Parts, Remedy, SeriesSpec, Unit,
};

use crate::metrics::{latency, rate};
use seatrial_bench::Benchmark;

const ABOUT: About = About {
    id: "gpu.host_copy",
    version: 2,
    title: "copies between host and GPU, in each direction and both",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::Root,
            "check the PCIe link: `lspci -vvs ADDRESS | grep Lnk` in a second terminal while `seatrial run gpu.host_copy` runs; LnkSta below LnkCap: reseat the GPU",
        ),
        Remedy::new(Actor::Root, "switch the IOMMU and ACS off for the GPU, if policy allows it"),
        Remedy::new(Actor::Vendor, "replace the riser, the GPU or the board"),
    ],
    params: &[
        ParamSpec::new("engine", Kind::Choice(&["copy", "sm"]), "copy")
            .doc("copy: the GPU's copy engines; sm: a kernel on its multiprocessors."),
        ParamSpec::new("memory", Kind::Choice(&["pinned", "pageable"]), "pinned")
            .doc("Host memory: pinned (page-locked, the GPU accesses it directly) or pageable."),
        ParamSpec::new("direction", Kind::Choice(&["h2d", "d2h", "both"]), "auto")
            .word("auto")
            .doc("h2d: host to device; d2h: device to host; both at once; auto: all three in turn."),
        ParamSpec::new("size", Kind::Text, "512 MiB").doc(
            "Size of a copy: a size, quick (32 MiB), shmoo (81 sizes from 1 KiB to 64 MiB) or \
             FROM:TO:STEP.",
        ),
        ParamSpec::new("scope", Kind::Choice(&["near", "matrix"]), "near")
            .doc("near: memory of the GPU's NUMA node; matrix: memory of every NUMA node in turn."),
        crate::GPU,
        seatrial_bench::PAGES,
        seatrial_bench::TIME,
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        rate("h2d", "Bandwidth from host to device, at the largest size."),
        rate("d2h", "Bandwidth from device to host, at the largest size."),
        rate("both", "Bandwidth of both directions together, while both run."),
        rate("both_h2d", "Host to device, in `both`."),
        rate("both_d2h", "Device to host, in `both`."),
        latency(
            "h2d_latency",
            "Time of a copy of 8 bytes from host to device, from the driver call to its end, seen by the \
             host.",
        ),
        latency(
            "d2h_latency",
            "Time of a copy of 8 bytes from device to host, from the driver call to its end, seen by the \
             host.",
        ),
        latency("latency", "Time of one dependent load by a GPU multiprocessor from pinned host memory."),
        rate(
            "h2d_remote",
            "With scope=matrix: host to device, from the slowest NUMA node that is not the GPU's own.",
        ),
        rate(
            "d2h_remote",
            "With scope=matrix: device to host, to the slowest NUMA node that is not the GPU's own.",
        ),
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
        .doc("Bandwidth by direction and NUMA node of the host memory."),
    ],
    parts: Parts::One("worker"),
    needs: &[Need::Library("libcuda.so.1")],
    probes: &["steal", "load", "pcie_aer", "kernel_log"],
    cost: Cost { seconds: 9, written: 0 },
    interaction: Interaction::Loads("the GPU, its link and the host memory"),
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
