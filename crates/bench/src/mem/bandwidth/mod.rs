//! `mem.bandwidth`: how fast this machine's cores move data to and from memory.

pub mod kernel;
mod layout;
mod part;
mod plan;
mod reduce;
mod shard;
mod team;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, AxisSpec, Better, Bytes, Case, Cost, Interaction, Kind, Limits, Measures, MetricSpec, ParamSpec,
    Params, PartPlacement, PartRecord, Reason, SeriesSpec, Site, Unit,
};

use crate::{Benchmark, Error, Part, common};

pub struct Bandwidth;

/// Words of the parameter `kernel`.
pub const KERNELS: &[&str] = &["read", "write", "copy", "scale", "add", "triad", "memcpy", "memset"];

const ABOUT: About = About {
    id: "mem.bandwidth",
    version: 1,
    title: "memory bandwidth by kernel, store type and thread count",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec {
            name: "kernel",
            doc: "The loop: read, write, or one of STREAM's four; memcpy and memset are the C library's.",
            kind: Kind::Choice(KERNELS),
            word: None,
            default: "triad",
        },
        ParamSpec {
            name: "store",
            doc: "Regular stores, or non-temporal ones that go past the caches; auto is nt where the loop stores.",
            kind: Kind::Choice(&["regular", "nt"]),
            word: Some("auto"),
            default: "auto",
        },
        ParamSpec {
            name: "scope",
            doc: "All cores with the memory next to them, or every NUMA node's cores with every node's memory.",
            kind: Kind::Choice(&["machine", "matrix"]),
            word: None,
            default: "machine",
        },
        ParamSpec {
            name: "threads",
            doc: "Threads per L3 domain, one a core; auto tries 1, 2, 4 and all.",
            kind: Kind::Load(1, 4096),
            word: Some("auto"),
            default: "auto",
        },
        ParamSpec {
            name: "array",
            doc: "Size of each array over all threads; auto is 4 times the L3 in use, as far as memory allows.",
            kind: Kind::Size(Bytes::mib(1), Bytes::gib(16 * 1024)),
            word: Some("auto"),
            default: "auto",
        },
        common::PAGES,
        ParamSpec {
            name: "isa",
            doc: "Instruction set of the loop; auto is the widest this CPU has.",
            kind: Kind::Choice(&["sse2", "avx2", "avx512", "neon"]),
            word: Some("auto"),
            default: "auto",
        },
        common::TIME,
        common::TRIALS,
        common::MAX_TRIALS,
        common::PRECISION,
    ],
    metrics: &[
        MetricSpec {
            name: "bandwidth",
            doc: "Bytes the loop names over time, at the thread count that is fastest by its median.",
            unit: Unit::GigabytesPerSecond,
            better: Better::Higher,
        },
        MetricSpec {
            name: "bandwidth_all",
            doc: "The same with one thread on every core.",
            unit: Unit::GigabytesPerSecond,
            better: Better::Higher,
        },
        MetricSpec {
            name: "traffic",
            doc: "Estimate of what crosses the memory bus for `bandwidth`: with the lines that regular stores read first.",
            unit: Unit::GigabytesPerSecond,
            better: Better::Higher,
        },
        MetricSpec {
            name: "local",
            doc: "In scope matrix: the slowest node with its own memory.",
            unit: Unit::GigabytesPerSecond,
            better: Better::Higher,
        },
        MetricSpec {
            name: "remote",
            doc: "In scope matrix: the slowest pair of different nodes.",
            unit: Unit::GigabytesPerSecond,
            better: Better::Higher,
        },
    ],
    series: &[
        SeriesSpec {
            name: "by_threads",
            doc: "Bandwidth by number of threads, spread evenly over the L3 domains.",
            unit: Unit::GigabytesPerSecond,
            better: Better::Higher,
            axes: &[AxisSpec { name: "threads", unit: Unit::Count }],
        },
        SeriesSpec {
            name: "matrix",
            doc: "Bandwidth by node of the cores and node of the memory.",
            unit: Unit::GigabytesPerSecond,
            better: Better::Higher,
            axes: &[
                AxisSpec { name: "cpu_node", unit: Unit::Count },
                AxisSpec { name: "memory_node", unit: Unit::Count },
            ],
        },
    ],
    parts: &["worker"],
    needs: &[],
    probes: &["steal", "load", "throttle", "cpu_freq", "kernel_log"],
    cost: Cost { seconds: 8, written: 0 },
    interaction: Interaction::Loads("memory and all cores of the node"),
};

impl Benchmark for Bandwidth {
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
        Ok(Box::new(part::Worker::new(case, place)?))
    }

    fn reduce(&self, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
        reduce::reduce(case, parts)
    }
}
