//! The signal that ends a phase.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Ends a phase: when its time is over, or when the supervisor says so. Clones share the signal.
#[derive(Clone, Debug)]
pub struct Stop {
    raised: Arc<AtomicBool>,
    until: Instant,
}

impl Stop {
    /// A stop after `span` from now.
    pub fn after(span: Duration) -> Self {
        Self { raised: Arc::default(), until: Instant::now() + span }
    }

    /// Whether the phase is over. One relaxed load and one reading of the clock.
    pub fn is_over(&self) -> bool {
        self.raised.load(Ordering::Relaxed) || Instant::now() >= self.until
    }

    /// Ends the phase now.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::Relaxed);
    }

    /// Time left; zero when it is over.
    pub fn left(&self) -> Duration {
        if self.raised.load(Ordering::Relaxed) {
            Duration::ZERO
        } else {
            self.until.saturating_duration_since(Instant::now())
        }
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
}
