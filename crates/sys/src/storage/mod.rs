//! Files and block devices: opening them past the page cache, requests to them, and what the kernel counts of it.
//!
//! An [`Engine`] moves blocks between memory that it owns and files that it was given, several at a time where the
//! kernel lets it. [`direct`] opens the way past the page cache and finds the alignment that it needs.

mod access;
mod buffers;
mod cache;
mod device;
mod engine;
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
pub use fd_store::{FdStore, Item, MOST_FILES, Purpose};
pub use scratch::{Hiding, scratch};
pub use sync::Sync;
pub use throttle::{IoThrottle, throttle};
pub use uring::{Ring, Setup, Uring};
pub use whole::{read_whole, write_whole};
