//! Layout of messages in the registered memory.

use seatrial_sys::verbs::{GRH_BYTES, Transport, VerbKind};

use super::{RdmaConfig, RemoteCompletion};

/// Alignment of slots: a cache line.
const LINE: u64 = 64;

/// Alignment of slots for messages of a page and more. A card splits writes at boundaries of pages and bus packets,
/// and soft-RoCE copies and sums page by page: unaligned messages take more pieces.
const PAGE: u64 = 4096;

/// Bytes beside a message at most.
pub const BESIDE: u64 = if GRH_BYTES > WORD as usize { GRH_BYTES as u64 } else { WORD };

/// Bytes of a number beside a message.
const WORD: u64 = 8;

/// Bytes that are sent for verification after the clock, at most: a slow path must finish within seconds.
const LAST_BYTES: u64 = 4 << 20;

/// A side of a queue pair's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Data that this end sends and the peer reads.
    Out,
    /// Data that comes to this end.
    In,
}

/// Each queue pair has a side to send from and one to receive into, each of so many slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub pairs: u64,
    /// Slots of a side.
    pub slots: u64,
    /// Bytes of a slot.
    pub stride: u64,
}

impl Layout {
    /// That of a case; it is the same at both ends.
    pub fn of(config: &RdmaConfig) -> Self {
        if let Some(bytes) = config.memory {
            return Self { pairs: 1, slots: 1, stride: (bytes / 2).next_multiple_of(LINE) };
        }
        // The results of all atomics in flight are adjacent, and so are the words that they work on.
        let adjacent = match config.method.verb {
            VerbKind::Atomic => WORD * config.words.max(config.depth as u64),
            _ => 0,
        };
        Self::new(config.queue_pairs as u64, config.largest().max(adjacent), beside(config), config.region)
    }

    /// For messages of up to `largest` bytes with so many beside each, which together walk through `region` bytes of each side.
    pub fn new(pairs: u64, largest: u64, beside: u64, region: u64) -> Self {
        let stride = (largest + beside).next_multiple_of(if largest < PAGE { LINE } else { PAGE });
        Self { pairs, slots: (region / pairs.max(1) / stride).max(1), stride }
    }

    /// Slots of a side that are written once more after the clock: all of them, where that is not too much.
    pub fn last_slots(&self) -> u64 {
        (LAST_BYTES / (self.pairs.max(1) * self.stride)).clamp(1, self.slots)
    }

    /// Bytes of one side of a queue pair.
    pub fn side(&self) -> u64 {
        self.slots * self.stride
    }

    pub fn bytes(&self) -> u64 {
        self.pairs * 2 * self.side()
    }

    /// Where a slot begins.
    pub fn at(&self, pair: usize, side: Side, slot: u64) -> u64 {
        let sides = 2 * pair as u64 + u64::from(side == Side::In);
        sides * self.side() + slot * self.stride
    }
}

/// Bytes of a slot besides its message.
fn beside(config: &RdmaConfig) -> u64 {
    match (config.transport, config.remote_completion()) {
        // The global header before a datagram.
        (Transport::Ud, _) => GRH_BYTES as u64,
        // How large the messages are, where the far end looks at memory; what was read to prove that one came.
        (_, RemoteCompletion::Polled) => WORD,
        _ if config.fence => WORD,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_slots_overlap_and_none_reaches_beyond_the_end() {
        let all = [(1, 1, 40, 0), (3, 65_536, 0, 0), (4, 4096, 8, 1 << 20), (2, 100, 40, 1000)];
        for (pairs, largest, beside, region) in all {
            let layout = Layout::new(pairs, largest, beside, region);
            let mut places: Vec<u64> = Vec::new();
            for pair in 0..pairs as usize {
                for side in [Side::Out, Side::In] {
                    places.extend((0..layout.slots).map(|slot| layout.at(pair, side, slot)));
                }
            }
            places.sort_unstable();
            assert!(places.windows(2).all(|two| two[1] - two[0] >= largest + beside));
            assert!(places.last().expect("some") + layout.stride <= layout.bytes());
            let line = if largest < 4096 { 64 } else { 4096 };
            assert!(places.iter().all(|place| place % line == 0));
        }
    }

    #[test]
    fn a_region_is_walked_through_by_all_pairs_together_and_whole() {
        let layout = Layout::new(4, 4096, 0, 1 << 20);
        assert_eq!((layout.side(), layout.slots), (1 << 18, 64), "{layout:?}");
        assert_eq!(Layout::new(4, 4096, 0, 0).slots, 1);
    }
}
