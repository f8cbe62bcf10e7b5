//! The schedule of a flow's datagrams.

/// How far a sender may fall behind its schedule and still catch up. A larger delay is not made up: a burst of that
/// size would cause losses that are no fault of the path.
pub const CATCH_UP_NS: u64 = 20_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Time between two datagrams; `None` without a schedule.
    interval_ns: Option<f64>,
    start_ns: u64,
    /// Time by which the schedule was moved, because it could not be kept.
    pub slipped_ns: u64,
    pub behind_ns: u64,
}

impl Pace {
    /// `rate` bytes per second in messages of `message` bytes, the first one at `start_ns`.
    pub fn new(rate: Option<f64>, message: usize, start_ns: u64) -> Self {
        let interval_ns = rate.map(|rate| message as f64 / rate * 1e9);
        Self { interval_ns, start_ns, slipped_ns: 0, behind_ns: 0 }
    }

    pub fn interval_ns(&self) -> Option<f64> {
        self.interval_ns
    }

    /// How many datagrams are due at `now_ns` when `sent` were sent. Moves the schedule if it is too far behind.
    pub fn due(&mut self, now_ns: u64, sent: u64) -> u64 {
        let Some(interval) = self.interval_ns else { return u64::MAX };
        let next = self.next_ns(sent);
        if now_ns < next {
            return 0;
        }
        let mut behind = now_ns - next;
        self.behind_ns = self.behind_ns.max(behind);
        if behind > CATCH_UP_NS {
            self.slipped_ns += behind - CATCH_UP_NS;
            behind = CATCH_UP_NS;
        }
        (behind as f64 / interval) as u64 + 1
    }

    pub fn next_ns(&self, sent: u64) -> u64 {
        let after = self.interval_ns.map_or(0.0, |interval| sent as f64 * interval);
        self.start_ns + self.slipped_ns + after as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_that_looks_often_sends_one_each_interval() {
        let mut pace = Pace::new(Some(1e6), 1000, 5_000);
        let mut sent = 0;
        assert_eq!(pace.due(4_999, 0), 0);
        for now in (5_000..10_005_000).step_by(1_000) {
            sent += pace.due(now, sent);
        }
        assert_eq!((sent, pace.slipped_ns), (10, 0));
        assert_eq!(pace.next_ns(sent), 10_005_000);
    }

    #[test]
    fn a_sender_that_was_away_catches_up_as_far_as_it_may() {
        let mut pace = Pace::new(Some(1e6), 1000, 0);
        assert_eq!(pace.due(10_000_000, 0), 11, "a little late: all of it");
        let mut late = Pace::new(Some(1e6), 1000, 0);
        let due = late.due(500_000_000, 0);
        assert_eq!((due, late.behind_ns), (21, 500_000_000));
        assert_eq!(late.slipped_ns, 480_000_000, "the rest is given up");
        assert_eq!(late.due(500_000_000, due), 0);
    }

    #[test]
    fn without_a_rate_there_is_always_one_due() {
        assert_eq!(Pace::new(None, 1000, 9).due(9, 1 << 50), u64::MAX);
    }
}
