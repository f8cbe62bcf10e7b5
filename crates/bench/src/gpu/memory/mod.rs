//! `gpu.memory`: how fast a GPU moves data within its own memory.

mod part;
mod plan;
mod reduce;
#[cfg(test)]
mod tests;
mod variant;

use seatrial_model::{
    About, AxisSpec, Better, Bytes, Case, Cost, Interaction, Kind, Limits, Measures, MetricSpec, Need,
    ParamSpec, Params, PartPlacement, PartRecord, Reason, SeriesSpec, Site, Unit,
};

use crate::common::gpu;
use crate::{Benchmark, Error, Part, common};

pub struct Memory;

const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec { name, doc, unit: Unit::GigabytesPerSecond, better: Better::Higher }
}

const ABOUT: About = About {
    id: "gpu.memory",
    version: 1,
    title: "bandwidth of a GPU's own memory, by kernel and variant",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec {
            name: "kernel",
            doc: "One kernel; auto is all of them in turn.",
            kind: Kind::Choice(&["read", "write", "copy", "triad", "memcpy"]),
            word: Some("auto"),
            default: "auto",
        },
        ParamSpec {
            name: "variants",
            doc: "The variants of each kernel that were found good, or every combination.",
            kind: Kind::Choice(&["tuned", "all"]),
            word: None,
            default: "tuned",
        },
        ParamSpec {
            name: "array",
            doc: "Size of each array; auto is 4 GiB, or a 32nd of the device's memory if that is less.",
            kind: Kind::Size(Bytes::mib(1), Bytes::gib(256)),
            word: Some("auto"),
            default: "auto",
        },
        gpu::GPU,
        common::TIME,
        common::TRIALS,
        common::MAX_TRIALS,
        common::PRECISION,
    ],
    metrics: &[
        rate("copy", "Bytes read and written by the best variant of copy over time."),
        rate("read", "Bytes read by the best variant of read over time."),
        rate("write", "Bytes written by the best variant of write over time."),
        rate("triad", "Bytes read and written by the best variant of triad over time."),
        rate("memcpy", "Bytes read and written by the driver's copy over time."),
    ],
    series: &[SeriesSpec {
        name: "by_variant",
        doc: "Bandwidth by kernel and variant.",
        unit: Unit::GigabytesPerSecond,
        better: Better::Higher,
        axes: &[
            AxisSpec { name: "kernel", unit: Unit::Count },
            AxisSpec { name: "variant", unit: Unit::Count },
        ],
    }],
    parts: &["worker"],
    needs: &[Need::Library("libcuda.so.1")],
    probes: &["steal", "load", "kernel_log"],
    cost: Cost { seconds: 9, written: 0 },
    interaction: Interaction::Loads("the GPU and its memory"),
};

impl Benchmark for Memory {
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
