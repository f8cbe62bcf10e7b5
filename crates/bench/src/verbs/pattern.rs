//! Content of messages: words from trial, queue pair, position and number of writes.

use seatrial_stats::mix;

/// What memory holds into which nothing came yet.
pub const POISON: u8 = 0xd7;

/// What makes the content of a side of a queue pair its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotStamp {
    /// A number of the trial, drawn by the end whose memory is the source.
    pub nonce: u64,
    pub pair: u64,
    /// Which part of its memory.
    pub slot: u64,
    /// How often the source was written before.
    pub generation: u64,
}

impl SlotStamp {
    fn seed(self) -> u64 {
        mix(self.nonce ^ mix(self.pair ^ mix(self.slot ^ mix(self.generation))))
    }

    /// The bytes of the content.
    pub fn fill(self, into: &mut [u8]) {
        let seed = self.seed();
        for (number, eight) in (0_u64..).zip(into.chunks_mut(8)) {
            let word = mix(seed ^ number).to_le_bytes();
            eight.copy_from_slice(&word[..eight.len()]);
        }
    }

    /// Number of leading bytes with this content.
    fn agrees(self, found: &[u8]) -> usize {
        let mut wanted = vec![0; found.len()];
        self.fill(&mut wanted);
        // Most messages match wholly, and one comparison is many times as fast as one per byte.
        if wanted == found {
            return found.len();
        }
        wanted.iter().zip(found).take_while(|(wanted, found)| wanted == found).count()
    }
}

/// Whether no data came into this memory. A few bytes may look so by chance.
fn is_untouched(found: &[u8]) -> bool {
    const PIECE: [u8; 4096] = [POISON; 4096];
    found.chunks(PIECE.len()).all(|piece| *piece == PIECE[..piece.len()])
}

/// Content of this many bytes is never all poison.
const TELLING: usize = 16;

/// What the check of a slot found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// This many bytes of content, then poison.
    Content(usize),
    Nothing,
    /// Wrong content from this byte on.
    Wrong(usize),
}

/// Looks whether a slot holds a message of one of these contents, or nothing. A message may be shorter than the slot:
/// what lies behind it is poison then.
pub fn check(stamps: &[SlotStamp], found: &[u8]) -> Found {
    if found.len() >= TELLING && is_untouched(found) {
        return Found::Nothing;
    }
    let best = stamps.iter().map(|stamp| stamp.agrees(found)).max().unwrap_or(0);
    if best == found.len() {
        return Found::Content(best);
    }
    if is_untouched(&found[best..]) {
        return if best == 0 { Found::Nothing } else { Found::Content(best) };
    }
    Found::Wrong(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: SlotStamp = SlotStamp { nonce: 7, pair: 1, slot: 2, generation: 0 };

    #[test]
    fn content_is_found_whole_and_in_part_and_nothing_is_told_from_it() {
        let mut slot = vec![POISON; 1000];
        assert_eq!(check(&[STAMP], &slot), Found::Nothing);
        STAMP.fill(&mut slot[..300]);
        assert_eq!(check(&[STAMP], &slot), Found::Content(300));
        STAMP.fill(&mut slot);
        assert_eq!(check(&[STAMP], &slot), Found::Content(1000));
    }

    #[test]
    fn one_wrong_bit_is_found_at_its_place() {
        let mut slot = vec![POISON; 1000];
        STAMP.fill(&mut slot);
        slot[437] ^= 4;
        assert_eq!(check(&[STAMP], &slot), Found::Wrong(437));
    }

    #[test]
    fn another_pair_slot_or_generation_is_something_else() {
        let mut slot = vec![POISON; 64];
        STAMP.fill(&mut slot);
        for other in [
            SlotStamp { pair: 2, ..STAMP },
            SlotStamp { slot: 3, ..STAMP },
            SlotStamp { generation: 1, ..STAMP },
            SlotStamp { nonce: 8, ..STAMP },
        ] {
            assert!(matches!(check(&[other], &slot), Found::Wrong(_)), "{other:?}");
            assert_eq!(check(&[other, STAMP], &slot), Found::Content(64));
        }
    }
}
