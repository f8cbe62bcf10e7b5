//! `storage.metadata`: rate of creating, opening, listing and removing files.

mod clients;
mod part;
mod plan;
pub(crate) mod reduce;
mod team;
#[cfg(test)]
mod tests;
mod work;

use seatrial_model::{
    About, Actor, AxisSpec, Bytes, Cost, Interaction, Kind, MetricSpec, Need, ParamSpec, Parts, Remedy,
    SeriesSpec, Unit,
};

use crate::many;
use seatrial_bench::group::CORES;
use seatrial_bench::{Benchmark, Part};

const OPERATION: &[AxisSpec] = &[AxisSpec { name: "operation", unit: Unit::Count }];

const NODE: &[AxisSpec] = &[AxisSpec { name: "node", unit: Unit::Count }];

const ID: &str = "storage.metadata";

const ABOUT: About = About {
    id: ID,
    version: 1,
    title: "creating, opening, listing and removing many files",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::Administrator,
            "check the load of the file system's server, and its round trip with `seatrial run net.rr`",
        ),
        Remedy::new(Actor::Root, "check the disk of the journal (`smartctl -a`) and the mount options"),
    ],
    params: &[
        ParamSpec::new("directory", Kind::Text, "auto").word("auto").doc(
            "Directory for the files, as a full path; auto: the current directory, or /var/tmp if that is in \
             memory or takes no files.",
        ),
        ParamSpec::new("threads", Kind::Load(1, plan::MOST_THREADS), "1").word(CORES).doc(
            "Number of threads; cores: one for each core, as many as the node with the fewest has.",
        ),
        ParamSpec::new("folder", Kind::Choice(&["own", "shared"]), "own")
            .doc("own: one folder per thread; shared: one folder for all threads."),
        ParamSpec::new("files", Kind::Count(1, 100_000), "auto").word("auto").doc(
            "Most files that each thread creates per round; fewer if creating them takes a tenth of the \
             time, of many nodes a seventh. auto: 1000, of many nodes 20000.",
        ),
        ParamSpec::new("size", Kind::Size(Bytes(0), Bytes::mib(1)), "0 B")
            .doc("Bytes in each file: 0 as in mdtest-easy of IO500, 3901 as in mdtest-hard, or others."),
        seatrial_bench::VERIFY_BLOCKS,
        ParamSpec { default: "2 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        MetricSpec::higher_is_better("operations", Unit::PerSecond)
            .doc("Geometric mean of the rates of all operations, by all threads together."),
        MetricSpec::lower_is_better("slowest", Unit::Microsecond)
            .doc("Time of the slowest single operation of a trial."),
        MetricSpec::higher_is_better("fairness", Unit::Ratio).doc(
            "Of a case of many nodes: Jain's fairness index of the nodes' rates: 1 when all are equal, 1 / nodes when \
             one has everything.",
        ),
        MetricSpec::higher_is_better("slowest_node", Unit::PerSecond)
            .doc("Of a case of many nodes: geometric mean of the rates of all operations by the slowest node.")
            .isolates(),
    ],
    series: &[
        SeriesSpec::higher_is_better("by_operation", Unit::PerSecond, OPERATION)
            .doc("Operations per second of all threads together; for list: names per second."),
        SeriesSpec::lower_is_better("p99", Unit::Microsecond, OPERATION)
            .doc("99th percentile of the time of an operation; for list: of a whole folder."),
        SeriesSpec::higher_is_better("by_node", Unit::PerSecond, NODE)
            .doc("Of a case of many nodes: geometric mean of the rates of all operations, by node."),
    ],
    parts: Parts::OneOrMore("worker"),
    needs: &[Need::Directory],
    probes: &["diskstats", "nfs", "steal", "load", "clock", "kernel_log"],
    cost: Cost { seconds: 8, written: 16 << 20 },
    interaction: Interaction::Loads(
        "the file system of the directory, and the servers of a network file system",
    ),
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: |about, _, _| plan::limits(about),
    part: |case, place| match case.params.text("directory") {
        Ok(directory) if many::is_of_many(case) => {
            many::part(case, place, directory.to_owned(), part::Unopened::prepare, |worker, folder| {
                Ok(worker.open(folder)?.in_slots())
            })
        }
        _ => Part::alone(case, place, part::MetadataWorker::prepare),
    },
    liveness_check: |case, place| {
        Some(seatrial_bench::directory::check_directories(
            case,
            place,
            &[case.params.text("directory").ok()?],
        ))
    },
    reduce: |case, parts| {
        if many::is_of_many(case) { clients::reduce(case, parts) } else { reduce::reduce(parts) }
    },
};
