//! Parameters and metrics that other benchmarks of files have as well.

use seatrial_model::{AxisSpec, Bytes, Kind, MetricSpec, ParamSpec, SeriesSpec, Unit};

pub const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::MegabytesPerSecond).doc(doc)
}

pub const fn latency(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Microsecond).doc(doc)
}

pub const DIRECTORY: ParamSpec = ParamSpec::new("directory", Kind::Text, "auto").word("auto").doc(
    "Directory to make files in, with its full path; disks: that of every disk's file systems; \
         auto: the current one, or /var/tmp where that is in memory.",
);

pub const PATTERN: ParamSpec = ParamSpec::new("pattern", Kind::Choice(&["seq", "random"]), "seq")
    .doc("The order of the blocks: as they lie, or shuffled, each of them once before any comes again.");

pub const THREADS: ParamSpec = ParamSpec::new("threads", Kind::Load(1, 1024), "1")
    .doc("Threads that work at the same time, each in a part of its own.");

pub const BLOCK: ParamSpec = ParamSpec::new("block", Kind::Size(Bytes(512), Bytes::gib(1)), "1 MiB")
    .doc("Bytes that are read or written at once.");

pub const DEPTH: ParamSpec = ParamSpec::new("depth", Kind::Load(1, 4096), "auto")
    .word("auto")
    .doc("Requests that each thread keeps under way; auto is 4, and 1 where the engine can do no more.");

pub const SIZE: ParamSpec =
    ParamSpec::new("size", Kind::Size(Bytes::kib(4), Bytes::gib(1 << 20)), "auto").word("auto").doc(
        "Bytes of the parts of all threads together; auto is 1 GiB, or 16 blocks a thread if that is \
         more.",
    );

pub const FILES: ParamSpec = ParamSpec::new("files", Kind::Choice(&["own", "shared"]), "own")
    .doc("A file for each thread, or one that all share, with a part for each.");

pub const ACCESS: ParamSpec = ParamSpec::new("access", Kind::Choice(&["direct", "buffered"]), "direct")
    .doc("Past the page cache (O_DIRECT), or through it.");

pub const ENGINE: ParamSpec =
    ParamSpec::new("engine", Kind::Choice(&["io_uring", "polled", "sync"]), "auto").word("auto").doc(
        "How requests are made; auto is io_uring, polled where the device can be, and else pread and \
         pwrite.",
    );

pub const COMPRESSIBLE: ParamSpec = ParamSpec::new("compressible", Kind::Number(0.0, 99.0), "0")
    .doc("Part of the data that a compressor can remove, in percent.");

pub const WORK: ParamSpec = ParamSpec::new("work", Kind::Choice(&["time", "once"]), "time").doc(
    "Until the time is over, or every block once, which tells when the first and the last thread are done.",
);

pub const THROUGHPUT: MetricSpec =
    rate("throughput", "Bytes read and written in the time that all threads work.");

pub const FIRST_DONE: MetricSpec =
    rate("first_done", "With work=once: bytes moved until the first thread is done, over that time.");

pub const LAST_DONE: MetricSpec =
    rate("last_done", "With work=once: all bytes over the time until the last thread is done.");

pub const IOPS: MetricSpec = MetricSpec::higher_is_better("iops", Unit::PerSecond)
    .doc("Blocks read and written a second in the time that all threads work.");

pub const LATENCY: MetricSpec =
    latency("latency", "Median of the times from handing a request over to learning that it is done.");

pub const P99: MetricSpec = latency("p99", "Time that 99 % of all requests do not exceed.");

pub const P999: MetricSpec = latency("p999", "Time that 99.9 % of all requests do not exceed.");

pub const SLOWEST: MetricSpec = latency("slowest", "The longest request.");

pub const CPU_PER_IO: MetricSpec =
    latency("cpu_per_io", "Time on CPUs for one block, checking and making its data included.");

pub const FAIRNESS: MetricSpec = MetricSpec::higher_is_better("fairness", Unit::Ratio).doc(
    "Jain's index of the threads' rates: 1 when all are alike, 1 over their number when one has it \
         all.",
);

/// All parameters of a job.
pub const JOB: &[ParamSpec] = &[
    DIRECTORY,
    ParamSpec::new("operation", Kind::Choice(&["read", "write", "mixed"]), "read")
        .doc("What is done to the files."),
    ParamSpec::new("reads", Kind::Number(0.0, 100.0), "auto")
        .word("auto")
        .doc("With operation=mixed, the share of blocks that are read, in percent; auto is 70."),
    ParamSpec::new("overwrite", Kind::Flag, "false").doc(
        "With operation=write, fill the files before the clock starts, so that no block is written \
             for the first time; what is read is filled in any case.",
    ),
    PATTERN,
    THREADS,
    BLOCK,
    DEPTH,
    SIZE,
    FILES,
    ACCESS,
    ENGINE,
    ParamSpec::new("sync", Kind::Choice(&["end", "each", "none"]), "end")
        .doc("Writes are flushed at the end (fdatasync), each by itself (O_DSYNC), or never."),
    COMPRESSIBLE,
    WORK,
    ParamSpec::new("steady", Kind::Flag, "false").doc(
        "Measure rounds of `time` until five are alike by SNIA's rule (range 20 %, trend 10 % of \
             their mean), and five more to see whether it lasts.",
    ),
    ParamSpec::new("rounds", Kind::Count(5, 10_000), "25").doc("With steady=true, rounds at most."),
    ParamSpec { default: "2 s", ..seatrial_bench::TIME },
    seatrial_bench::TRIALS,
    seatrial_bench::MAX_TRIALS,
    seatrial_bench::PRECISION,
];

pub const SERIES: &[SeriesSpec] = &[
    SeriesSpec::higher_is_better(
        "by_thread",
        Unit::MegabytesPerSecond,
        &[AxisSpec { name: "thread", unit: Unit::Count }],
    )
    .doc("Bytes read and written by each thread in the time that all of them work."),
    SeriesSpec::higher_is_better(
        "by_round",
        Unit::MegabytesPerSecond,
        &[AxisSpec { name: "round", unit: Unit::Count }],
    )
    .doc(
        "With steady=true: bytes read and written in each round, those before and after the steady \
             ones too.",
    ),
];
