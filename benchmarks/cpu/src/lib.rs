//! Processor cores.
//!
//! A folder with a `doc.md` is a benchmark; other modules are shared in this family.

pub mod clock;

use seatrial_bench::Benchmark;

pub const BENCHMARKS: &[&dyn Benchmark] = &[&clock::Clock];
