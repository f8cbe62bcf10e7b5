//! `storage.file`: how fast files are read and written in a directory, by threads, block size and queue depth.

mod account;
mod course;
pub(in crate::storage) mod crew;
mod curve;
pub(in crate::storage) mod directory;
pub(in crate::storage) mod files;
mod fixture;
pub(in crate::storage) mod limit;
pub(in crate::storage) mod outcome;
pub(in crate::storage) mod part;
pub(in crate::storage) mod plan;
pub(in crate::storage) mod reduce;
mod rounds;
pub(in crate::storage) mod scheme;
mod steady;
#[cfg(test)]
mod tests;
mod watch;
mod work;

use seatrial_model::{
    About, AxisSpec, Better, Bytes, Case, Cost, Interaction, Kind, Limits, Measures, MetricSpec, Need,
    ParamSpec, Params, PartRecord, Place, Reason, SeriesSpec, Site, Unit,
};

use crate::{Benchmark, Error, Part, common};

/// The benchmark.
pub struct File;

const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec { name, doc, unit: Unit::MegabytesPerSecond, better: Better::Higher }
}

const fn latency(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec { name, doc, unit: Unit::Microsecond, better: Better::Lower }
}

pub(in crate::storage) const ABOUT: About = About {
    id: "storage.file",
    version: 1,
    title: "reading and writing files, by threads, block size and queue depth",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec {
            name: "directory",
            doc: "Directory to make files in, with its full path; disks: that of every disk's file systems; auto: \
                  the current one, or /var/tmp where that is in memory.",
            kind: Kind::Text,
            word: Some("auto"),
            default: "auto",
        },
        ParamSpec {
            name: "operation",
            doc: "What is done to the files.",
            kind: Kind::Choice(&["read", "write", "mixed"]),
            word: None,
            default: "read",
        },
        ParamSpec {
            name: "reads",
            doc: "With operation=mixed, the share of blocks that are read, in percent; auto is 70.",
            kind: Kind::Number(0.0, 100.0),
            word: Some("auto"),
            default: "auto",
        },
        ParamSpec {
            name: "pattern",
            doc: "The order of the blocks: as they lie, or shuffled, each of them once before any comes again.",
            kind: Kind::Choice(&["seq", "random"]),
            word: None,
            default: "seq",
        },
        ParamSpec {
            name: "threads",
            doc: "Threads that work at the same time, each in a part of its own.",
            kind: Kind::Load(1, 1024),
            word: None,
            default: "1",
        },
        ParamSpec {
            name: "block",
            doc: "Bytes that are read or written at once.",
            kind: Kind::Size(Bytes(512), Bytes::gib(1)),
            word: None,
            default: "1 MiB",
        },
        ParamSpec {
            name: "depth",
            doc: "Requests that each thread keeps under way; auto is 4, and 1 where the engine can do no more.",
            kind: Kind::Load(1, 4096),
            word: Some("auto"),
            default: "auto",
        },
        ParamSpec {
            name: "size",
            doc: "Bytes of the parts of all threads together; auto is 1 GiB, or 16 blocks a thread if that is more.",
            kind: Kind::Size(Bytes::kib(4), Bytes::gib(1 << 20)),
            word: Some("auto"),
            default: "auto",
        },
        ParamSpec {
            name: "files",
            doc: "A file for each thread, or one that all share, with a part for each.",
            kind: Kind::Choice(&["own", "shared"]),
            word: None,
            default: "own",
        },
        ParamSpec {
            name: "access",
            doc: "Past the page cache (O_DIRECT), or through it.",
            kind: Kind::Choice(&["direct", "buffered"]),
            word: None,
            default: "direct",
        },
        ParamSpec {
            name: "engine",
            doc: "How requests are made; auto is io_uring, polled where the device can be, and else pread and pwrite.",
            kind: Kind::Choice(&["io_uring", "polled", "sync"]),
            word: Some("auto"),
            default: "auto",
        },
        ParamSpec {
            name: "sync",
            doc: "Writes are flushed at the end (fdatasync), each by itself (O_DSYNC), or never.",
            kind: Kind::Choice(&["end", "each", "none"]),
            word: None,
            default: "end",
        },
        ParamSpec {
            name: "compressible",
            doc: "Part of the data that a compressor can remove, in percent.",
            kind: Kind::Number(0.0, 99.0),
            word: None,
            default: "0",
        },
        ParamSpec {
            name: "work",
            doc: "Until the time is over, or every block once, which tells when the first and the last thread are done.",
            kind: Kind::Choice(&["time", "once"]),
            word: None,
            default: "time",
        },
        ParamSpec {
            name: "steady",
            doc: "Measure rounds of `time` until five are alike by SNIA's rule (range 20 %, trend 10 % of their mean), and \
                  five more to see whether it lasts.",
            kind: Kind::Flag,
            word: None,
            default: "false",
        },
        ParamSpec {
            name: "rounds",
            doc: "With steady=true, rounds at most.",
            kind: Kind::Count(5, 10_000),
            word: None,
            default: "25",
        },
        ParamSpec { default: "2 s", ..common::TIME },
        common::TRIALS,
        common::MAX_TRIALS,
        common::PRECISION,
    ],
    metrics: &[
        rate("throughput", "Bytes read and written in the time that all threads work."),
        rate("read", "With operation=mixed: what of it is read."),
        rate("written", "With operation=mixed: what of it is written."),
        rate("durable", "Bytes written over the time until they are flushed as well."),
        rate("first_done", "With work=once: bytes moved until the first thread is done, over that time."),
        rate("last_done", "With work=once: all bytes over the time until the last thread is done."),
        MetricSpec {
            name: "iops",
            doc: "Blocks read and written a second in the time that all threads work.",
            unit: Unit::PerSecond,
            better: Better::Higher,
        },
        latency("latency", "Median of the times from handing a request over to learning that it is done."),
        latency("p99", "Time that 99 % of all requests do not exceed."),
        latency("p999", "Time that 99.9 % of all requests do not exceed."),
        latency("slowest", "The longest request."),
        latency("flush", "Time that flushing took at the end, of the thread that took longest."),
        latency("cpu_per_io", "Time on CPUs for one block, checking and making its data included."),
        MetricSpec {
            name: "fairness",
            doc: "Jain's index of the threads' rates: 1 when all are alike, 1 over their number when one has it all.",
            unit: Unit::Ratio,
            better: Better::Higher,
        },
    ],
    series: &[
        SeriesSpec {
            name: "by_thread",
            doc: "Bytes read and written by each thread in the time that all of them work.",
            unit: Unit::MegabytesPerSecond,
            better: Better::Higher,
            axes: &[AxisSpec { name: "thread", unit: Unit::Count }],
        },
        SeriesSpec {
            name: "by_round",
            doc: "With steady=true: bytes read and written in each round, those before and after the steady ones too.",
            unit: Unit::MegabytesPerSecond,
            better: Better::Higher,
            axes: &[AxisSpec { name: "round", unit: Unit::Count }],
        },
    ],
    parts: &["worker"],
    needs: &[Need::Directory],
    probes: &["diskstats", "steal", "load", "kernel_log"],
    cost: Cost { seconds: 12, written: 3 << 30 },
    interaction: Interaction::Loads("the file system of the directory and what it lies on"),
};

/// A parameter, for another benchmark that has the same.
pub(in crate::storage) const fn param(name: &str) -> ParamSpec {
    let mut at = 0;
    while at < ABOUT.params.len() {
        if same(ABOUT.params[at].name, name) {
            return ABOUT.params[at];
        }
        at += 1;
    }
    panic!("there is no such parameter")
}

/// A metric, for another benchmark that has the same.
pub(in crate::storage) const fn metric(name: &str) -> MetricSpec {
    let mut at = 0;
    while at < ABOUT.metrics.len() {
        if same(ABOUT.metrics[at].name, name) {
            return ABOUT.metrics[at];
        }
        at += 1;
    }
    panic!("there is no such metric")
}

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let (mut same, mut at) = (one.len() == other.len(), 0);
    while same && at < one.len() {
        same = one[at] == other[at];
        at += 1;
    }
    same
}

impl Benchmark for File {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn plan(&self, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
        plan::plan(&ABOUT, params, site)
    }

    fn limits(&self, case: &Case, site: &Site) -> Limits {
        limit::limits(&ABOUT, case, site)
    }

    fn part(&self, case: &Case, place: &Place) -> Result<Box<dyn Part>, Error> {
        Ok(Box::new(part::Worker::new(case, place)?))
    }

    fn reduce(&self, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
        reduce::reduce(case, parts)
    }
}
