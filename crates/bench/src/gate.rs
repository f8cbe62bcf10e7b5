//! A gate that lets a number of threads start within tens of nanoseconds of each other.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Opens when all threads have arrived, once.
#[derive(Debug)]
pub struct Gate {
    missing: AtomicUsize,
}

/// Spins before yielding: each thread has its own CPU, but another process may need that CPU.
const SPINS: u32 = 10_000;

impl Gate {
    /// A gate for `count` threads.
    pub const fn new(count: usize) -> Self {
        Self { missing: AtomicUsize::new(count) }
    }

    /// Waits until all are here.
    pub fn pass(&self) {
        self.missing.fetch_sub(1, Ordering::AcqRel);
        let mut spins = 0;
        while self.missing.load(Ordering::Acquire) > 0 {
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}
