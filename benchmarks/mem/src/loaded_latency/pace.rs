//! The pace of the loaders: the current order, and when the next block is due.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadPace {
    FlatOut,
    /// One block every so many nanoseconds.
    Every(u64),
    /// Idle but awake: a sleeping core would change the clock of the others.
    Pause,
    Over,
}

#[derive(Debug)]
pub struct PaceCell(AtomicU64);

const FLAT_OUT: u64 = 0;
const PAUSE: u64 = u64::MAX - 1;
const OVER: u64 = u64::MAX;

impl PaceCell {
    pub fn new(pace: LoadPace) -> Self {
        Self(AtomicU64::new(word(pace)))
    }

    pub fn set(&self, pace: LoadPace) {
        self.0.store(word(pace), Ordering::Release);
    }

    pub fn get(&self) -> LoadPace {
        match self.0.load(Ordering::Acquire) {
            FLAT_OUT => LoadPace::FlatOut,
            PAUSE => LoadPace::Pause,
            OVER => LoadPace::Over,
            period => LoadPace::Every(period),
        }
    }
}

fn word(pace: LoadPace) -> u64 {
    match pace {
        LoadPace::FlatOut => FLAT_OUT,
        LoadPace::Every(period) => period.clamp(1, PAUSE - 1),
        LoadPace::Pause => PAUSE,
        LoadPace::Over => OVER,
    }
}

impl LoadPace {
    /// The pace at which `loaders`, each with blocks of `block_bytes`, together move `percent` of `full` bytes per
    /// nanosecond.
    pub fn share(percent: u64, full: f64, loaders: usize, block_bytes: u64) -> Self {
        match percent {
            0 => Self::Pause,
            100.. => Self::FlatOut,
            _ => {
                let wanted = full * percent as f64 / 100.0;
                Self::Every((block_bytes as f64 * loaders as f64 / wanted) as u64)
            }
        }
    }
}

/// Due time of the next block, after one that was due at `due` and began at `began`. A late loader does not catch up,
/// which would cause a burst above its pace.
pub fn next_due(due: u64, began: u64, period: u64) -> u64 {
    due.saturating_add(period).max(began)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_tells_what_was_set() {
        let cell = PaceCell::new(LoadPace::Pause);
        for pace in [LoadPace::Pause, LoadPace::FlatOut, LoadPace::Every(1234), LoadPace::Over] {
            cell.set(pace);
            assert_eq!(cell.get(), pace);
        }
        cell.set(LoadPace::Every(0));
        assert_eq!(cell.get(), LoadPace::Every(1), "the shortest period is not flat out by accident");
    }

    #[test]
    fn a_share_of_the_full_rate_becomes_a_period() {
        // Half of 20 B/ns over four loaders: 2.5 B/ns each, a block of 16 KiB every 6553.6 ns.
        assert_eq!(LoadPace::share(50, 20.0, 4, 16 << 10), LoadPace::Every(6553));
        assert_eq!(LoadPace::share(0, 20.0, 4, 16 << 10), LoadPace::Pause);
        assert_eq!(LoadPace::share(100, 20.0, 4, 16 << 10), LoadPace::FlatOut);
    }

    #[test]
    fn who_is_late_does_not_catch_up() {
        assert_eq!(next_due(1000, 1010, 500), 1500);
        assert_eq!(next_due(1000, 9000, 500), 9000);
    }
}
