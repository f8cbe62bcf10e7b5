//! The memory of what pairs of ranks exchange, its contents, and their check.

use seatrial_model::Integrity;
use seatrial_stats::mix;
use seatrial_sys::mpi::WindowLayout;

use crate::comparison::Comparison;

/// Bytes of a word of the contents.
const WORD: usize = 8;

/// From the place of one message to that of the next: messages share no cache line.
pub const fn stride(size: u64) -> u64 {
    size.next_multiple_of(64)
}

/// Value of received memory that nobody has written to.
pub const POISON: u8 = 0xd7;

/// The rounds of contents: what is measured, and what is sent to be checked.
pub const MEASURED: u64 = 0;
pub const CHECKED: u64 = 1;

/// What word `number` of the memory that `rank` sends holds in this `round` of contents.
fn expected(rank: usize, round: u64, number: usize) -> [u8; WORD] {
    mix(mix((rank as u64) << 32 ^ round) ^ number as u64).to_le_bytes()
}

/// Writes the contents of a round; each word is another one.
pub fn fill(bytes: &mut [u8], rank: usize, round: u64) {
    for (number, place) in bytes.chunks_mut(WORD).enumerate() {
        place.copy_from_slice(&expected(rank, round, number)[..place.len()]);
    }
}

/// Compares received messages with what rank `from` sent from the same places. Every byte is compared once: messages of
/// all sizes have the same contents at the same place.
pub fn check(bytes: &[u8], messages: &[WindowLayout], from: usize, round: u64) -> Integrity {
    // Messages that fill their places leave no gap.
    let whole = messages.iter().filter(|layout| layout.stride == layout.size || layout.count == 1);
    let covered = whole.filter(|layout| layout.first == 0).map(WindowLayout::end).max().unwrap_or(0);
    let mut found = Comparison::default();
    compare(&mut found, &bytes[..covered], 0, from, round);
    for layout in messages {
        let firsts = (0..layout.count).map(|message| layout.first + message * layout.stride);
        for first in firsts.filter(|first| first + layout.size > covered) {
            compare(&mut found, &bytes[first..first + layout.size], first, from, round);
        }
    }
    found.integrity()
}

/// Compares the bytes from `start` on, a multiple of a word.
fn compare(found: &mut Comparison, bytes: &[u8], start: usize, from: usize, round: u64) {
    for (number, word) in bytes.chunks(WORD).enumerate() {
        let wanted = expected(from, round, start / WORD + number);
        let wanted = &wanted[..word.len()];
        found.word(word.len(), word == wanted, || {
            let at = start + number * WORD;
            format!("messages of rank {from}, byte {at} of the memory: {word:02x?}, not {wanted:02x?}")
        });
    }
}

/// The places that messages of a size take in turn, the same at both ends.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    size: usize,
    stride: usize,
    /// Number of places.
    places: usize,
    next: usize,
    /// Places that messages have had so far.
    used: usize,
    /// Messages so far.
    taken: u64,
}

impl Ring {
    /// Places in a region of so many bytes; one place for all messages where that is 0.
    pub fn new(size: u64, region: u64) -> Self {
        let (size, stride) = (size as usize, stride(size) as usize);
        if region == 0 {
            return Self { size, stride: 0, places: 1, next: 0, used: 0, taken: 0 };
        }
        Self { size, stride, places: (region as usize / stride).max(1), next: 0, used: 0, taken: 0 }
    }

    /// Bytes that the places take.
    pub const fn bytes(&self) -> usize {
        (self.places - 1) * self.stride + self.size
    }

    /// The places of the next `count` messages, side by side.
    pub fn take(&mut self, count: usize) -> WindowLayout {
        if self.stride > 0 && self.next + count > self.places {
            self.next = 0;
        }
        let first = self.next * self.stride;
        if self.stride > 0 {
            self.next += count;
        }
        self.used = self.used.max(self.next).max(1);
        self.taken += count as u64;
        WindowLayout { first, stride: self.stride, size: self.size, count }
    }

    /// How many messages had a place.
    pub const fn taken(&self) -> u64 {
        self.taken
    }

    /// All places that messages have had.
    pub const fn used(&self) -> WindowLayout {
        WindowLayout { first: 0, stride: self.stride, size: self.size, count: self.used }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wrong_word_is_found_and_the_first_is_named() {
        let mut bytes = vec![0; 4096];
        fill(&mut bytes, 3, 1);
        let small = WindowLayout { first: 0, stride: 64, size: 20, count: 5 };
        let checked = |bytes: &[u8], layouts: &[WindowLayout]| check(bytes, layouts, 3, 1);
        assert_eq!(checked(&bytes, &[small]), Integrity::Verified { checked: 100 });
        assert!(check(&bytes, &[small], 2, 1).is_corrupt() && check(&bytes, &[small], 3, 2).is_corrupt());
        // The last byte of the last message, then one between two messages.
        bytes[4 * 64 + 19] ^= 1;
        bytes[20] ^= 1;
        let Integrity::Corrupt { wrong, of, first } = checked(&bytes, &[small]) else { panic!("not found") };
        assert_eq!((wrong, of), (1, 15));
        assert!(first.starts_with("messages of rank 3, byte 272 of the memory: ["), "{first}");
        bytes[20] ^= 1;
        // Messages without gaps hold the place of all but the last of the small ones.
        let whole = WindowLayout { first: 0, stride: 128, size: 128, count: 2 };
        let Integrity::Corrupt { wrong, of, .. } = checked(&bytes, &[small, whole]) else {
            panic!("not found")
        };
        assert_eq!((wrong, of), (1, 256 / 8 + 3));
        bytes[4 * 64 + 19] ^= 1;
        assert_eq!(checked(&bytes, &[small, whole]), Integrity::Verified { checked: 256 + 20 });
    }

    #[test]
    fn a_ring_gives_each_window_a_fresh_place_and_begins_again() {
        let mut ring = Ring::new(8, 64 * 10);
        let firsts: Vec<usize> = (0..4).map(|_| ring.take(4).first / 64).collect();
        assert_eq!((firsts, ring.bytes()), (vec![0, 4, 0, 4], 9 * 64 + 8));
        assert_eq!(ring.used(), WindowLayout { first: 0, stride: 64, size: 8, count: 8 });
        let mut one = Ring::new(100, 0);
        assert_eq!((one.take(64), one.take(64)), {
            let layout = WindowLayout { first: 0, stride: 0, size: 100, count: 64 };
            (layout, layout)
        });
        assert_eq!((one.used().count, one.bytes()), (1, 100));
    }
}
