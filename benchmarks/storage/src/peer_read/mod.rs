//! `storage.peer_read`: rate of reading files that another node has just written, so that the reader's caches are
//! empty.

mod part;
mod plan;
#[cfg(test)]
mod tests;

use seatrial_model::{
    About, Actor, Case, Cost, Interaction, Need, ParamSpec, Params, PartRecord, Parts, Remedy,
};

use crate::io::specs;
use crate::io::{limit, reduce};
use seatrial_bench::directory::leftovers;
use seatrial_bench::{Benchmark, Part};

/// The name of the part that reads.
const READER: &str = "reader";

const ABOUT: About = About {
    id: "storage.peer_read",
    version: 1,
    title: "reading files that another node has written",
    doc: include_str!("doc.md"),
    checks: &[Remedy::new(
        Actor::Administrator,
        "compare with `seatrial run storage.file` on the reader, and check load and locks of the server",
    )],
    params: &[
        ParamSpec {
            doc: "Directory on a file system that both nodes mount, as a full path; auto: the writer's \
                current directory, or /var/tmp if that is in memory or takes no files.",
            ..specs::DIRECTORY
        },
        specs::PATTERN,
        specs::THREADS,
        specs::BLOCK,
        specs::DEPTH,
        specs::SIZE,
        specs::FILES,
        specs::ACCESS,
        specs::ENGINE,
        specs::COMPRESSIBLE,
        seatrial_bench::VERIFY_BLOCKS,
        specs::WORK,
        ParamSpec { default: "2 s", ..seatrial_bench::TIME },
        seatrial_bench::TRIALS,
        seatrial_bench::MAX_TRIALS,
        seatrial_bench::PRECISION,
        seatrial_bench::SCHED,
    ],
    metrics: &[
        specs::THROUGHPUT,
        specs::FIRST_DONE,
        specs::LAST_DONE,
        specs::IOPS,
        specs::LATENCY,
        specs::P99,
        specs::P999,
        specs::SLOWEST,
        specs::CPU_PER_IO,
        specs::FAIRNESS,
    ],
    series: specs::SERIES,
    parts: Parts::Two([READER, "writer"]),
    needs: &[Need::Directory],
    probes: &["diskstats", "nfs", "steal", "load", "kernel_log"],
    cost: Cost { seconds: 20, written: 3 << 30 },
    interaction: Interaction::Loads(
        "the file system of the directory, and the servers and networks behind it",
    ),
};

/// The parameters, completed with the defaults of `storage.file` that this benchmark does not offer.
fn whole(params: &Params) -> Params {
    let mut all =
        specs::JOB.iter().map(|spec| (spec.name.to_owned(), spec.default_value())).collect::<Params>();
    for (name, value) in params.iter() {
        all.set(name, value.clone());
    }
    all
}

fn as_file(case: &Case) -> Case {
    Case { params: whole(&case.params), ..case.clone() }
}

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: |about, case, site| limit::limits(about, &as_file(case), site),
    part: |case, place| {
        let prepare = if place.part == READER { part::reader } else { part::writer };
        Part::new(&as_file(case), place, prepare)
    },
    liveness_check: |case, place| {
        Some(seatrial_bench::directory::check_directories(
            case,
            place,
            &[case.planned.text("directory").ok()?],
        ))
    },
    reduce: |case, parts| {
        let readers: Vec<PartRecord> = parts.iter().filter(|part| part.part == READER).cloned().collect();
        let mut measures = reduce::reduce(&as_file(case), &readers)?;
        measures.findings.extend(leftovers(parts));
        Ok(measures)
    },
};
