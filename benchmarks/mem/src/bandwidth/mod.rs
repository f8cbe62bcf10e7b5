//! `mem.bandwidth`: bandwidth between the cores and memory.

mod cores;
mod layout;
mod part;
mod plan;
mod reduce;
mod team;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, Actor, AxisSpec, Bytes, Cost, Interaction, Kind, MetricSpec, ParamSpec, Parts, Remedy, SeriesSpec,
    Unit,
};

use seatrial_bench::{Benchmark, Part};

/// Words of the parameter `kernel`.
pub const KERNELS: &[&str] = &["read", "write", "copy", "scale", "add", "triad", "memcpy", "memset"];

const ABOUT: About = About {
    id: "mem.bandwidth",
    version: 1,
    title: "memory bandwidth by kernel, store type and thread count",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(Actor::User, "stop other programs and measure again; if still low, have root compare number, size and speed of memory modules (`dmidecode -t memory`) with the purchase order"),
        Remedy::new(Actor::User, "give the job all cores of the machine (`taskset -p $$`, cpuset)"),
        Remedy::new(Actor::Vendor, "replace the module or the channel that stays slow"),
    ],
    params: &[
        ParamSpec::new("kernel", Kind::Choice(KERNELS), "triad").doc(
            "The kernel: read, write, STREAM's copy, scale, add and triad, or the C library's memcpy and \
             memset.",
        ),
        ParamSpec::new("store", Kind::Choice(&["regular", "nt"]), "auto").word("auto").doc(
            "regular: stores through the caches; nt: non-temporal stores that bypass the caches; auto: nt \
             for kernels that store.",
        ),
        ParamSpec::new("scope", Kind::Choice(&["machine", "matrix", "cores"]), "machine").doc(
            "machine: all cores with the memory of their NUMA node; matrix: the cores of every NUMA node \
             with the memory of every node; cores: every core alone in turn, and all together.",
        ),
        ParamSpec::new("threads", Kind::Load(1, 4096), "auto")
            .word("auto")
            .doc("Threads per L3 domain, one per core; auto: 1, 2, 4 and all cores in turn."),
        ParamSpec::new("array", Kind::Size(Bytes::mib(1), Bytes::gib(16 * 1024)), "auto").word("auto").doc(
            "Size of each array, over all threads; auto: 4 times the L3 in use, as far as memory allows.",
        ),
        seatrial_bench::PAGES,
        ParamSpec::new("isa", Kind::Choice(&["sse2", "avx2", "avx512", "neon"]), "auto")
            .word("auto")
            .doc("Instruction set of the kernel; auto: the widest that the CPU has."),
        seatrial_bench::VERIFY,
        seatrial_bench::TIME,
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        MetricSpec::higher_is_better("bandwidth", Unit::GigabytesPerSecond)
            .doc("Bytes counted as in STREAM over time, at the thread count with the highest median."),
        MetricSpec::higher_is_better("bandwidth_all", Unit::GigabytesPerSecond)
            .doc("Bandwidth with one thread on every core."),
        MetricSpec::higher_is_better("traffic", Unit::GigabytesPerSecond).doc(
            "Estimated traffic on the memory bus at `bandwidth`, including write-allocate reads of regular \
             stores.",
        ),
        MetricSpec::higher_is_better("local", Unit::GigabytesPerSecond)
            .doc("With scope=matrix: the slowest node with its own memory."),
        MetricSpec::higher_is_better("remote", Unit::GigabytesPerSecond)
            .doc("With scope=matrix: the slowest pair of different nodes."),
        MetricSpec::higher_is_better("one_core", Unit::GigabytesPerSecond)
            .doc("With scope=cores: the median core alone."),
        MetricSpec::higher_is_better("slowest_core", Unit::Percent).doc(
            "With scope=cores: the slowest core in percent of the median core, each alone, in its best slice of \
             the trial.",
        ),
        MetricSpec::higher_is_better("gain", Unit::Count)
            .doc("With scope=cores: bandwidth of all cores together over that of the median core alone."),
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
        .doc("Bandwidth by NUMA node of the cores and NUMA node of the memory."),
        SeriesSpec::higher_is_better(
            "by_core",
            Unit::GigabytesPerSecond,
            &[AxisSpec { name: "cpu", unit: Unit::Count }],
        )
        .doc("With scope=cores: bandwidth of every core alone."),
    ],
    parts: Parts::One("worker"),
    needs: &[],
    probes: &["steal", "load", "throttle", "cpu_freq", "edac", "kernel_log"],
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
