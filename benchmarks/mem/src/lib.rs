//! Memory.
//!
//! A folder with a `doc.md` is a benchmark; other modules are shared in this family.

pub mod bandwidth;
mod chase;
pub mod kernel;
pub mod latency;
pub mod loaded_latency;
pub mod pipeline;
mod shard;
mod sizes;
mod sizing;
#[cfg(test)]
mod tests;

use seatrial_bench::Benchmark;

pub const BENCHMARKS: &[&dyn Benchmark] =
    &[&bandwidth::Bandwidth, &latency::Latency, &loaded_latency::LoadedLatency, &pipeline::Pipeline];
