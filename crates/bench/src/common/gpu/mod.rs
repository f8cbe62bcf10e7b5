//! What the benchmarks of GPUs share: which are measured, the driver opened, kernels, streams that start together,
//! pinned memory at a place, what the GPU's own counters saw.

mod choose;
mod fault;
mod host;
mod integrity;
mod kernel;
mod lanes;
mod open;
pub mod pattern;
mod ptx;
#[cfg(test)]
pub mod rig;
mod watch;
mod window;

pub use choose::{GPU, address_of, both_ways, chosen, measured, near, node_of};
pub use fault::{during, preparing};
pub use host::Block;
pub use integrity::integrity;
pub use kernel::{Arrays, Kernels, Ring, Tally};
pub use lanes::{Lane, LaneError, MOST_QUEUED, Run, Starter};
pub use open::Opened;
pub use ptx::{Op, Shape, Walk};
pub use watch::{Watch, findings, findings_of};
pub use window::{Rate, common_rates};
