//! What the benchmarks of GPUs share: which are measured, the driver opened, kernels, streams that start together,
//! pinned memory at a place, what the GPU's own counters saw.

mod choose;
mod evidence;
mod fault;
mod group;
mod host;
mod integrity;
mod kernel;
mod open;
pub mod pattern;
mod pcie_route;
mod ptx;
#[cfg(test)]
pub mod rig;
mod slices;
mod steady;
mod timed_stream;
mod watch;
mod window;
mod worker;

pub use choose::{GPU, address_of, both_ways, chosen, measured, near, node_of};
pub use evidence::{missing, tell};
pub use fault::{during, preparing};
pub use group::{End, GpuGroup};
pub use host::Block;
pub use integrity::Checks;
pub use kernel::{Arrays, Kernels, Ring, Tally};
pub use open::Opened;
pub use ptx::{Hint, Op, SUMS, Shape, Walk};
pub use slices::{Lost, Slice, Trials, by_slice, median};
pub use timed_stream::{MOST_QUEUED, Run, Starter, StreamError, TimedStream};
pub use watch::Watches;
pub use window::{Rate, common_rates, whole_rate};
pub use worker::{GpuWorkload, Worker};
