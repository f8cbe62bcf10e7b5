//! What all benchmarks of the family declare alike: needs, probes and cost, parameters, axes, kinds of metrics.

use seatrial_model::{
    About, Actor, AxisSpec, Better, Cost, Interaction, Kind, MetricSpec, Need, ParamSpec, Parts, Remedy,
    SeriesSpec, Unit,
};
use seatrial_mpi_job::ranks::{MOST_RANKS, PER_NODE, RANKS};

/// What every job is and needs.
pub const JOB: About = About {
    parts: Parts::AllNodes("worker"),
    probes: &["steal", "load", "throttle", "vmstat", "nic", "ib_port"],
    needs: &[Need::Library("libmpi.so")],
    cost: Cost { seconds: 8, written: 0 },
    interaction: Interaction::Loads("one core for each rank, and with large sizes the memory"),
    ..About::WORKER
};

pub const ALLOW_SINGLE_COPY: Remedy = Remedy::new(
    Actor::Administrator,
    "allow single copy between processes: CMA needs kernel.yama.ptrace_scope=0, XPMEM its kernel module",
);

/// The parameters of a benchmark: its own, then those of every job.
macro_rules! job_params {
    ($($own:expr),* $(,)?) => {
        &[
            $($own,)*
            $crate::declare::RANKS_PER_NODE,
            seatrial_bench::interfaces::INTERFACE,
            seatrial_mpi_job::params::LIBRARY,
            seatrial_mpi_job::params::LAUNCHER,
            seatrial_mpi_job::params::THREAD_LEVEL,
            $crate::declare::TIME,
            seatrial_bench::TRIALS,
            seatrial_bench::MAX_TRIALS,
            seatrial_bench::PRECISION,
            seatrial_bench::SCHED,
        ]
    };
}
pub(crate) use job_params;

/// Ranks of a job, `fewest` at least.
pub const fn ranks(fewest: u64, doc: &'static str) -> ParamSpec {
    ParamSpec::new(RANKS, Kind::Load(fewest, MOST_RANKS), "auto").word("auto").doc(doc)
}

pub const RANKS_PER_NODE: ParamSpec = ParamSpec::new(PER_NODE, Kind::Load(1, MOST_RANKS), "auto")
    .word("auto")
    .doc("Ranks on each node, a block of consecutive ranks; auto: those of `ranks` shared out.");

/// Whether a benchmark repeats what the OSU micro-benchmarks do; the benchmark says what that is.
pub const LIKE: ParamSpec = ParamSpec::new("like", Kind::Choice(&["osu"]), "none").word("none");

pub const TIME: ParamSpec = ParamSpec { default: "1 s", ..seatrial_bench::TIME };

pub const BY_SIZE: &[AxisSpec] = &[AxisSpec { name: "size", unit: Unit::Byte }];
pub const BY_RANK: &[AxisSpec] = &[AxisSpec { name: "rank", unit: Unit::Count }];

pub const fn latency(name: &'static str, doc: &'static str) -> MetricSpec {
    MetricSpec::lower_is_better(name, Unit::Microsecond).doc(doc)
}

pub const fn latencies(name: &'static str, axes: &'static [AxisSpec], doc: &'static str) -> SeriesSpec {
    SeriesSpec::new(name, Unit::Microsecond, Better::Lower, axes).doc(doc)
}

pub const fn higher(name: &'static str, unit: Unit, doc: &'static str) -> MetricSpec {
    MetricSpec::higher_is_better(name, unit).doc(doc)
}

pub const fn rates(
    name: &'static str,
    unit: Unit,
    axes: &'static [AxisSpec],
    doc: &'static str,
) -> SeriesSpec {
    SeriesSpec::new(name, unit, Better::Higher, axes).doc(doc)
}
