//! When lost segments hold a transfer over TCP back.

/// Share and least number of lost segments that no healthy path has: at this rate congestion control limits the flow,
/// however busy the ends or full the buffers are between two losses.
const LOSSY: f64 = 0.006;
const FEWEST_LOST: u64 = 10;

/// Whether so many lost segments, a share 0 to 1 of all, hold a transfer back.
pub fn is_lossy(share: f64, segments: u64) -> bool {
    share >= LOSSY && segments >= FEWEST_LOST
}
