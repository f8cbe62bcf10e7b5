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
pub mod peer_read;
pub mod raw;

use seatrial_bench::Benchmark;

pub const BENCHMARKS: &[&dyn Benchmark] =
    &[&file::File, &peer_read::PeerRead, &raw::Raw, &metadata::Metadata, &copy::Copy];
