//! How many copies fill a slice, and their split into the pieces that are timed.

use seatrial_model::Nanos;

/// Most commands in a held stream: a driver's queue holds about 1,000, and queueing more blocks forever while the
/// gate is closed.
pub const MOST_QUEUED: usize = 240;

/// Most pieces per slice, which are compared between the streams of a cell.
pub const PIECES: usize = 8;

/// The pieces of a slice, all of equally many copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    pub pieces: usize,
    pub each: usize,
}

impl Split {
    /// Rounds up to full pieces, at most `most`.
    pub fn of(copies: usize, most: usize) -> Self {
        let pieces = copies.clamp(1, most);
        Self { pieces, each: copies.div_ceil(pieces) }
    }

    pub const fn copies(self) -> usize {
        self.pieces * self.each
    }
}

/// Copies that fill a slice when one takes `one` nanoseconds, as far as a held stream can queue them.
pub fn copies_in(slice: Nanos, one: f64) -> usize {
    ((slice.get() as f64 / one.max(1.0)) as usize).clamp(1, MOST_QUEUED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_hold_all_copies_and_are_at_most_eight() {
        for (copies, pieces, each) in [(1, 1, 1), (8, 8, 1), (9, 8, 2), (240, 8, 30)] {
            let split = Split::of(copies, PIECES);
            assert_eq!(split, Split { pieces, each });
            assert!(split.copies() >= copies);
        }
    }

    #[test]
    fn a_slice_is_filled_within_what_a_stream_can_queue() {
        let slice = Nanos(1_000_000);
        for (one, copies) in [(100_000.0, 10), (2_000_000.0, 1), (1.0, MOST_QUEUED), (0.0, MOST_QUEUED)] {
            assert_eq!(copies_in(slice, one), copies, "one copy in {one} ns");
        }
    }
}
