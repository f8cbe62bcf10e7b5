//! Page size, and cache sizes by sysconf(3).
#![expect(unsafe_code, reason = "sysconf")]

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheQuery {
    L1Data,
    L2,
    /// Level 3: one instance on Intel; on AMD, before glibc 2.37, all instances of a package together.
    L3,
}

/// The size of a cache in bytes; `None` where the library answers 0 or an error.
pub fn cache_bytes(cache: CacheQuery) -> Option<u64> {
    let name = match cache {
        CacheQuery::L1Data => libc::_SC_LEVEL1_DCACHE_SIZE,
        CacheQuery::L2 => libc::_SC_LEVEL2_CACHE_SIZE,
        CacheQuery::L3 => libc::_SC_LEVEL3_CACHE_SIZE,
    };
    // SAFETY: sysconf takes any number and has no memory effects.
    let bytes = unsafe { libc::sysconf(name) };
    u64::try_from(bytes).ok().filter(|&bytes| bytes > 0)
}

pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// Clock ticks per second of the CPU times in `/proc` (`USER_HZ`).
pub fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_the_library() {
        assert!(page_bytes().is_power_of_two() && page_bytes() >= 4096);
        assert!(ticks_per_second() > 0);
    }

    #[test]
    fn never_reports_a_cache_of_zero_bytes() {
        for query in [CacheQuery::L1Data, CacheQuery::L2, CacheQuery::L3] {
            assert_ne!(cache_bytes(query), Some(0));
        }
    }
}
