//! The signal that ends a phase.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Ends a phase, after its time or by order of the supervisor. Clones share the signal.
#[derive(Clone, Debug)]
pub struct Stop {
    signal: Arc<Signal>,
    until: Instant,
}

#[derive(Debug, Default)]
struct Signal {
    raised: AtomicBool,
    /// Held while the signal is raised, so that no thread misses the wake-up between check and sleep.
    door: Mutex<()>,
    bell: Condvar,
}

impl Stop {
    pub fn after(span: Duration) -> Self {
        Self { signal: Arc::default(), until: Instant::now() + span }
    }

    /// Whether the phase is over: one relaxed load and one clock read.
    pub fn is_over(&self) -> bool {
        self.is_raised() || Instant::now() >= self.until
    }

    /// Ends the phase now, and wakes sleeping threads.
    pub fn raise(&self) {
        let door = self.signal.door.lock().unwrap_or_else(PoisonError::into_inner);
        self.signal.raised.store(true, Ordering::Relaxed);
        drop(door);
        self.signal.bell.notify_all();
    }

    pub fn left(&self) -> Duration {
        if self.is_raised() { Duration::ZERO } else { self.until.saturating_duration_since(Instant::now()) }
    }

    /// Sleeps until the phase is over, at most for `longest`.
    ///
    /// Threads that only watch should sleep long: with as many busy threads as CPUs, each wake-up takes CPU time,
    /// caches and TLB entries from one of them.
    pub fn rest(&self, longest: Duration) {
        let door = self.signal.door.lock().unwrap_or_else(PoisonError::into_inner);
        let sleep = |span| self.signal.bell.wait_timeout_while(door, span, |()| !self.is_raised());
        drop(sleep(longest.min(self.left())));
    }

    fn is_raised(&self) -> bool {
        self.signal.raised.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raised_stop_is_over_for_every_clone() {
        let stop = Stop::after(Duration::from_secs(3600));
        let other = stop.clone();
        assert!(!other.is_over());
        stop.raise();
        assert!(other.is_over());
        assert_eq!(other.left(), Duration::ZERO);
    }

    #[test]
    fn time_alone_ends_it() {
        assert!(Stop::after(Duration::ZERO).is_over());
    }

    #[test]
    fn who_rests_is_woken_by_the_signal_and_by_the_end_of_the_time() {
        const LONG: Duration = Duration::from_secs(300);
        let start = Instant::now();
        let stop = Stop::after(LONG);
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                tell.send(()).expect("somebody waits");
                stop.rest(LONG);
            });
            told.recv().expect("it is about to rest");
            std::thread::sleep(Duration::from_millis(50));
            stop.raise();
        });
        stop.rest(LONG);
        Stop::after(Duration::from_millis(1)).rest(LONG);
        Stop::after(LONG).rest(Duration::from_millis(1));
        assert!(start.elapsed() < LONG, "nobody was woken");
    }
}
