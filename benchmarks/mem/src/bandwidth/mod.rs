//! `mem.bandwidth`: how fast this machine's cores move data to and from memory.

mod layout;
mod part;
mod plan;
mod reduce;
mod team;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, AxisSpec, Bytes, Cost, Interaction, Kind, MetricSpec, ParamSpec, SeriesSpec, Unit,
};

use seatrial_bench::{Benchmark, Part};

/// Words of the parameter `kernel`.
pub const KERNELS: &[&str] = &["read", "write", "copy", "scale", "add", "triad", "memcpy", "memset"];

const ABOUT: About = About {
    id: "mem.bandwidth",
    version: 1,
    title: "memory bandwidth by kernel, store type and thread count",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec::new("kernel", Kind::Choice(KERNELS), "triad")
            .doc("The loop: read, write, or one of STREAM's four; memcpy and memset are the C library's."),
        ParamSpec::new("store", Kind::Choice(&["regular", "nt"]), "auto").word("auto").doc(
            "Regular stores, or non-temporal ones that go past the caches; auto is nt where the loop \
             stores.",
        ),
        ParamSpec::new("scope", Kind::Choice(&["machine", "matrix"]), "machine").doc(
            "All cores with the memory next to them, or every NUMA node's cores with every node's \
             memory.",
        ),
        ParamSpec::new("threads", Kind::Load(1, 4096), "auto")
            .word("auto")
            .doc("Threads per L3 domain, one a core; auto tries 1, 2, 4 and all."),
        ParamSpec::new("array", Kind::Size(Bytes::mib(1), Bytes::gib(16 * 1024)), "auto").word("auto").doc(
            "Size of each array over all threads; auto is 4 times the L3 in use, as far as memory \
             allows.",
        ),
        seatrial_bench::PAGES,
        ParamSpec::new("isa", Kind::Choice(&["sse2", "avx2", "avx512", "neon"]), "auto")
            .word("auto")
            .doc("Instruction set of the loop; auto is the widest this CPU has."),
        seatrial_bench::TIME,
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
    ],
    metrics: &[
        MetricSpec::higher_is_better("bandwidth", Unit::GigabytesPerSecond)
            .doc("Bytes the loop names over time, at the thread count that is fastest by its median."),
        MetricSpec::higher_is_better("bandwidth_all", Unit::GigabytesPerSecond)
            .doc("The same with one thread on every core."),
        MetricSpec::higher_is_better("traffic", Unit::GigabytesPerSecond).doc(
            "Estimate of what crosses the memory bus for `bandwidth`: with the lines that regular \
             stores read first.",
        ),
        MetricSpec::higher_is_better("local", Unit::GigabytesPerSecond)
            .doc("In scope matrix: the slowest node with its own memory."),
        MetricSpec::higher_is_better("remote", Unit::GigabytesPerSecond)
            .doc("In scope matrix: the slowest pair of different nodes."),
    ],
    series: &[
        SeriesSpec::higher_is_better(
            "by_threads",
            Unit::GigabytesPerSecond,
            &[AxisSpec { name: "threads", unit: Unit::Count }],
        )
        .doc("Bandwidth by number of threads, spread evenly over the L3 domains."),
        SeriesSpec::higher_is_better(
            "matrix",
            Unit::GigabytesPerSecond,
            &[
                AxisSpec { name: "cpu_node", unit: Unit::Count },
                AxisSpec { name: "memory_node", unit: Unit::Count },
            ],
        )
        .doc("Bandwidth by node of the cores and node of the memory."),
    ],
    parts: &["worker"],
    needs: &[],
    probes: &["steal", "load", "throttle", "cpu_freq", "kernel_log"],
    cost: Cost { seconds: 8, written: 0 },
    interaction: Interaction::Loads("memory and all cores of the node"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| Part::alone(case, place, part::BandwidthWorker::prepare),
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
