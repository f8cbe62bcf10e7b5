//! `storage.copy`: rate and CPU cost of copying a file from one directory to another.

mod copying;
mod part;
mod plan;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, Actor, Bytes, Cost, Interaction, Kind, MetricSpec, Need, ParamSpec, Parts, Remedy, Unit,
};

use crate::io::specs::rate;
use seatrial_bench::{Benchmark, Part};

const fn share(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Percent).doc(doc)
}

const ABOUT: About = About {
    id: "storage.copy",
    version: 1,
    title: "copying a file from one directory to another, or within one directory",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::Root,
            "run `seatrial run storage.raw` on the written disk, and check its health (`smartctl -a`)",
        ),
        Remedy::new(Actor::User, "measure again on a file system with more free space"),
    ],
    params: &[
        ParamSpec::new("from", Kind::Text, "auto").word("auto").doc(
            "Directory of the source file, as a full path; auto: the current directory, or /var/tmp if that \
             is in memory.",
        ),
        ParamSpec::new("to", Kind::Text, "auto")
            .word("auto")
            .doc("Directory of the copy, as a full path; auto: the same as `from`."),
        ParamSpec::new("size", Kind::Size(Bytes::mib(1), Bytes::gib(1 << 20)), "256 MiB")
            .doc("Size of each file."),
        ParamSpec::new("files", Kind::Count(1, 1000), "1")
            .doc("Files of a copy, one after the other, as `cp` with several names; flushed after the last."),
        ParamSpec::new("method", Kind::Choice(&["read_write", "copy_file_range"]), "read_write").doc(
            "read_write: pread and pwrite through a buffer; copy_file_range: in the kernel, which may share \
             blocks instead of copying.",
        ),
        ParamSpec::new("block", Kind::Size(Bytes::kib(4), Bytes::mib(64)), "1 MiB").doc("Bytes per call."),
        ParamSpec::new("sync", Kind::Choice(&["end", "none"]), "end").doc(
            "When a copy counts as done: end (after fdatasync), or none (when the page cache has all of its \
             data).",
        ),
        ParamSpec::new("source", Kind::Choice(&["cold", "warm"]), "cold")
            .doc("cold: the page cache drops the source file before each copy; warm: it holds the file."),
        seatrial_bench::VERIFY,
        ParamSpec { default: "2 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        rate("throughput", "Bytes of the files over the time of a copy; with sync=end including the flush."),
        rate(
            "unsynced",
            "With sync=end: bytes of the files over the time until all was written, before the flush.",
        ),
        share("user", "CPU time of the copying thread in user mode, in percent of the time of the copy."),
        share(
            "system",
            "CPU time of the copying thread in the kernel, in percent; later write-back by the kernel is not \
             counted.",
        ),
    ],
    series: &[],
    parts: Parts::One("worker"),
    needs: &[Need::Directory],
    probes: &["diskstats", "nfs", "steal", "load", "kernel_log"],
    cost: Cost { seconds: 12, written: 4 << 30 },
    interaction: Interaction::Loads("the file systems of both directories and the devices below them"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| Part::alone(case, place, part::CopyWorker::prepare),
    liveness_check: |case, place| {
        let both = [case.params.text("from").ok()?, case.planned.text("to").ok()?];
        Some(seatrial_bench::directory::check_directories(case, place, &both))
    },
    reduce: reduce::reduce,
};
