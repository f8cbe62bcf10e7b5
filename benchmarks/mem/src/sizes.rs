//! The sizes of a sweep, and which of them represent which cache.

use seatrial_model::machine::{CacheKind, Machine};

/// Smallest size: less than any L1 cache, with enough lines for a ring.
const SMALLEST: u64 = 4 << 10;

/// Least ratio of a size to the next smaller cache, to represent a cache's latency.
const TIMES_BELOW: u64 = 2;

/// Divisor of a cache for the largest size that represents its latency: other data use a part of the cache, and lines
/// with colliding addresses are evicted before it is full.
const PART: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Level; 1 is nearest to the core.
    pub level: u32,
    pub bytes: u64,
    /// Size well inside this cache and well above the next smaller one, if the sweep has such a size.
    pub at: Option<u64>,
}

/// All sizes of a sweep up to `top`: 4 KiB, 6 KiB, 8 KiB, 12 KiB and so on, two per doubling.
pub fn sizes(top: u64) -> Vec<u64> {
    let doublings = std::iter::successors(Some(SMALLEST), |size| size.checked_mul(2));
    doublings.flat_map(|size| [size, size / 2 * 3]).take_while(|size| *size <= top).collect()
}

pub fn at_least(bytes: u64) -> u64 {
    let doublings = std::iter::successors(Some(SMALLEST), |size| size.checked_mul(2));
    doublings.flat_map(|size| [size, size / 2 * 3]).find(|size| *size >= bytes).unwrap_or(SMALLEST)
}

/// The data caches of `cpu`, from the core outwards, with the sizes of `sizes` that represent them.
pub fn levels(machine: &Machine, cpu: u32, sizes: &[u64]) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    for level in 1..=4 {
        let of_cpu = |cache: &&seatrial_model::machine::Cache| {
            cache.level == level && cache.kind != CacheKind::Instruction && cache.cpus.contains(&cpu)
        };
        let Some(cache) = machine.caches.instances.iter().find(of_cpu) else { continue };
        let below = levels.last().map_or(0, |inner| TIMES_BELOW * inner.bytes);
        let bytes = cache.size_bytes;
        let at = sizes.iter().rfind(|size| **size <= bytes / PART && **size >= below).copied();
        levels.push(Level { level, bytes, at });
    }
    levels
}

#[cfg(test)]
mod tests {
    use seatrial_model::machine::{Cache, Caches};

    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    #[test]
    fn a_ladder_has_two_sizes_in_a_doubling() {
        assert_eq!(sizes(24 * KIB), [4, 6, 8, 12, 16, 24].map(|size| size * KIB));
        assert_eq!(sizes(5 * KIB), [4 * KIB]);
        assert_eq!((at_least(100 * MIB), at_least(96 * MIB)), (128 * MIB, 96 * MIB));
    }

    fn with(sizes: &[(u32, u64)]) -> Machine {
        let instance = |(level, size_bytes): &(u32, u64)| Cache {
            level: *level,
            size_bytes: *size_bytes,
            cpus: vec![3],
            ..Cache::default()
        };
        let instruction = Cache { kind: CacheKind::Instruction, ..instance(&(1, 64 * KIB)) };
        let instances = std::iter::once(instruction).chain(sizes.iter().map(instance)).collect();
        Machine { caches: Caches { instances, ..Caches::default() }, ..Machine::default() }
    }

    #[test]
    fn a_cache_is_told_by_a_size_well_inside_it_and_well_outside_the_one_before() {
        let machine = with(&[(1, 48 * KIB), (2, 2 * MIB), (3, 32 * MIB)]);
        let at: Vec<_> = levels(&machine, 3, &sizes(128 * MIB)).iter().map(|level| level.at).collect();
        assert_eq!(at, [Some(24 * KIB), Some(MIB), Some(16 * MIB)]);
        assert!(levels(&machine, 0, &sizes(128 * MIB)).is_empty(), "another CPU's caches");
    }

    #[test]
    fn a_cache_hardly_larger_than_the_one_before_has_no_size_of_its_own() {
        let machine = with(&[(1, 32 * KIB), (2, 1024 * KIB), (3, 1408 * KIB)]);
        let third = levels(&machine, 3, &sizes(128 * MIB))[2];
        assert_eq!((third.level, third.at), (3, None));
    }
}
