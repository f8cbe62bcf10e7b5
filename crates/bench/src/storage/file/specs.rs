//! Parameters and metrics that other benchmarks of files have as well.

use seatrial_model::{Better, Bytes, Kind, MetricSpec, ParamSpec, Unit};

pub(super) const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec { name, doc, unit: Unit::MegabytesPerSecond, better: Better::Higher }
}

pub(super) const fn latency(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec { name, doc, unit: Unit::Microsecond, better: Better::Lower }
}

pub(in crate::storage) const DIRECTORY: ParamSpec = ParamSpec {
    name: "directory",
    doc: "Directory to make files in, with its full path; disks: that of every disk's file systems; auto: \
          the current one, or /var/tmp where that is in memory.",
    kind: Kind::Text,
    word: Some("auto"),
    default: "auto",
};

pub(in crate::storage) const PATTERN: ParamSpec = ParamSpec {
    name: "pattern",
    doc: "The order of the blocks: as they lie, or shuffled, each of them once before any comes again.",
    kind: Kind::Choice(&["seq", "random"]),
    word: None,
    default: "seq",
};

pub(in crate::storage) const THREADS: ParamSpec = ParamSpec {
    name: "threads",
    doc: "Threads that work at the same time, each in a part of its own.",
    kind: Kind::Load(1, 1024),
    word: None,
    default: "1",
};

pub(in crate::storage) const BLOCK: ParamSpec = ParamSpec {
    name: "block",
    doc: "Bytes that are read or written at once.",
    kind: Kind::Size(Bytes(512), Bytes::gib(1)),
    word: None,
    default: "1 MiB",
};

pub(in crate::storage) const DEPTH: ParamSpec = ParamSpec {
    name: "depth",
    doc: "Requests that each thread keeps under way; auto is 4, and 1 where the engine can do no more.",
    kind: Kind::Load(1, 4096),
    word: Some("auto"),
    default: "auto",
};

pub(in crate::storage) const SIZE: ParamSpec = ParamSpec {
    name: "size",
    doc: "Bytes of the parts of all threads together; auto is 1 GiB, or 16 blocks a thread if that is more.",
    kind: Kind::Size(Bytes::kib(4), Bytes::gib(1 << 20)),
    word: Some("auto"),
    default: "auto",
};

pub(in crate::storage) const FILES: ParamSpec = ParamSpec {
    name: "files",
    doc: "A file for each thread, or one that all share, with a part for each.",
    kind: Kind::Choice(&["own", "shared"]),
    word: None,
    default: "own",
};

pub(in crate::storage) const ACCESS: ParamSpec = ParamSpec {
    name: "access",
    doc: "Past the page cache (O_DIRECT), or through it.",
    kind: Kind::Choice(&["direct", "buffered"]),
    word: None,
    default: "direct",
};

pub(in crate::storage) const ENGINE: ParamSpec = ParamSpec {
    name: "engine",
    doc: "How requests are made; auto is io_uring, polled where the device can be, and else pread and pwrite.",
    kind: Kind::Choice(&["io_uring", "polled", "sync"]),
    word: Some("auto"),
    default: "auto",
};

pub(in crate::storage) const COMPRESSIBLE: ParamSpec = ParamSpec {
    name: "compressible",
    doc: "Part of the data that a compressor can remove, in percent.",
    kind: Kind::Number(0.0, 99.0),
    word: None,
    default: "0",
};

pub(in crate::storage) const WORK: ParamSpec = ParamSpec {
    name: "work",
    doc: "Until the time is over, or every block once, which tells when the first and the last thread are done.",
    kind: Kind::Choice(&["time", "once"]),
    word: None,
    default: "time",
};

pub(in crate::storage) const THROUGHPUT: MetricSpec =
    rate("throughput", "Bytes read and written in the time that all threads work.");

pub(in crate::storage) const FIRST_DONE: MetricSpec =
    rate("first_done", "With work=once: bytes moved until the first thread is done, over that time.");

pub(in crate::storage) const LAST_DONE: MetricSpec =
    rate("last_done", "With work=once: all bytes over the time until the last thread is done.");

pub(in crate::storage) const IOPS: MetricSpec = MetricSpec {
    name: "iops",
    doc: "Blocks read and written a second in the time that all threads work.",
    unit: Unit::PerSecond,
    better: Better::Higher,
};

pub(in crate::storage) const LATENCY: MetricSpec =
    latency("latency", "Median of the times from handing a request over to learning that it is done.");

pub(in crate::storage) const P99: MetricSpec =
    latency("p99", "Time that 99 % of all requests do not exceed.");

pub(in crate::storage) const P999: MetricSpec =
    latency("p999", "Time that 99.9 % of all requests do not exceed.");

pub(in crate::storage) const SLOWEST: MetricSpec = latency("slowest", "The longest request.");

pub(in crate::storage) const CPU_PER_IO: MetricSpec =
    latency("cpu_per_io", "Time on CPUs for one block, checking and making its data included.");

pub(in crate::storage) const FAIRNESS: MetricSpec = MetricSpec {
    name: "fairness",
    doc: "Jain's index of the threads' rates: 1 when all are alike, 1 over their number when one has it all.",
    unit: Unit::Ratio,
    better: Better::Higher,
};
