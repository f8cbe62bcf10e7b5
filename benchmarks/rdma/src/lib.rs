//! Benchmarks of remote direct memory access: InfiniBand and RoCE. A folder with a `doc.md` is a benchmark; the rest
//! is shared by several.

mod all_to_all;
mod atomic;
mod bandwidth;
mod latency;
mod method;
mod read_bw;
mod read_lat;
mod send_bw;
mod send_lat;
#[cfg(test)]
mod tests;
mod write_bw;
mod write_lat;
mod write_poll_lat;

use seatrial_bench::Benchmark;

/// The benchmarks of this family, in the order of lists.
pub const BENCHMARKS: &[Benchmark] = &[
    write_bw::BENCHMARK,
    read_bw::BENCHMARK,
    send_bw::BENCHMARK,
    all_to_all::BENCHMARK,
    write_lat::BENCHMARK,
    read_lat::BENCHMARK,
    send_lat::BENCHMARK,
    write_poll_lat::BENCHMARK,
    atomic::BENCHMARK,
];
