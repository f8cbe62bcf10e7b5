//! A counter over the time of a copy.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use seatrial_model::Nanos;
use seatrial_sys::clock::now_ns;

/// Time between two readings.
pub const INTERVAL: Nanos = Nanos::millis(100);

/// What a counter was, and when.
pub type Reading = (Nanos, u64);

/// Does `work` and reads a counter at its beginning and every [`INTERVAL`] from then on.
pub fn watched<T>(read: impl Fn() -> Option<u64> + Send, work: impl FnOnce() -> T) -> (T, Vec<Reading>) {
    let is_over = &AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(move || {
            let (start, mut readings) = (now_ns(), Vec::new());
            for number in 0.. {
                let due = start + number * INTERVAL.get();
                loop {
                    if is_over.load(Ordering::Relaxed) {
                        return readings;
                    }
                    let left = due.saturating_sub(now_ns());
                    if left == 0 {
                        break;
                    }
                    thread::park_timeout(Duration::from_nanos(left));
                }
                let Some(value) = read() else { return readings };
                readings.push((Nanos(now_ns()), value));
            }
            readings
        });
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        watching.thread().unpark();
        (done, watching.join().unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn a_counter_is_read_in_equal_intervals_and_who_cannot_read_it_reads_once() {
        let (asked, nothing) = (AtomicU64::new(0), AtomicU64::new(0));
        let count = || Some(asked.fetch_add(1, Ordering::Relaxed));
        let wait = || thread::sleep(Duration::from_millis(350));
        let ((), readings) = watched(count, wait);
        assert!(readings.len() >= 2, "{readings:?}");
        for pair in readings.windows(2) {
            assert!(pair[1].1 == pair[0].1 + 1 && pair[1].0 > pair[0].0, "{readings:?}");
        }
        let silent = || {
            nothing.fetch_add(1, Ordering::Relaxed);
            None
        };
        let ((), none) = watched(silent, wait);
        assert_eq!((none, nothing.into_inner()), (Vec::new(), 1));
    }
}
