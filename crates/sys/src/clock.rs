//! The clock that everything is measured with, and what a look at it costs.
//!
//! It is `CLOCK_MONOTONIC`, not `CLOCK_MONOTONIC_RAW`. Its rate is disciplined to true seconds (NTP slews it by at
//! most 500 ppm and never steps it), while the raw one keeps the error of the oscillator or of its calibration for
//! ever; clock_nanosleep(2) accepts it, so that deadlines and measurements speak of the same time; and it is read
//! without a system call on every kernel, the raw one only since Linux 5.3. [`std::time::Instant`] is the same clock.

use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

/// Where the kernel tells what it reads the clock from.
pub const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

const CLOCK: ClockId = ClockId::Monotonic;
const NANOS: u64 = 1_000_000_000;

/// Nanoseconds since some moment in the past, the same for all processes of this boot.
pub fn now_ns() -> u64 {
    nanos(clock_gettime(CLOCK))
}

/// Sleeps until [`now_ns`] reaches `deadline_ns`, through signals; returns at once if it already has.
pub fn sleep_until_ns(deadline_ns: u64) {
    let at = Timespec {
        tv_sec: i64::try_from(deadline_ns / NANOS).unwrap_or(i64::MAX),
        tv_nsec: (deadline_ns % NANOS).try_into().unwrap_or(0),
    };
    while clock_nanosleep_absolute(CLOCK, &at) == Err(Errno::INTR) {}
}

fn nanos(time: Timespec) -> u64 {
    // Neither is negative for this clock.
    time.tv_sec.unsigned_abs() * NANOS + time.tv_nsec.unsigned_abs()
}

/// What a look at the clock costs and how finely it tells time, measured here and now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Time one look takes in nanoseconds: the cheapest of many batches.
    pub cost_ns: f64,
    /// The smallest step between two looks that differ, in nanoseconds. It holds the cost of a look.
    pub step_ns: u64,
    /// The resolution the kernel claims in nanoseconds (clock_getres(2)).
    pub claimed_ns: u64,
}

impl Calibration {
    /// Times the clock against itself; takes a few milliseconds.
    pub fn measure() -> Self {
        const BATCHES: usize = 32;
        const LOOKS: u32 = 1000;
        let batch = || {
            let start = now_ns();
            let last = (0..LOOKS).fold(start, |_, _| now_ns());
            (last - start) as f64 / f64::from(LOOKS)
        };
        // The cheapest batch: interruptions only ever add.
        let cost_ns = (0..BATCHES).map(|_| batch()).fold(f64::INFINITY, f64::min);
        let step = || {
            let start = now_ns();
            std::iter::repeat_with(now_ns).find(|&now| now > start).unwrap_or(start) - start
        };
        let step_ns = (0..LOOKS).map(|_| step()).min().unwrap_or(0);
        Self { cost_ns, step_ns, claimed_ns: nanos(clock_getres(CLOCK)) }
    }

    /// What one reading can be wrong by, in nanoseconds: the coarser of cost and step.
    pub fn precision_ns(&self) -> f64 {
        self.cost_ns.max(self.step_ns as f64)
    }

    /// The shortest duration fit to be reported in nanoseconds: a hundred times the precision, so that the clock
    /// itself adds at most one percent.
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
        // Read inside the interval that `ours` spans, so it cannot be longer than it.
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
