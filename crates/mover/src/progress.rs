//! How far a copy is: read by whoever shows it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::failure::Failure;

/// Failures that are kept with their text; of more, the number is kept.
const MOST_FAILURES: usize = 1000;

/// Sums over the data connections of a copy to another host.
#[derive(Debug, Default)]
pub struct Spent {
    /// Reading files of the source.
    pub reading: Total,
    /// Until a connection took what was written to it, which waits for the network and for the receiver; with encryption.
    pub sending: Total,
    /// Storing in the target.
    pub storing: Total,
    /// While the receiver's window or the send buffer was full (TCP_INFO).
    pub window: Total,
}

/// A time that grows.
#[derive(Debug, Default)]
pub struct Total(AtomicU64);

impl Total {
    pub(crate) fn add(&self, time: Duration) {
        self.0.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    pub fn get(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// Counters of a copy; all of them only grow.
#[derive(Debug, Default)]
pub struct Progress {
    /// Regular files that were copied, and their bytes.
    pub files: AtomicU64,
    pub bytes: AtomicU64,
    /// Bytes of file content that went over the connections or through the kernel.
    pub moved: AtomicU64,
    /// Regular files that the target had.
    pub unchanged: AtomicU64,
    /// Directories and symbolic links.
    pub others: AtomicU64,
    /// Regular files and bytes found so far in the sources, and whether that is all.
    pub found_files: AtomicU64,
    pub found_bytes: AtomicU64,
    pub is_all_found: AtomicBool,
    /// Bytes of the window that was asked for or computed, 0 without one; and SO_SNDBUF of the data connections at the source and
    /// SO_RCVBUF at the target, as the kernel set them.
    pub window: AtomicU64,
    pub send_buffer: AtomicU64,
    pub receive_buffer: AtomicU64,
    /// What the data connections spent their time on; complete when the copy is.
    pub spent: Spent,
    /// Set from outside: the copy ends as soon as possible.
    pub stop: AtomicBool,
    failed: AtomicU64,
    failures: Mutex<Vec<Failure>>,
}

impl Progress {
    pub(crate) fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }

    pub fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn fail(&self, failure: Failure) {
        Self::add(&self.failed, 1);
        let mut kept = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST_FAILURES {
            kept.push(failure);
        }
    }

    /// Files, links and directories that were not copied.
    pub fn failed(&self) -> u64 {
        Self::get(&self.failed)
    }

    /// The first of them, with their reasons, since the last call.
    pub fn take_failures(&self) -> Vec<Failure> {
        std::mem::take(&mut *self.failures.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
