//! Data sets, and what moving them costs.
//!
//! A folder with a `doc.md` is a benchmark; `set` is what they share: which files a data set has, making and checking them.

mod dataset;
mod moving;
mod set;

use seatrial_bench::Benchmark;

/// The benchmarks of this family, in the order of lists.
pub const BENCHMARKS: &[Benchmark] = &[dataset::BENCHMARK, moving::BENCHMARK];
