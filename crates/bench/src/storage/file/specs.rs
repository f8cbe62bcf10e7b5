//! Parameters and metrics that other benchmarks of files have as well.

use seatrial_model::{Bytes, Kind, MetricSpec, ParamSpec, Unit};

pub(super) const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::MegabytesPerSecond).doc(doc)
}

pub(super) const fn latency(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Microsecond).doc(doc)
}

pub(in crate::storage) const DIRECTORY: ParamSpec =
    ParamSpec::new("directory", Kind::Text, "auto").word("auto").doc(
        "Directory to make files in, with its full path; disks: that of every disk's file systems; \
         auto: the current one, or /var/tmp where that is in memory.",
    );

pub(in crate::storage) const PATTERN: ParamSpec =
    ParamSpec::new("pattern", Kind::Choice(&["seq", "random"]), "seq")
        .doc("The order of the blocks: as they lie, or shuffled, each of them once before any comes again.");

pub(in crate::storage) const THREADS: ParamSpec = ParamSpec::new("threads", Kind::Load(1, 1024), "1")
    .doc("Threads that work at the same time, each in a part of its own.");

pub(in crate::storage) const BLOCK: ParamSpec =
    ParamSpec::new("block", Kind::Size(Bytes(512), Bytes::gib(1)), "1 MiB")
        .doc("Bytes that are read or written at once.");

pub(in crate::storage) const DEPTH: ParamSpec = ParamSpec::new("depth", Kind::Load(1, 4096), "auto")
    .word("auto")
    .doc("Requests that each thread keeps under way; auto is 4, and 1 where the engine can do no more.");

pub(in crate::storage) const SIZE: ParamSpec =
    ParamSpec::new("size", Kind::Size(Bytes::kib(4), Bytes::gib(1 << 20)), "auto").word("auto").doc(
        "Bytes of the parts of all threads together; auto is 1 GiB, or 16 blocks a thread if that is \
         more.",
    );

pub(in crate::storage) const FILES: ParamSpec =
    ParamSpec::new("files", Kind::Choice(&["own", "shared"]), "own")
        .doc("A file for each thread, or one that all share, with a part for each.");

pub(in crate::storage) const ACCESS: ParamSpec =
    ParamSpec::new("access", Kind::Choice(&["direct", "buffered"]), "direct")
        .doc("Past the page cache (O_DIRECT), or through it.");

pub(in crate::storage) const ENGINE: ParamSpec =
    ParamSpec::new("engine", Kind::Choice(&["io_uring", "polled", "sync"]), "auto").word("auto").doc(
        "How requests are made; auto is io_uring, polled where the device can be, and else pread and \
         pwrite.",
    );

pub(in crate::storage) const COMPRESSIBLE: ParamSpec =
    ParamSpec::new("compressible", Kind::Number(0.0, 99.0), "0")
        .doc("Part of the data that a compressor can remove, in percent.");

pub(in crate::storage) const WORK: ParamSpec = ParamSpec::new(
    "work",
    Kind::Choice(&["time", "once"]),
    "time",
)
.doc("Until the time is over, or every block once, which tells when the first and the last thread are done.");

pub(in crate::storage) const THROUGHPUT: MetricSpec =
    rate("throughput", "Bytes read and written in the time that all threads work.");

pub(in crate::storage) const FIRST_DONE: MetricSpec =
    rate("first_done", "With work=once: bytes moved until the first thread is done, over that time.");

pub(in crate::storage) const LAST_DONE: MetricSpec =
    rate("last_done", "With work=once: all bytes over the time until the last thread is done.");

pub(in crate::storage) const IOPS: MetricSpec = MetricSpec::higher_is_better("iops", Unit::PerSecond)
    .doc("Blocks read and written a second in the time that all threads work.");

pub(in crate::storage) const LATENCY: MetricSpec =
    latency("latency", "Median of the times from handing a request over to learning that it is done.");

pub(in crate::storage) const P99: MetricSpec =
    latency("p99", "Time that 99 % of all requests do not exceed.");

pub(in crate::storage) const P999: MetricSpec =
    latency("p999", "Time that 99.9 % of all requests do not exceed.");

pub(in crate::storage) const SLOWEST: MetricSpec = latency("slowest", "The longest request.");

pub(in crate::storage) const CPU_PER_IO: MetricSpec =
    latency("cpu_per_io", "Time on CPUs for one block, checking and making its data included.");

pub(in crate::storage) const FAIRNESS: MetricSpec = MetricSpec::higher_is_better("fairness", Unit::Ratio)
    .doc(
        "Jain's index of the threads' rates: 1 when all are alike, 1 over their number when one has it \
         all.",
    );
