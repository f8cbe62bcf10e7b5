//! Benchmarks of networks. A folder with a `doc.md` is a benchmark; the rest is shared by several.

pub mod connect;
mod datagrams;
pub mod eth_receive;
pub mod mtu;
pub mod pingpong;
mod port;
#[cfg(test)]
mod rig;
pub mod rr;
pub mod tcp_stream;
#[cfg(test)]
mod tests;
pub mod udp_stream;

use seatrial_bench::Benchmark;

/// The benchmarks of this family, in the order of lists.
pub const BENCHMARKS: &[Benchmark] = &[
    rr::BENCHMARK,
    connect::BENCHMARK,
    tcp_stream::BENCHMARK,
    udp_stream::BENCHMARK,
    eth_receive::BENCHMARK,
    pingpong::BENCHMARK,
    mtu::BENCHMARK,
];
