//! Graphics processors.
//!
//! A folder with a `doc.md` is a benchmark; other modules are shared in this family.

mod burn;
mod choose;
mod collective;
mod compute;
mod copy;
mod device;
mod evidence;
mod fault;
mod group;
mod host;
mod host_copy;
mod host_copy_all;
mod integrity;
mod kernel;
mod memory;
mod memory_test;
mod metrics;
mod pattern;
mod pcie_route;
mod peer_copy;
mod product;
mod ptx;
#[cfg(test)]
mod rig;
mod slices;
mod steady;
mod watch;
mod window;
mod worker;

use choose::{
    GPU, NO_LIMIT, address_of, both_ways, case_within, chosen, facts_in_common, limits_within, measured, near,
};
use device::Device;
use evidence::{missing, tell};
use fault::during;
use group::{End, GpuGroup};
use host::Block;
use integrity::Checks;
use kernel::{Arrays, Kernels, Ring};
use ptx::{Hint, Op, SUMS, Shape, Walk};
use slices::{Lost, Slice, by_slice};
use watch::Watches;
use window::{Rate, common_rates, whole_rate};
use worker::part;

use seatrial_bench::Benchmark;

pub use collective::ALIASES;

/// The benchmarks of this family, in the order of lists.
pub const BENCHMARKS: &[Benchmark] = &[
    host_copy::BENCHMARK,
    host_copy_all::BENCHMARK,
    peer_copy::BENCHMARK,
    memory::BENCHMARK,
    memory_test::BENCHMARK,
    compute::BENCHMARK,
    burn::BENCHMARK,
    collective::BENCHMARK,
];
