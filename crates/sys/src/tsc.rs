//! The clock of all measurements, read faster: by the time stamp counter of the processor (TSC), where the kernel's clock is that
//! counter too. A timed operation of 1 us holds about one read of the clock, which takes 20 to 30 ns by way of the kernel's page and 10
//! to 20 ns by the counter itself.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "reads the counter of the processor"))]

use std::sync::OnceLock;

use crate::clock::{CLOCK_SOURCE, now_ns, sleep_until_ns};
use crate::root::SysRoot;

/// How long the counter is compared with the clock at least: the readings are off by some 10 ns. The first use in a process takes so
/// long.
const COMPARED_NS: u64 = 20_000_000;

/// Readings of clock and counter together, of which the fastest counts.
const READINGS: u32 = 32;

/// The clock, set when this was made, with the rate that the kernel's clock had since the first in this process. When NTP changes that
/// rate, by at most 500 ppm, this does not follow: to be made anew for each phase.
#[derive(Clone, Copy, Debug)]
pub struct FastClock {
    /// None where the clock is read.
    tsc: Option<Tsc>,
}

#[derive(Clone, Copy, Debug)]
struct Tsc {
    both: Both,
    /// 2^-32 ns in a tick.
    rate: u64,
}

/// Counter and clock at the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Both {
    ticks: u64,
    ns: u64,
}

impl FastClock {
    pub fn new() -> Self {
        static FIRST: OnceLock<Option<Both>> = OnceLock::new();
        // Asked each time: the kernel leaves a counter that turns out to be unstable.
        let is_clock = SysRoot::live().text(CLOCK_SOURCE).is_ok_and(|source| source.trim() == "tsc");
        let first = is_clock.then(|| *FIRST.get_or_init(long_ago)).flatten();
        let tsc = first.zip(Both::read()).and_then(|(first, both)| {
            let rate = rate_between(first, both)?;
            Some(Tsc { both, rate })
        });
        Self { tsc }
    }

    /// Nanoseconds, before an operation. The processor may read the counter a little early, which lengthens the operation.
    #[inline]
    pub fn start_ns(&self) -> u64 {
        self.at(ticks)
    }

    /// Nanoseconds, behind an operation: all that the program did before has ended.
    #[inline]
    pub fn end_ns(&self) -> u64 {
        self.at(ticks_in_order)
    }

    #[inline]
    fn at(&self, ticks: impl Fn() -> Option<u64>) -> u64 {
        // Both cost time, which would be part of what is timed: only one is read.
        let Some(tsc) = &self.tsc else { return now_ns() };
        ticks().map_or_else(now_ns, |ticks| tsc.ns(ticks))
    }
}

impl Default for FastClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Tsc {
    #[inline]
    const fn ns(&self, ticks: u64) -> u64 {
        // Another core's counter may be a little behind.
        let since = ticks.saturating_sub(self.both.ticks) as u128;
        self.both.ns + ((since * self.rate as u128) >> 32) as u64
    }
}

impl Both {
    fn read() -> Option<Self> {
        let reading = || {
            let (before, ns, after) = (ticks_in_order()?, now_ns(), ticks_in_order()?);
            let took = after.checked_sub(before)?;
            Some((took, Self { ticks: before + took / 2, ns }))
        };
        let fastest = (0..READINGS).filter_map(|_| reading()).min_by_key(|(took, _)| *took);
        fastest.map(|(_, both)| both)
    }
}

/// A reading that is [`COMPARED_NS`] old when this returns.
fn long_ago() -> Option<Both> {
    let both = Both::read()?;
    sleep_until_ns(both.ns + COMPARED_NS);
    Some(both)
}

fn rate_between(first: Both, last: Both) -> Option<u64> {
    let ns = u128::from(last.ns.checked_sub(first.ns)?) << 32;
    u64::try_from(ns.checked_div(last.ticks.checked_sub(first.ticks)?.into())?).ok()
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn ticks() -> Option<u64> {
    // SAFETY: every x86-64 processor has the counter, and Linux lets programs read it unless prctl(PR_SET_TSC) forbids it, which
    // this program never asks for.
    Some(unsafe { std::arch::x86_64::_rdtsc() })
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn ticks_in_order() -> Option<u64> {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { std::arch::x86_64::_mm_lfence() };
    ticks()
}

/// The kernel reads the same counter from its page with as many instructions, so that nothing would be gained.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn ticks() -> Option<u64> {
    None
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn ticks_in_order() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_lies_between_two_of_the_clock() {
        let clock = FastClock::new();
        // Of the rate, of the two readings that set the clock, and of those here.
        let slack = 20_000;
        for _ in 0..100 {
            let (before, start, end, after) = (now_ns(), clock.start_ns(), clock.end_ns(), now_ns());
            assert!(start + slack >= before && end <= after + slack, "{before} {start} {end} {after}");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    #[test]
    fn the_rate_is_that_of_two_moments() {
        let at = |ticks, ns| Both { ticks, ns };
        let rate = rate_between(at(1000, 50), at(1000 + 2_450_000, 1_000_050)).unwrap();
        let tsc = Tsc { both: at(1000, 50), rate };
        assert!(tsc.ns(1000 + 2450 * 3_600_000_000).abs_diff(50 + 3_600_000_000_000) < 2000, "an hour");
        assert_eq!(tsc.ns(999), 50, "a counter that is behind");
        assert_eq!(rate_between(at(5, 0), at(5, 9)), None);
        assert_eq!(rate_between(at(5, 9), at(6, 0)), None);
    }
}
