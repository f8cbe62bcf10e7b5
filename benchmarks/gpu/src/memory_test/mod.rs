//! `gpu.memory_test`: patterns over all of a GPU's memory, every word checked.

mod part;
mod plan;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, Actor, Cost, Interaction, Kind, MetricSpec, Need, ParamSpec, Parts, Remedy, Unit,
};

use crate::metrics::rate;
use seatrial_bench::Benchmark;

const ABOUT: About = About {
    id: "gpu.memory_test",
    version: 1,
    title: "test of all of a GPU's memory for wrong bits",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(Actor::Vendor, "replace a GPU with wrong bits; ECC did not correct them"),
        Remedy::new(
            Actor::Administrator,
            "see corrected errors and remapped rows: `nvidia-smi -q -d ECC,ROW_REMAPPER`; a pending remap needs a reset of the GPU",
        ),
        Remedy::new(Actor::User, "end other processes on the GPU, whose memory cannot be tested"),
    ],
    params: &[
        ParamSpec::new("pattern", Kind::Choice(&part::PATTERNS), "auto")
            .word("auto")
            .doc("One pattern; auto: all in turn."),
        ParamSpec::new("memory", Kind::Count(1, 98), "95")
            .doc("Share of the free device memory that is tested, in percent."),
        crate::GPU,
        ParamSpec { default: "5 s", ..seatrial_bench::TIME },
        ParamSpec { default: "1", ..seatrial_bench::TRIALS },
        ParamSpec { default: "1", ..seatrial_bench::MAX_TRIALS },
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        rate("rate", "Bytes written and read over time, of the slowest pattern."),
        MetricSpec::higher_is_better("covered", Unit::Percent)
            .doc("Share of the device memory that was tested."),
        MetricSpec::higher_is_better("passes", Unit::Count)
            .doc("How often each pattern was written, inverted and checked, the pattern with the fewest."),
    ],
    series: &[],
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
    reduce: |case, parts| reduce::reduce(case, parts),
};
