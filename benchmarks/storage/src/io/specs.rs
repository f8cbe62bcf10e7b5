//! Parameters and metrics that several benchmarks of files share.

use seatrial_bench::group::CORES;
use seatrial_model::{AxisSpec, Bytes, Kind, MetricSpec, ParamSpec, SeriesSpec, Unit};

pub const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::MegabytesPerSecond).doc(doc)
}

pub const fn latency(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Microsecond).doc(doc)
}

pub const DIRECTORY: ParamSpec = ParamSpec::new("directory", Kind::Text, "auto").word("auto").doc(
    "Directory for the files, as a full path; disks: one directory on each disk with a writable file system of its own; \
     auto: the current directory, or /var/tmp if that is in memory or takes no files.",
);

pub const PATTERN: ParamSpec = ParamSpec::new("pattern", Kind::Choice(&["seq", "random"]), "seq")
    .doc("Order of the blocks: sequential, or random with each block once per pass.");

pub const MOST_THREADS: u64 = 1024;

pub const THREADS: ParamSpec = ParamSpec::new("threads", Kind::Load(1, MOST_THREADS), "1")
    .doc("Number of threads; each has its own part of the data.");

pub const BLOCK: ParamSpec =
    ParamSpec::new("block", Kind::Size(Bytes(512), Bytes::gib(1)), "1 MiB").doc("Bytes per request.");

pub const DEPTH: ParamSpec = ParamSpec::new("depth", Kind::Load(1, 4096), "auto")
    .word("auto")
    .doc("Requests in flight per thread (queue depth); auto is 4, or 1 where the engine allows no more.");

pub const SIZE: ParamSpec = ParamSpec::new("size", Kind::Size(Bytes::kib(4), Bytes::gib(1 << 20)), "auto")
    .word("auto")
    .doc("Bytes of all threads together; auto is 1 GiB, or 16 blocks per thread if that is more.");

pub const FILES: ParamSpec = ParamSpec::new("files", Kind::Choice(&["own", "shared", "interleaved"]), "own")
    .doc(
        "own: one file per thread; shared: one file of the node, with a part for each thread; interleaved: one file in which \
         the blocks of the threads alternate, those of all nodes in a case of many.",
    );

pub const ACCESS: ParamSpec = ParamSpec::new("access", Kind::Choice(&["direct", "buffered"]), "direct")
    .doc("direct: bypass the page cache (O_DIRECT); buffered: through the page cache.");

pub const ENGINE: ParamSpec =
    ParamSpec::new("engine", Kind::Choice(&["io_uring", "polled", "sync"]), "auto").word("auto").doc(
        "How requests are made: io_uring, polled (io_uring with IOPOLL), sync (pread and pwrite); auto is \
         polled where the device has poll queues, else io_uring, else sync.",
    );

pub const COMPRESSIBLE: ParamSpec = ParamSpec::new("compressible", Kind::Number(0.0, 99.0), "0")
    .doc("Share of the data that compression can remove, in percent.");

pub const WORK: ParamSpec = ParamSpec::new("work", Kind::Choice(&["time", "once"]), "time")
    .doc("time: until `time` is over; once: every block once, which measures first_done and last_done.");

pub const THROUGHPUT: MetricSpec =
    rate("throughput", "Bytes read and written per second while all threads work.");

pub const FIRST_DONE: MetricSpec =
    rate("first_done", "With work=once: bytes moved until the first thread finishes, over that time.");

pub const LAST_DONE: MetricSpec =
    rate("last_done", "With work=once: all bytes over the time until the last thread finishes.");

pub const IOPS: MetricSpec = MetricSpec::higher_is_better("iops", Unit::PerSecond)
    .doc("Blocks read and written per second while all threads work.");

pub const LATENCY: MetricSpec =
    latency("latency", "Median time of a request, from submission to completion.");

pub const P99: MetricSpec = latency("p99", "99th percentile of the time of a request.");

pub const P999: MetricSpec = latency("p999", "99.9th percentile of the time of a request.");

pub const SLOWEST: MetricSpec = latency("slowest", "Time of the slowest request.");

pub const CPU_PER_IO: MetricSpec =
    latency("cpu_per_io", "CPU time per block, including making and checking its data.");

pub const FAIRNESS: MetricSpec = MetricSpec::higher_is_better("fairness", Unit::Ratio).doc(
    "Jain's fairness index of the threads' rates: 1 when all are equal, 1 / threads when one thread does all \
     the work.",
);

/// Of a case on many nodes.
pub const SLOWEST_NODE: MetricSpec = rate(
    "slowest_node",
    "Of a case of many nodes: bytes read and written by the slowest, in the time in which all of them worked.",
)
.isolates();

pub const JOB: &[ParamSpec] = &[
    DIRECTORY,
    ParamSpec::new("operation", Kind::Choice(&["read", "write", "mixed"]), "read")
        .doc("Read the files, write them, or mix reads and writes."),
    ParamSpec::new("reads", Kind::Number(0.0, 100.0), "auto")
        .word("auto")
        .doc("With operation=mixed: share of the blocks that are read, in percent; auto is 70."),
    ParamSpec::new("overwrite", Kind::Flag, "false").doc(
        "With operation=write: fill the files before the clock starts, so that every write overwrites a \
         block; files to read are always filled.",
    ),
    PATTERN,
    THREADS.word(CORES).doc(
        "Number of threads; each has its own part of the data. cores: one for each core, as many as the node with the fewest has.",
    ),
    BLOCK,
    DEPTH,
    SIZE,
    FILES,
    ACCESS,
    ENGINE,
    ParamSpec::new("sync", Kind::Choice(&["end", "each", "none"]), "end")
        .doc("When writes are flushed: end (fdatasync at the end), each (O_DSYNC), or none."),
    COMPRESSIBLE,
    seatrial_bench::VERIFY_BLOCKS,
    WORK,
    ParamSpec::new("steady", Kind::Flag, "false").doc(
        "Measure rounds of `time` until five in a row are steady by SNIA's rule (range at most 20 %, trend \
         at most 10 % of their mean), and five more to see whether the state lasts.",
    ),
    ParamSpec::new("rounds", Kind::Count(5, 10_000), "25").doc("With steady=true: most rounds per trial."),
    ParamSpec { default: "2 s", ..seatrial_bench::TIME },
    seatrial_bench::TRIALS,
    seatrial_bench::MAX_TRIALS,
    seatrial_bench::PRECISION,
    seatrial_bench::SCHED,
];

const fn series(name: &'static str, axes: &'static [AxisSpec]) -> SeriesSpec {
    SeriesSpec::higher_is_better(name, Unit::MegabytesPerSecond, axes)
}

const BY_THREAD: SeriesSpec = series("by_thread", &[AxisSpec { name: "thread", unit: Unit::Count }])
    .doc("Bytes read and written per second by each thread, while all threads work.");

const BY_ROUND: SeriesSpec = series("by_round", &[AxisSpec { name: "round", unit: Unit::Count }])
    .doc("With steady=true: bytes read and written per second in every round, steady or not.");

const BY_NODE: SeriesSpec = series("by_node", &[AxisSpec { name: "node", unit: Unit::Count }])
    .doc("Of a case of many nodes: bytes read and written per second by each, in the time in which all of them worked.");

pub const SERIES: &[SeriesSpec] = &[BY_THREAD, BY_ROUND];

pub const SERIES_OF_NODES: &[SeriesSpec] = &[BY_THREAD, BY_ROUND, BY_NODE];
