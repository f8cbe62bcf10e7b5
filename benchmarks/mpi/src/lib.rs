//! Message passing (MPI).
//!
//! A folder with a `doc.md` is a benchmark; other modules are shared in this family. How jobs are started stands in
//! `seatrial-mpi-job`.

mod collective;
mod comparison;
mod copies;
mod declare;
#[cfg(test)]
mod fixture;
mod measures;
mod memory;
mod one_sided;
mod pairs;
mod point_to_point;
mod slices;
mod startup;

use seatrial_bench::Benchmark;
use seatrial_mpi_job::RankProgram;

/// The benchmarks of this family, in the order of lists.
pub const BENCHMARKS: &[Benchmark] =
    &[point_to_point::BENCHMARK, collective::BENCHMARK, one_sided::BENCHMARK, startup::BENCHMARK];

/// What ranks run, by benchmark.
pub const PROGRAMS: &[RankProgram] = &[
    (point_to_point::ID, point_to_point::start),
    (collective::ID, collective::start),
    (one_sided::ID, one_sided::start),
    (startup::ID, startup::start),
];
