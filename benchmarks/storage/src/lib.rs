//! Disks and file systems.
//!
//! A folder with a `doc.md` is a benchmark; other modules are shared in this family.

mod copy;
mod device_bytes;
mod extents;
mod file;
mod io;
mod many;
mod metadata;
mod metrics;
mod peer_read;
mod raw;

use seatrial_bench::Benchmark;

/// The benchmarks of this family, in the order of lists.
pub const BENCHMARKS: &[Benchmark] =
    &[file::BENCHMARK, peer_read::BENCHMARK, raw::BENCHMARK, metadata::BENCHMARK, copy::BENCHMARK];
