//! Parameters, axes and kinds of metrics that all benchmarks of the family have.

use seatrial_model::{AxisSpec, Better, Kind, MetricSpec, ParamSpec, SeriesSpec, Unit};

pub const LIBRARY: ParamSpec = ParamSpec::new("library", Kind::Text, "auto").word("auto").doc(
    "MPI library, as a file or the prefix of an installation; auto: SEATRIAL_MPI, LD_LIBRARY_PATH, beside mpirun, then the \
     dynamic linker.",
);

pub const LAUNCHER: ParamSpec = ParamSpec::new("launcher", Kind::Text, "auto")
    .word("auto")
    .doc("Path of the launcher (mpiexec); auto: the one of the library's installation.");

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
