//! `storage.metadata`: how fast a file system makes, finds, lists and removes files.

mod part;
mod plan;
pub(crate) mod reduce;
mod team;
#[cfg(test)]
mod tests;
mod work;

use seatrial_model::{
    About, AxisSpec, Bytes, Cost, Interaction, Kind, MetricSpec, Need, ParamSpec, SeriesSpec, Unit,
};

use seatrial_bench::{Benchmark, Part};

const OPERATION: &[AxisSpec] = &[AxisSpec { name: "operation", unit: Unit::Count }];

const ID: &str = "storage.metadata";

const ABOUT: About = About {
    id: ID,
    version: 1,
    title: "making, finding, listing and removing many files",
    doc: include_str!("doc.md"),
    params: &[
        ParamSpec::new("directory", Kind::Text, "auto").word("auto").doc(
            "Directory to work in, with its full path; auto: the current one, or /var/tmp where that \
             is in memory.",
        ),
        ParamSpec::new("threads", Kind::Load(1, 256), "1").doc("Threads that work at the same time."),
        ParamSpec::new("folder", Kind::Choice(&["own", "shared"]), "own")
            .doc("A folder for each thread, or one that all share."),
        ParamSpec::new("files", Kind::Count(1, 100_000), "1000").doc(
            "Files that each thread makes in a round at most; fewer where making them takes a tenth of \
             the time.",
        ),
        ParamSpec::new("size", Kind::Size(Bytes(0), Bytes::mib(1)), "0 B")
            .doc("Bytes in each file: 0 as in IO500's easy test, 3901 as in its hard one, or others."),
        ParamSpec { default: "2 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
    ],
    metrics: &[
        MetricSpec::higher_is_better("operations", Unit::PerSecond).doc(
            "Geometric mean over the operations of how many are done a second, by all threads \
             together.",
        ),
        MetricSpec::lower_is_better("slowest", Unit::Microsecond)
            .doc("The longest single operation of a trial."),
    ],
    series: &[
        SeriesSpec::higher_is_better("by_operation", Unit::PerSecond, OPERATION)
            .doc("Operations a second by all threads together; of list, names a second."),
        SeriesSpec::lower_is_better("p99", Unit::Microsecond, OPERATION)
            .doc("Time that 99 % of the operations do not exceed; of list, of whole folders."),
    ],
    parts: &["worker"],
    needs: &[Need::Directory],
    probes: &["diskstats", "steal", "load", "clock", "kernel_log"],
    cost: Cost { seconds: 8, written: 16 << 20 },
    interaction: Interaction::Loads(
        "the file system of the directory, and the servers behind one of the network",
    ),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: |about, _, _| plan::limits(about),
    part: |case, place| Part::alone(case, place, part::MetadataWorker::prepare),
    liveness_check: |case, place| {
        Some(crate::liveness::check_directories(case, place, &[case.params.text("directory").ok()?]))
    },
    reduce: |_, parts| reduce::reduce(parts),
};
