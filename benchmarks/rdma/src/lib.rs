//! Remote direct memory access: InfiniBand and RoCE.
//!
//! A folder with a `doc.md` is a benchmark; the rest is what benchmarks of this family share.

pub mod atomic;
mod bandwidth;
mod latency;
pub mod read_bw;
pub mod read_lat;
pub mod send_bw;
pub mod send_lat;
#[cfg(test)]
mod tests;
pub mod write_bw;
pub mod write_lat;
pub mod write_poll_lat;

use seatrial_bench::Benchmark;

/// The benchmarks of this family, in the order of lists.
pub const BENCHMARKS: &[&dyn Benchmark] = &[
    &write_bw::WRITE_BANDWIDTH,
    &read_bw::READ_BANDWIDTH,
    &send_bw::SEND_BANDWIDTH,
    &write_lat::WRITE_LATENCY,
    &read_lat::READ_LATENCY,
    &send_lat::SEND_LATENCY,
    &write_poll_lat::WRITE_POLL_LATENCY,
    &atomic::Atomic,
];
