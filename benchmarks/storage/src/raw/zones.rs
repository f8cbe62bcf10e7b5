//! The zones of a disk that are read: five windows from its first sector to its last.

pub const ZONES: u64 = 5;

/// Divisor of the disk for the size of a window; small enough that the two ends of a window do not differ.
const SHARE: u64 = 16;

/// Least size of a window on small disks, so that the same blocks are not read again and again.
const ENOUGH: u64 = 1 << 30;

/// Zones start at multiples of this, which every sector size divides.
const ALIGNED: u64 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Position between the first window and the last, in percent.
    pub position: u64,
    pub start: u64,
    pub blocks: u64,
}

/// The zones of a disk of `size` bytes, read in blocks of `block`; `None` when a zone has no room for a block.
pub fn zones(size: u64, block: u64) -> Option<Vec<Zone>> {
    let window = (size / SHARE).max(ENOUGH.min(size / ZONES));
    // Alignment may take up to a page off the last start.
    let blocks = window / block;
    if blocks == 0 {
        return None;
    }
    let last = (size - blocks * block) / ALIGNED * ALIGNED;
    let zone = |number: u64| {
        let start = last / (ZONES - 1) * number / ALIGNED * ALIGNED;
        let start = if number == ZONES - 1 { last } else { start };
        Zone { position: 100 * number / (ZONES - 1), start, blocks }
    };
    Some((0..ZONES).map(zone).collect())
}

/// The whole disk as one window; `None` when it has no room for two blocks.
pub fn whole(size: u64, block: u64) -> Option<Zone> {
    let blocks = size / block;
    (blocks > 1).then_some(Zone { position: 0, start: 0, blocks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_reach_from_the_first_sector_to_the_last_and_never_beyond() {
        const MIB: u64 = 1 << 20;
        for size in [5 * MIB, 64 * MIB, 64 * MIB + 512, 7_999_999_488, 20_000_588_955_648] {
            let zones = zones(size, MIB).expect("large enough");
            assert_eq!(zones.len(), 5);
            assert_eq!(zones.iter().map(|zone| zone.position).collect::<Vec<_>>(), [0, 25, 50, 75, 100]);
            assert_eq!(zones[0].start, 0);
            let end = zones[4].start + zones[4].blocks * MIB;
            assert!(end <= size && size - end < ALIGNED, "{size}: {zones:?}");
            for pair in zones.windows(2) {
                assert!(pair[0].start + pair[0].blocks * MIB <= pair[1].start, "{size}: {zones:?}");
            }
            assert!(zones.iter().all(|zone| zone.start % ALIGNED == 0));
        }
        assert_eq!(zones(4 * MIB, MIB), None, "five zones of a block each do not fit");
    }
}
