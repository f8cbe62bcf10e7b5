//! `gpu.memory`: bandwidth of a GPU's own memory.

mod part;
mod plan;
mod reduce;
#[cfg(test)]
mod tests;
mod variant;

use seatrial_model::{
    About, Actor, AxisSpec, Bytes, Cost, Interaction, Kind, Need, ParamSpec, Parts, Remedy, SeriesSpec, Unit,
};

use crate::metrics::rate;
use seatrial_bench::Benchmark;

const ABOUT: About = About {
    id: "gpu.memory",
    version: 1,
    title: "bandwidth of a GPU's own memory, by kernel and variant",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::Root,
            "check memory clock, power limit, heat and remapped rows of the GPU (`nvidia-smi -q`)",
        ),
        Remedy::new(Actor::User, "end other processes on the GPU"),
        Remedy::new(Actor::Vendor, "replace the GPU"),
    ],
    params: &[
        ParamSpec::new("kernel", Kind::Choice(&["read", "write", "copy", "triad", "memcpy"]), "auto")
            .word("auto")
            .doc("One kernel; auto: all kernels in turn."),
        ParamSpec::new("variants", Kind::Choice(&["tuned", "all"]), "tuned")
            .doc("tuned: the fastest known variants of each kernel; all: every combination."),
        ParamSpec::new("array", Kind::Size(Bytes::mib(1), Bytes::gib(256)), "auto")
            .word("auto")
            .doc("Size of each array; auto: 4 GiB, or 1/32 of the device memory if that is less."),
        crate::GPU,
        seatrial_bench::TIME,
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        rate("copy", "Bytes read and written over time, in the fastest variant of copy."),
        rate("read", "Bytes read over time, in the fastest variant of read."),
        rate("write", "Bytes written over time, in the fastest variant of write."),
        rate("triad", "Bytes read and written over time, in the fastest variant of triad."),
        rate("memcpy", "Bytes read and written over time, in the driver's device-to-device copy."),
    ],
    series: &[SeriesSpec::higher_is_better(
        "by_variant",
        Unit::GigabytesPerSecond,
        &[AxisSpec { name: "kernel", unit: Unit::Count }, AxisSpec { name: "variant", unit: Unit::Count }],
    )
    .doc("Bandwidth by kernel and variant.")],
    parts: Parts::One("worker"),
    needs: &[Need::Library("libcuda.so.1")],
    probes: &["steal", "load", "kernel_log"],
    cost: Cost { seconds: 9, written: 0 },
    interaction: Interaction::Loads("the GPU and its memory"),
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
