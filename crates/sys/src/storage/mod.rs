//! Files and block devices: direct I/O, I/O engines, device counters.
//!
//! An [`Engine`] moves blocks between its own memory and files, several at a time where the kernel supports it.
//! [`direct`] switches a file to direct I/O and finds the alignment.

mod access;
mod buffers;
mod cache;
mod device;
mod engine;
mod extents;
mod fd_store;
mod scratch;
mod sync;
#[cfg(test)]
mod tests;
mod throttle;
mod uring;
mod whole;

pub use access::{Alignment, AlignmentSource, DirectError, buffered, direct, without_access_times};
pub use buffers::Buffers;
pub use cache::{Resident, forget, resident};
pub use device::{Device, Moved, device_of, moved_by_device, moved_by_process, polls};
pub use engine::{Completion, Engine, Operation, Request};
pub use extents::extents;
pub use fd_store::{FdStore, Item, MOST_FILES, Purpose};
pub use scratch::{Hiding, scratch};
pub use sync::Sync;
pub use throttle::{IoThrottle, throttle};
pub use uring::{Ring, Setup, Uring};
pub use whole::{read_whole, write_whole};
