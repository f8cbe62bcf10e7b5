//! Processor cores.
//!
//! A folder with a `doc.md` is a benchmark; other modules are shared in this family.

mod clock;

use seatrial_bench::Benchmark;

/// The benchmarks of this family, in the order of lists.
pub const BENCHMARKS: &[Benchmark] = &[clock::BENCHMARK];
