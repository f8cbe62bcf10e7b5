//! A gate that lets a number of threads start within tens of nanoseconds of each other.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Opens when all have arrived. For one use.
#[derive(Debug)]
pub struct Gate {
    missing: AtomicUsize,
}

/// Looks at the gate before the CPU is offered to others: each thread has its own CPU, so that spinning takes nothing
/// from the ones still to come, but a stranger on that CPU could hold one of them up.
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
