//! `gpu.peer_copy`: bandwidth and latency between the GPUs of a node.

mod cell;
mod part;
mod plan;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, Actor, AxisSpec, Bytes, Cost, Interaction, Kind, Need, ParamSpec, Parts, Remedy, SeriesSpec, Unit,
};

use crate::metrics::{latency, rate};
use seatrial_bench::Benchmark;

const fn axis(name: &'static str) -> AxisSpec {
    AxisSpec { name, unit: Unit::Count }
}

const ABOUT: About = About {
    id: "gpu.peer_copy",
    version: 3,
    title: "copies between the GPUs of a node, every pair and groups",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::Root,
            "check the NVLinks of the slow pair (`nvidia-smi nvlink -s`) and the fabric manager (`systemctl status nvidia-fabricmanager`)",
        ),
        Remedy::new(Actor::Root, "switch ACS off on the PCIe ports that a finding names"),
        Remedy::new(Actor::Vendor, "replace the GPU, the bridge or the NVSwitch with the dead link"),
    ],
    params: &[
        ParamSpec::new("engine", Kind::Choice(&["copy", "sm"]), "copy")
            .doc("copy: the GPU's copy engines; sm: a kernel on its multiprocessors."),
        ParamSpec::new("among", Kind::Choice(&["pairs", "groups"]), "auto")
            .word("auto")
            .doc("pairs: every pair; groups: one with all others, and all with all; auto: both."),
        ParamSpec::new("size", Kind::Size(Bytes::kib(4), Bytes::gib(16)), "512 MiB").doc("Size of a copy."),
        seatrial_bench::TIME,
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        rate("write", "One GPU writes to another GPU's memory: the slowest pair."),
        rate("read", "One GPU reads from another GPU's memory: the slowest pair."),
        rate("both_write", "Both GPUs of a pair write to each other at once, summed: the slowest pair."),
        rate("both_read", "Both GPUs of a pair read from each other at once, summed: the slowest pair."),
        rate("one_to_all", "One GPU writes to all others at once, summed: the slowest GPU."),
        rate("all_to_one", "All others write to one GPU at once, summed: the slowest GPU."),
        rate("all_to_all", "Every GPU writes to every other GPU at once, summed."),
        latency(
            "latency",
            "Time of one dependent load over the link, from the L2 cache of the other GPU: the slowest pair.",
        ),
        latency(
            "latency_memory",
            "Time of one dependent load over the link, from the uncached memory of the other GPU: the \
             slowest pair.",
        ),
    ],
    series: &[
        SeriesSpec::higher_is_better(
            "pairs",
            Unit::GigabytesPerSecond,
            &[axis("operation"), axis("from"), axis("to")],
        )
        .doc("Bandwidth by operation and pair; data move from `from` to `to`."),
        SeriesSpec::higher_is_better("groups", Unit::GigabytesPerSecond, &[axis("operation"), axis("gpu")])
            .doc("Bandwidth of one GPU with all others, by operation."),
        SeriesSpec::lower_is_better("latencies", Unit::Nanosecond, &[axis("by"), axis("from")])
            .doc("Time of a load by GPU `by` from the L2 cache of GPU `from`."),
        SeriesSpec::lower_is_better("memory_latencies", Unit::Nanosecond, &[axis("by"), axis("from")])
            .doc("Time of a load by GPU `by` from the uncached memory of GPU `from`."),
    ],
    parts: Parts::One("worker"),
    needs: &[Need::Library("libcuda.so.1")],
    probes: &["steal", "load", "pcie_aer", "kernel_log"],
    cost: Cost { seconds: 10, written: 0 },
    interaction: Interaction::Loads("all GPUs and the links between them"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| crate::part(case, place, None, part::ready),
    liveness_check: |_, _| None,
    reduce: |case, parts| reduce::reduce(&ABOUT, case, parts),
};
