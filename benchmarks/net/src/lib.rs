//! Benchmarks of networks. A folder with a `doc.md` is a benchmark; the rest is shared by several.

mod aliases;
mod all_to_all;
mod byte_stream;
mod connect;
mod datagrams;
mod eth_receive;
mod max_segment;
mod metrics;
mod mtu;
mod pingpong;
mod port;
mod protocol;
mod rails;
#[cfg(test)]
mod rig;
mod rr;
mod tcp_stream;
#[cfg(test)]
mod tests;
pub mod udp_stream;

pub use aliases::ALIASES;

use seatrial_bench::Benchmark;
use seatrial_mpi_job::RankProgram;

/// What ranks of MPI jobs run, by benchmark.
pub const PROGRAMS: &[RankProgram] = &[(pingpong::ID, pingpong::start)];

/// The benchmarks of this family, in the order of lists.
pub const BENCHMARKS: &[Benchmark] = &[
    rr::BENCHMARK,
    connect::BENCHMARK,
    tcp_stream::BENCHMARK,
    all_to_all::BENCHMARK,
    udp_stream::BENCHMARK,
    eth_receive::BENCHMARK,
    pingpong::BENCHMARK,
    mtu::BENCHMARK,
];
