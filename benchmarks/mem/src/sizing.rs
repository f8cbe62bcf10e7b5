//! Size and line length of a ring that measures memory.

use seatrial_model::Nanos;
use seatrial_model::machine::{Known, LastLevelCache, Machine};

use crate::sizes;

/// Least size of a memory ring in last-level caches. A ring visited for part of a lap, with other data in between, is
/// hardly cached at all; the margin is for caches larger than the system reports.
pub const TIMES_CACHE: u64 = 4;

/// Least size of a memory ring, in bytes.
pub const LEAST: u64 = 1 << 20;

/// Time after which a worker counts as hung that prepares memory, with `work` of it on idle cores. Hypervisors hand out memory
/// slowly when they have to free it first, and a sound machine with busy neighbours takes many times as long.
pub fn prepare_time(work: Nanos) -> Nanos {
    Nanos::secs(120).plus(Nanos(work.get().saturating_mul(20)))
}

/// Size of a memory ring when no cache behind the second level is known, in bytes.
const WITHOUT_CACHE_FACTS: u64 = 1 << 30;

/// Cache line length when it is not reported, in bytes: that of every x86-64 and most Arm processors.
const USUAL_LINE: u64 = 64;

/// The longest line of any cache in bytes, so that no two pointers of a ring share a line.
pub fn line(machine: &Machine) -> u64 {
    let lines = machine.caches.instances.iter().filter_map(|cache| cache.line_bytes);
    let longest = lines.filter(|line| line.is_power_of_two()).max().map_or(USUAL_LINE, u64::from);
    longest.clamp(USUAL_LINE, 4096)
}

/// The largest last-level cache of one of `cpus`: a single thread chases, so caches do not add up.
pub fn cache(machine: &Machine, cpus: &[u32]) -> Known<LastLevelCache> {
    let caches = cpus.iter().map(|cpu| machine.last_level_cache(&[*cpu]));
    let rank = |cache: &Known<LastLevelCache>| cache.known().map(|cache| cache.bytes);
    caches.max_by_key(rank).unwrap_or_else(|| Known::unknown("no CPU is known"))
}

/// Size in bytes of a memory ring for `cache`, or the largest smaller one that `fits`; `None` if not even [`LEAST`]
/// fits.
pub fn ring(cache: &Known<LastLevelCache>, fits: impl Fn(u64) -> bool) -> Option<u64> {
    let wanted = match cache {
        Known::Known(cache) if cache.level >= 3 => sizes::at_least((TIMES_CACHE * cache.bytes).max(LEAST)),
        // A cache of the whole chip, and one that a hypervisor hides, is in no file.
        Known::Known(cache) => sizes::at_least((TIMES_CACHE * cache.bytes).max(WITHOUT_CACHE_FACTS)),
        Known::Unknown(_) => WITHOUT_CACHE_FACTS,
    };
    sizes::sizes(wanted).into_iter().rfind(|size| fits(*size)).filter(|size| *size >= LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(bytes: u64) -> Known<LastLevelCache> {
        Known::Known(LastLevelCache { level: 3, bytes, disagreement: None })
    }

    #[test]
    fn a_ring_is_four_times_the_cache_or_what_fits() {
        assert_eq!(ring(&cache(30 << 20), |_| true), Some(128 << 20));
        assert_eq!(ring(&cache(30 << 20), |size| size <= 100 << 20), Some(96 << 20));
        assert_eq!(ring(&cache(1 << 10), |_| true), Some(LEAST));
        assert_eq!(ring(&Known::unknown("hidden"), |_| true), Some(1 << 30));
        let second = Known::Known(LastLevelCache { level: 2, bytes: 1 << 20, disagreement: None });
        assert_eq!(ring(&second, |_| true), Some(1 << 30));
        assert_eq!(ring(&cache(30 << 20), |size| size < LEAST), None);
    }
}
