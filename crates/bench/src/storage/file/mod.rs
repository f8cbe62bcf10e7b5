//! `storage.file`: how fast files are read and written in a directory, by threads, block size and queue depth.

mod access_pattern;
mod account;
pub(in crate::storage) mod directory;
pub(crate) mod files;
mod fixture;
pub(in crate::storage) mod job;
pub(in crate::storage) mod limit;
mod made;
pub(crate) mod outcome;
pub(in crate::storage) mod part;
pub(in crate::storage) mod plan;
pub(in crate::storage) mod reduce;
mod rounds;
pub(in crate::storage) mod specs;
mod steady;
pub(in crate::storage) mod team;
#[cfg(test)]
mod tests;
mod watch;
mod work;

use seatrial_model::{
    About, AxisSpec, Case, Cost, Interaction, Kind, Limits, Measures, Need, ParamSpec, Params, PartPlacement,
    PartRecord, Reason, SeriesSpec, Site, Unit,
};

use self::specs::{latency, rate};
use crate::{Benchmark, Error, Part, common};

pub struct File;

pub(in crate::storage) const ABOUT: About = About {
    id: "storage.file",
    version: 1,
    title: "reading and writing files, by threads, block size and queue depth",
    doc: include_str!("doc.md"),
    params: &[
        specs::DIRECTORY,
        ParamSpec::new("operation", Kind::Choice(&["read", "write", "mixed"]), "read")
            .doc("What is done to the files."),
        ParamSpec::new("reads", Kind::Number(0.0, 100.0), "auto")
            .word("auto")
            .doc("With operation=mixed, the share of blocks that are read, in percent; auto is 70."),
        ParamSpec::new("overwrite", Kind::Flag, "false").doc(
            "With operation=write, fill the files before the clock starts, so that no block is written \
             for the first time; what is read is filled in any case.",
        ),
        specs::PATTERN,
        specs::THREADS,
        specs::BLOCK,
        specs::DEPTH,
        specs::SIZE,
        specs::FILES,
        specs::ACCESS,
        specs::ENGINE,
        ParamSpec::new("sync", Kind::Choice(&["end", "each", "none"]), "end")
            .doc("Writes are flushed at the end (fdatasync), each by itself (O_DSYNC), or never."),
        specs::COMPRESSIBLE,
        specs::WORK,
        ParamSpec::new("steady", Kind::Flag, "false").doc(
            "Measure rounds of `time` until five are alike by SNIA's rule (range 20 %, trend 10 % of \
             their mean), and five more to see whether it lasts.",
        ),
        ParamSpec::new("rounds", Kind::Count(5, 10_000), "25").doc("With steady=true, rounds at most."),
        ParamSpec { default: "2 s", ..common::TIME },
        common::TRIALS,
        common::MAX_TRIALS,
        common::PRECISION,
    ],
    metrics: &[
        specs::THROUGHPUT,
        rate("read", "With operation=mixed: what of it is read."),
        rate("written", "With operation=mixed: what of it is written."),
        rate("durable", "Bytes written over the time until they are flushed as well."),
        specs::FIRST_DONE,
        specs::LAST_DONE,
        specs::IOPS,
        specs::LATENCY,
        specs::P99,
        specs::P999,
        specs::SLOWEST,
        latency("flush", "Time that flushing took at the end, of the thread that took longest."),
        specs::CPU_PER_IO,
        specs::FAIRNESS,
    ],
    series: &[
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
    ],
    parts: &["worker"],
    needs: &[Need::Directory],
    probes: &["diskstats", "steal", "load", "clock", "kernel_log"],
    cost: Cost { seconds: 12, written: 3 << 30 },
    interaction: Interaction::Loads("the file system of the directory and what it lies on"),
};

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

    fn part(&self, case: &Case, place: &PartPlacement) -> Result<Box<dyn Part>, Error> {
        Ok(Box::new(part::Worker::new(case, place)?))
    }

    fn liveness_check(&self, case: &Case, place: &PartPlacement) -> Option<Box<dyn Part>> {
        Some(Box::new(common::LivenessPart::in_directories(place, &[case.chosen.text("directory").ok()?])))
    }

    fn reduce(&self, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
        if job::JobSpec::of(&case.params)?.rounds > 1 {
            rounds::reduce(case, parts)
        } else {
            reduce::reduce(case, parts)
        }
    }
}
