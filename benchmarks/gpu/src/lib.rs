//! Graphics processors.
//!
//! A folder with a `doc.md` is a benchmark; other modules are shared in this family.

mod choose;
mod copy;
mod device;
mod evidence;
mod fault;
mod group;
mod host;
pub mod host_copy;
pub mod host_copy_all;
mod integrity;
mod kernel;
pub mod memory;
pub mod pattern;
mod pcie_route;
pub mod peer_copy;
mod ptx;
#[cfg(test)]
pub mod rig;
mod slices;
mod steady;
mod watch;
mod window;
mod worker;

pub use choose::{GPU, address_of, both_ways, chosen, measured, near, node_of};
pub use device::Device;
pub use evidence::{missing, tell};
pub use fault::{during, preparing};
pub use group::{End, GpuGroup};
pub use host::Block;
pub use integrity::Checks;
pub use kernel::{Arrays, Kernels, Ring, Tally};
pub use ptx::{Hint, Op, SUMS, Shape, Walk};
pub use slices::{Lost, Slice, by_slice};
pub use watch::Watches;
pub use window::{Rate, common_rates, whole_rate};
pub use worker::part;

use seatrial_bench::Benchmark;

/// The benchmarks of this family, in the order of lists.
pub const BENCHMARKS: &[Benchmark] =
    &[host_copy::BENCHMARK, host_copy_all::BENCHMARK, peer_copy::BENCHMARK, memory::BENCHMARK];
