//! `mpi.startup`: time to start and to end a job, by the number of its ranks.

mod part;
mod plan;
mod program;
mod reduce;
#[cfg(test)]
mod tests;

use seatrial_bench::Benchmark;
use seatrial_model::{
    About, Actor, AxisSpec, Better, Cost, Interaction, MetricSpec, Remedy, SeriesSpec, Unit,
};

use crate::declare::{BY_RANK, JOB, job_params, ranks};

pub use program::start;

pub const ID: &str = "mpi.startup";

const BY_RANKS: &[AxisSpec] = &[AxisSpec { name: "ranks", unit: Unit::Count }];

const fn time(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Second).doc(doc)
}

const fn times(name: &'static str, axes: &'static [AxisSpec], doc: &'static str) -> SeriesSpec {
    SeriesSpec::new(name, Unit::Second, Better::Lower, axes).doc(doc)
}

const ABOUT: About = About {
    id: ID,
    title: "MPI startup: time of the launcher, of MPI_Init and of MPI_Finalize by the number of ranks",
    doc: include_str!("doc.md"),
    checks: &[
        Remedy::new(
            Actor::User,
            "look at launch, load and init apart: launch is the launcher's, load the file system's, init the library's",
        ),
        Remedy::new(
            Actor::Administrator,
            "install the MPI library on local disks, or cache it: all ranks load it at the same time",
        ),
        Remedy::new(
            Actor::User,
            "leave out transports that are not there (UCX_TLS, OMPI_MCA_btl, FI_PROVIDER): MPI_Init tries each of them",
        ),
    ],
    params: job_params![ranks(
        1,
        "Ranks of the job; auto: 1, 2, 4 and so on up to one for each core on each node, as a series.",
    )],
    metrics: &[
        time("init", "Time of MPI_Init, of the rank that takes longest."),
        time("launch", "From the start of the launcher until the process of the last rank runs."),
        time("load", "Time to load the MPI library, of the rank that takes longest."),
        time(
            "startup",
            "launch, and from the first rank that loads the library to the last rank that returns from MPI_Init.",
        ),
        time("finalize", "Time of MPI_Finalize, of the rank that takes longest."),
        time("exit", "From the last rank that returns from MPI_Finalize to the end of the launcher."),
    ],
    series: &[
        times("init_by_ranks", BY_RANKS, "Time of MPI_Init by the number of ranks."),
        times("launch_by_ranks", BY_RANKS, "Time of the launcher by the number of ranks."),
        times("load_by_ranks", BY_RANKS, "Time to load the library by the number of ranks."),
        times("startup_by_ranks", BY_RANKS, "Time to start a job by the number of ranks."),
        times("finalize_by_ranks", BY_RANKS, "Time of MPI_Finalize by the number of ranks."),
        times("exit_by_ranks", BY_RANKS, "Time of the launcher to end by the number of ranks."),
        times("init_by_rank", BY_RANK, "Time of MPI_Init of each rank of the largest job."),
        times(
            "launch_by_rank",
            BY_RANK,
            "From the start of the launcher until the process of each rank of the largest job runs.",
        ),
        times("load_by_rank", BY_RANK, "Time of each rank of the largest job to load the library."),
    ],
    cost: Cost { seconds: 12, written: 0 },
    interaction: Interaction::Loads("one core for each rank"),
    ..JOB
};

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: plan::plan,
    limits: plan::limits,
    part: part::part,
    liveness_check: |_, _| None,
    reduce: reduce::reduce,
};
