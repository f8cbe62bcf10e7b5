//! `gpu.peer_copy`: how fast data move between the GPUs of a node.

mod cell;
mod part;
mod plan;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, AxisSpec, Better, Bytes, Case, Cost, Interaction, Kind, Limits, Measures, MetricSpec, Need,
    ParamSpec, Params, PartPlacement, PartRecord, Reason, SeriesSpec, Site, Unit,
};

use crate::{Benchmark, Error, Part, common};

pub struct PeerCopy;

const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec { name, doc, unit: Unit::GigabytesPerSecond, better: Better::Higher }
}

const fn latency(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec { name, doc, unit: Unit::Nanosecond, better: Better::Lower }
}

const fn axis(name: &'static str) -> AxisSpec {
    AxisSpec { name, unit: Unit::Count }
}

const ABOUT: About = About {
    id: "gpu.peer_copy",
    version: 3,
    title: "copies between the GPUs of a node, every pair and many at once",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec {
            name: "engine",
            doc: "The copy engines by the driver's copy, or the GPU's processors by a kernel of ours.",
            kind: Kind::Choice(&["copy", "sm"]),
            word: None,
            default: "copy",
        },
        ParamSpec {
            name: "among",
            doc: "Pairs, or one with all others and all with all; auto is both.",
            kind: Kind::Choice(&["pairs", "groups"]),
            word: Some("auto"),
            default: "auto",
        },
        ParamSpec {
            name: "size",
            doc: "Size of a copy.",
            kind: Kind::Size(Bytes::kib(4), Bytes::gib(16)),
            word: None,
            default: "512 MiB",
        },
        common::TIME,
        common::TRIALS,
        common::MAX_TRIALS,
        common::PRECISION,
    ],
    metrics: &[
        rate("write", "One GPU writes to the memory of another: the slowest pair."),
        rate("read", "One GPU reads from the memory of another: the slowest pair."),
        rate("both_write", "Both GPUs of a pair write to each other at once, added up: the slowest pair."),
        rate("both_read", "Both GPUs of a pair read from each other at once, added up: the slowest pair."),
        rate("one_to_all", "One GPU writes to all others at once, added up: the slowest GPU."),
        rate("all_to_one", "All others write to one GPU at once, added up: the slowest GPU."),
        rate("all_to_all", "Every GPU writes to every other one at once, added up."),
        latency(
            "latency",
            "One load by a processor of a GPU over the link, of what the second-level cache of the other holds: the \
             slowest pair.",
        ),
        latency(
            "latency_memory",
            "The same of what lies in the memory of the other and in none of its caches: the slowest pair.",
        ),
    ],
    series: &[
        SeriesSpec {
            name: "pairs",
            doc: "Bandwidth by operation and pair; data go from the one to the other.",
            unit: Unit::GigabytesPerSecond,
            better: Better::Higher,
            axes: &[axis("operation"), axis("from"), axis("to")],
        },
        SeriesSpec {
            name: "groups",
            doc: "Bandwidth of one GPU with all others, by operation.",
            unit: Unit::GigabytesPerSecond,
            better: Better::Higher,
            axes: &[axis("operation"), axis("gpu")],
        },
        SeriesSpec {
            name: "latencies",
            doc: "Time of a load by the one GPU over the link, of what the cache of the other holds.",
            unit: Unit::Nanosecond,
            better: Better::Lower,
            axes: &[axis("by"), axis("from")],
        },
        SeriesSpec {
            name: "memory_latencies",
            doc: "Time of a load by the one GPU of what lies in the memory of the other.",
            unit: Unit::Nanosecond,
            better: Better::Lower,
            axes: &[axis("by"), axis("from")],
        },
    ],
    parts: &["worker"],
    needs: &[Need::Library("libcuda.so.1")],
    probes: &["steal", "load", "pcie_aer", "kernel_log"],
    cost: Cost { seconds: 10, written: 0 },
    interaction: Interaction::Loads("all GPUs and the links between them"),
};

impl Benchmark for PeerCopy {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn plan(&self, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
        plan::plan(&ABOUT, params, site)
    }

    fn limits(&self, case: &Case, site: &Site) -> Limits {
        plan::limits(&ABOUT, case, site)
    }

    fn part(&self, case: &Case, place: &PartPlacement) -> Result<Box<dyn Part>, Error> {
        Ok(Box::new(part::worker(case, place)?))
    }

    fn reduce(&self, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
        reduce::reduce(&ABOUT, case, parts)
    }
}
