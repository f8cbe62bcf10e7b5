//! How much of a file system a test may take: what is free, less a reserve for everybody else.
//!
//! A file system that is filled to its last byte stops what else writes to it: the system's log, the jobs of others, and the
//! record of this very run.

use seatrial_model::Bytes;
use seatrial_model::machine::FileSystem;

/// What is left free at least; of a small file system a fifth.
const LEAST: u64 = 1 << 30;

/// What is left free at most: nobody needs a twentieth of terabytes while a test of seconds runs.
const MOST: u64 = 4 << 30;

/// Bytes that stay free of a file system of `size` bytes: 5 % of it, but no less and no more than that.
pub fn reserve(size: u64) -> u64 {
    (size / 20).clamp(LEAST, MOST).min(size / 5)
}

/// The free bytes and the size of a file system, as far as the inventory knows them.
pub fn room_of(found: &FileSystem) -> Option<(u64, u64)> {
    let free = *found.available_bytes.known()?;
    Some((free, found.size_bytes.known().copied().unwrap_or(0)))
}

/// Why `wanted` bytes do not fit into the `free` ones of a file system of `size` bytes at `place`, if they do not.
pub fn lacking(wanted: u64, free: u64, size: u64, place: &str) -> Option<String> {
    let reserve = reserve(size);
    // On a file system that others filled a small test takes nothing from anybody.
    let usable = free.saturating_sub(reserve).max(free / 10);
    (wanted > usable).then(|| {
        format!(
            "the files take {}; {place} has {} free, and {} of that is kept free for others: free space, or lower size=",
            Bytes(wanted).rounded(),
            Bytes(free).rounded(),
            Bytes(reserve).rounded()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn a_gibibyte_or_a_twentieth_stays_free_and_of_a_small_one_a_fifth() {
        assert_eq!(reserve(50 * GIB), 50 * GIB / 20);
        assert_eq!(reserve(10 * GIB), GIB);
        assert_eq!(reserve(GIB << 20), 4 * GIB);
        assert_eq!(reserve(GIB), GIB / 5);
        assert_eq!(lacking(GIB / 2, GIB + GIB / 2, 10 * GIB, "/scratch"), None);
        assert_eq!(
            lacking(GIB, GIB + GIB / 10, 10 * GIB, "/scratch").as_deref(),
            Some(
                "the files take 1 GiB; /scratch has 1.1 GiB free, and 1 GiB of that is kept free for others: free space, or \
                 lower size="
            )
        );
        // Free space that is below the reserve already: a tenth of it.
        assert!(lacking(GIB / 4, GIB / 2, 10 * GIB, "/scratch").is_some());
        assert_eq!(lacking(GIB / 32, GIB / 2, 10 * GIB, "/scratch"), None);
    }
}
