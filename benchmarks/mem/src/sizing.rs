//! How large a ring must be to be one of memory, and how far apart its nodes.

use seatrial_model::machine::{Known, LastLevelCache, Machine};

use crate::sizes;

/// Times the last-level cache that a ring of memory has. A ring that is visited for a part of a lap, with other data in
/// between, is hardly in the caches at all; the rest is for a cache larger than the system tells.
pub const TIMES_CACHE: u64 = 4;

/// The least that a ring of memory has, in bytes.
pub const LEAST: u64 = 1 << 20;

/// Size of a ring of memory where nobody knows a cache, in bytes.
const WITHOUT_CACHE_FACTS: u64 = 1 << 30;

/// Length of a cache line where nobody tells, in bytes: that of every x86-64 and of most Arm processors.
const USUAL_LINE: u64 = 64;

/// The longest line of any cache in bytes, so that no two nodes of a ring share one.
pub fn line(machine: &Machine) -> u64 {
    let lines = machine.caches.instances.iter().filter_map(|cache| cache.line_bytes);
    let longest = lines.filter(|line| line.is_power_of_two()).max().map_or(USUAL_LINE, u64::from);
    longest.clamp(USUAL_LINE, 4096)
}

/// The largest last-level cache that one of `cpus` has: a single thread chases, so caches do not add up.
pub fn cache(machine: &Machine, cpus: &[u32]) -> Known<LastLevelCache> {
    let caches = cpus.iter().map(|cpu| machine.last_level_cache(&[*cpu]));
    let rank = |cache: &Known<LastLevelCache>| cache.known().map(|cache| cache.bytes);
    caches.max_by_key(rank).unwrap_or_else(|| Known::unknown("no CPU is known"))
}

/// The size in bytes that a ring of memory needs beside `cache`, or the largest one below that `fits`; none when not even
/// [`LEAST`] does.
pub fn ring(cache: &Known<LastLevelCache>, fits: impl Fn(u64) -> bool) -> Option<u64> {
    let wanted = match cache {
        Known::Known(cache) => sizes::at_least((TIMES_CACHE * cache.bytes).max(LEAST)),
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
        assert_eq!(ring(&cache(30 << 20), |size| size < LEAST), None);
    }
}
