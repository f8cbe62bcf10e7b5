//! `transfer.dataset`: how fast a data set is made, read and removed.

mod part;
mod plan;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, Actor, Cost, Interaction, Kind, MetricSpec, Need, ParamSpec, Parts, Remedy, Unit,
};

use crate::set::with_set;
use seatrial_bench::{Benchmark, Part};

const fn rate(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::MegabytesPerSecond).doc(doc)
}

const fn files(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, Unit::PerSecond).doc(doc)
}

const ID: &str = "transfer.dataset";

const PARAMS: [ParamSpec; 15] = with_set(
    &[ParamSpec::new("directory", Kind::Text, "auto").word("auto").doc(
        "Directory for the data set, as a full path; auto: the current directory, or /var/tmp if that is in memory or \
         takes no files.",
    )],
    &[
        ParamSpec::new("special", Kind::Flag, "false").doc(
            "Also makes, in the first directory, a file with a hole, an empty file, an empty directory, a symbolic link, a \
             hard link, and files that only the owner may read or may run.",
        ),
        ParamSpec::new("threads", Kind::Load(1, 256), "auto")
            .word("auto")
            .doc("Threads that make, read and remove files; auto: one for each core, 16 at most."),
        ParamSpec { default: "1 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
);

const ABOUT: About = About {
    id: ID,
    version: 1,
    title: "making, reading and removing a data set of many files",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::User,
            "compare with `seatrial run storage.file` and `storage.metadata` in the same directory: which of them is slow too",
        ),
        Remedy::new(Actor::Root, "check the disk below the directory (`smartctl -a`) and the mount options"),
    ],
    params: &PARAMS,
    metrics: &[
        rate("written", "Bytes of all files over the time until they are made and flushed."),
        files("made", "Files over the same time."),
        rate("unsynced", "Bytes of all files over the time until they are made, before the flush."),
        rate(
            "read",
            "Bytes of all files over the time of reading and comparing them, after the page cache dropped them.",
        ),
        files("removed", "Files over the time of removing them."),
    ],
    series: &[],
    parts: Parts::One("worker"),
    needs: &[Need::Directory],
    probes: &["diskstats", "steal", "load", "kernel_log"],
    cost: Cost { seconds: 20, written: 4 << 30 },
    interaction: Interaction::Loads("the file system of the directory and the devices below it"),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: |case, place| Part::alone(case, place, part::DatasetWorker::prepare),
    liveness_check: |case, place| {
        let directory = case.params.text("directory").ok()?;
        Some(seatrial_bench::directory::check_directories(case, place, &[directory]))
    },
    reduce: |_, parts| reduce::reduce(parts),
};
