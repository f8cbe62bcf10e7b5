//! The identity of a granule, encoded as random-looking bytes.

use seatrial_stats::mix;

/// Bytes of a stamp.
pub(super) const STAMP: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockStamp {
    pub file: u32,
    pub offset: u64,
    pub generation: u64,
}

impl BlockStamp {
    /// The number that the granule's content and the cover of its stamp follow from.
    pub fn nonce(&self, run: u64) -> u64 {
        mix(run ^ mix(self.offset ^ mix(u64::from(self.file) ^ mix(self.generation))))
    }

    /// The bytes: the nonce, which is [`Self::nonce`], and under a cover that follows from it and the run, the file with a
    /// check sum, the offset and the generation.
    pub fn write(&self, run: u64, nonce: u64) -> [u8; STAMP] {
        let head = u64::from(self.file) << 32 | u64::from(sum(nonce));
        let mut bytes = [0; STAMP];
        bytes[..8].copy_from_slice(&nonce.to_le_bytes());
        for (number, (place, word)) in
            (1..).zip(bytes[8..].chunks_exact_mut(8).zip([head, self.offset, self.generation]))
        {
            place.copy_from_slice(&(word ^ cover(run, nonce, number)).to_le_bytes());
        }
        bytes
    }

    /// Reads what [`Self::write`] wrote; none when it is no stamp of this run.
    pub fn read(run: u64, bytes: &[u8; STAMP]) -> Option<Self> {
        let word = |number: usize| {
            let eight = bytes[8 * number..8 * number + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(eight)
        };
        let nonce = word(0);
        let told = |number: u64| word(number as usize) ^ cover(run, nonce, number);
        let (head, offset, generation) = (told(1), told(2), told(3));
        let stamp = Self { file: (head >> 32) as u32, offset, generation };
        (head as u32 == sum(nonce) && nonce == stamp.nonce(run)).then_some(stamp)
    }
}

/// The checksum of the stamp with this nonce.
const fn sum(nonce: u64) -> u32 {
    (mix(!nonce) >> 32) as u32
}

const fn cover(run: u64, nonce: u64, number: u64) -> u64 {
    mix(run.rotate_left(17) ^ mix(nonce ^ number))
}
