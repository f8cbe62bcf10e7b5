//! The clock of all measurements, and the cost of reading it.
//!
//! It is `CLOCK_MONOTONIC`, not `CLOCK_MONOTONIC_RAW`: NTP slews its rate to true seconds (by at most 500 ppm) and
//! never steps it, while the raw clock keeps the error of the oscillator; clock_nanosleep(2) accepts it; and every
//! kernel reads it without a system call, the raw clock only since Linux 5.3. [`std::time::Instant`] is the same
//! clock.

use std::time::SystemTime;

use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

pub const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

const CLOCK: ClockId = ClockId::Monotonic;
const NANOS: u64 = 1_000_000_000;

/// Nanoseconds since some moment in the past, the same for all processes of this boot.
#[inline]
pub fn now_ns() -> u64 {
    nanos(clock_gettime(CLOCK))
}

/// Nanoseconds since 1970 by the time of day of this machine, which can be set and jump: for comparisons of it alone.
pub fn time_of_day_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Sleeps until [`now_ns`] reaches `deadline_ns`, also across signals.
pub fn sleep_until_ns(deadline_ns: u64) {
    let at = Timespec {
        tv_sec: i64::try_from(deadline_ns / NANOS).unwrap_or(i64::MAX),
        tv_nsec: (deadline_ns % NANOS).try_into().unwrap_or(0),
    };
    while clock_nanosleep_absolute(CLOCK, &at) == Err(Errno::INTR) {}
}

#[inline]
fn nanos(time: Timespec) -> u64 {
    // Neither field is negative for this clock.
    time.tv_sec.unsigned_abs() * NANOS + time.tv_nsec.unsigned_abs()
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Nanoseconds of one clock read: the cheapest of many batches.
    pub cost_ns: f64,
    /// The smallest step between two reads that differ, in nanoseconds, the cost of a read included.
    pub step_ns: u64,
    pub claimed_ns: u64,
}

impl Calibration {
    pub fn measure() -> Self {
        const BATCHES: usize = 32;
        const LOOKS: u32 = 1000;
        let batch = || {
            let start = now_ns();
            let last = (0..LOOKS).fold(start, |_, _| now_ns());
            (last - start) as f64 / f64::from(LOOKS)
        };
        // The cheapest batch: interruptions only add time.
        let cost_ns = (0..BATCHES).map(|_| batch()).fold(f64::INFINITY, f64::min);
        let step = || {
            let start = now_ns();
            std::iter::repeat_with(now_ns).find(|&now| now > start).unwrap_or(start) - start
        };
        let step_ns = (0..LOOKS).map(|_| step()).min().unwrap_or(0);
        Self { cost_ns, step_ns, claimed_ns: nanos(clock_getres(CLOCK)) }
    }

    /// Error of one reading in nanoseconds: the larger of cost and step.
    pub fn precision_ns(&self) -> f64 {
        self.cost_ns.max(self.step_ns as f64)
    }

    /// The shortest duration to report, in nanoseconds: 100 times the precision, so that the clock adds at most 1 %.
    pub fn shortest_ns(&self) -> u64 {
        (100.0 * self.precision_ns()).ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn never_goes_backwards_and_agrees_with_the_standard_library() {
        let (ours, theirs) = (now_ns(), Instant::now());
        let mut last = ours;
        for _ in 0..10_000 {
            let now = now_ns();
            assert!(now >= last);
            last = now;
        }
        // Read inside the interval that `ours` spans, so it cannot be longer.
        let inner = theirs.elapsed();
        assert!(inner <= Duration::from_nanos(now_ns() - ours));
    }

    #[test]
    fn never_wakes_before_the_deadline() {
        let deadline = now_ns() + 2_000_000;
        sleep_until_ns(deadline);
        assert!(now_ns() >= deadline);
        sleep_until_ns(0);
    }

    #[test]
    fn calibration_is_possible_and_positive() {
        let found = Calibration::measure();
        assert!(found.cost_ns > 0.0 && found.cost_ns.is_finite());
        assert!(found.step_ns > 0 && found.claimed_ns > 0);
        assert!(found.shortest_ns() as f64 >= 100.0 * found.cost_ns);
    }

    #[test]
    fn the_coarser_of_cost_and_step_decides() {
        let coarse = Calibration { cost_ns: 20.0, step_ns: 1_000_000, claimed_ns: 1_000_000 };
        assert_eq!(coarse.shortest_ns(), 100_000_000);
        let fine = Calibration { cost_ns: 20.5, step_ns: 1, claimed_ns: 1 };
        assert_eq!(fine.shortest_ns(), 2050);
    }
}
