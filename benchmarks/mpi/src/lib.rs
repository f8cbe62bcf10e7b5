//! Message passing (MPI).
//!
//! A folder with a `doc.md` is a benchmark; other modules are shared in this family.

mod job;
mod point_to_point;

use seatrial_bench::Benchmark;

pub use job::{Moment, SUBCOMMAND, rank_main};

/// The benchmarks of this family, in the order of lists.
pub const BENCHMARKS: &[Benchmark] = &[point_to_point::BENCHMARK];
