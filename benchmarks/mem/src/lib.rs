//! Memory.
//!
//! A folder with a `doc.md` is a benchmark; other modules are shared in this family.

mod bandwidth;
mod chase;
mod check;
#[cfg(test)]
mod hot_loops;
pub mod kernel;
mod latency;
mod loaded_latency;
pub mod pipeline;
mod shard;
mod sizes;
mod sizing;
mod slots;
#[cfg(test)]
mod tests;

use seatrial_bench::Benchmark;

/// The benchmarks of this family, in the order of lists.
pub const BENCHMARKS: &[Benchmark] =
    &[bandwidth::BENCHMARK, latency::BENCHMARK, loaded_latency::BENCHMARK, pipeline::BENCHMARK];
