//! Disks and file systems.
//!
//! A folder with a `doc.md` is a benchmark; other modules are shared in this family.

pub mod copy;
mod device_bytes;
pub mod file;
mod file_system;
mod folder;
mod io;
mod liveness;
pub mod metadata;
mod metrics;
pub mod peer_read;
pub mod raw;

use seatrial_bench::Benchmark;

/// The benchmarks of this family, in the order of lists.
pub const BENCHMARKS: &[Benchmark] =
    &[file::BENCHMARK, peer_read::BENCHMARK, raw::BENCHMARK, metadata::BENCHMARK, copy::BENCHMARK];
