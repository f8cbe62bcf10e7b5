//! Data to store and to find again: incompressible, never twice the same, and each piece of it says what it is.
//!
//! A block is cut into granules of 4 KiB, the unit that most storage deduplicates and compresses by or multiplies. The
//! content of a granule follows from the run, the file, its place and its generation (how often the place was written
//! before), so that whoever reads it can compute what it must be. It begins with a stamp that says the same four in a
//! way that only this run can read. What is not as it must be can then be told apart: a bit that flipped, a block from
//! elsewhere, an older one, zeros, or a buffer that nobody filled.
//!
//! With `verify=header` only the stamps are made and checked, with `verify=none` nothing is: a buffer is filled once, before its
//! first use, by [`Payload::prepare`].

mod fault;
mod kernel;
mod permutation;
mod stamp;
#[cfg(test)]
mod tests;

pub use fault::{Fault, FaultKind};
pub use permutation::Permutation;

use seatrial_model::Verification;
use seatrial_stats::mix;
use stamp::{BlockStamp, STAMP};

/// Bytes of a granule. The last one of a block may be shorter.
pub const GRANULE: usize = 4096;

/// Words with which granules may begin. With a granule after them they are 8 KiB, which stay in the L1 cache (32 KiB
/// and more) beside the blocks: a block is compared at the speed of memory.
const POOL: usize = 512;

/// What the first and second cache of a core hold, on most CPUs at most.
const CACHES_OF_A_CORE: u64 = 2 << 20;

/// The value of a buffer's bytes before a read.
const POISON: u8 = 0xd7;

/// A buffer is poisoned at the start of each piece of this size, the smallest that a disk may skip.
const SECTOR: usize = 512;

/// Poisoned bytes per sector.
const POISONED: usize = 8;

/// The place of a block, and how often it was written before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The number of the file.
    pub file: u32,
    /// Where in the file, in bytes.
    pub offset: u64,
    /// Times it was overwritten.
    pub generation: u64,
}

/// The content of all blocks of a run.
#[derive(Clone, Debug)]
pub struct Payload {
    run: u64,
    pool: Box<[u64]>,
    /// Zero bytes at the end of a full granule.
    zeros: usize,
    verification: Verification,
    /// Whether blocks are written past the caches.
    past_caches: bool,
}

impl Payload {
    /// The payload of the run with this number, of which `compressible` percent are zeros.
    pub fn new(run: u64, compressible: f64) -> Self {
        // A granule may begin anywhere in the first POOL words.
        let words = (0..(POOL + GRANULE / 8) as u64).map(|word| mix(run ^ mix(word))).collect();
        let zeros = (GRANULE as f64 * (compressible / 100.0).clamp(0.0, 1.0)).round() as usize;
        Self { run, pool: words, zeros, verification: Verification::Full, past_caches: false }
    }

    /// The same for buffers that take so many bytes together and that no CPU reads before they are filled again: too many for
    /// the caches of a core are written past them.
    #[must_use]
    pub fn for_buffers(self, bytes: u64) -> Self {
        Self { past_caches: bytes > CACHES_OF_A_CORE, ..self }
    }

    /// The same of which only so much is made by [`Self::fill`] and looked at by [`Self::check`].
    #[must_use]
    pub fn verified_by(self, verification: Verification) -> Self {
        Self { verification, ..self }
    }

    /// Fills a buffer before its first use with the content of `block`, where [`Self::fill`] does not.
    pub fn prepare(&self, block: Block, bytes: &mut [u8]) {
        if self.verification != Verification::Full {
            self.make(Verification::Full, block, bytes);
        }
    }

    /// Writes the content of `block` into `bytes`, as far as it is verified.
    pub fn fill(&self, block: Block, bytes: &mut [u8]) {
        self.make(self.verification, block, bytes);
    }

    fn make(&self, verification: Verification, block: Block, bytes: &mut [u8]) {
        if verification == Verification::None {
            return;
        }
        for (stamp, granule) in self.stamps(block).zip(bytes.chunks_mut(GRANULE)) {
            let granule = match verification {
                Verification::Full => granule,
                _ => {
                    let len = made(verification, granule.len());
                    &mut granule[..len]
                }
            };
            let nonce = stamp.nonce(self.run);
            let (key, words) = self.source(nonce);
            let random = granule.len() - self.zeros_of(granule.len());
            let (content, zeros) = granule.split_at_mut(random);
            match self.past_caches {
                true => kernel::fill_past_caches(content, words, key),
                false => kernel::fill(content, words, key),
            }
            zeros.fill(0);
            if let Some(place) = granule.first_chunk_mut::<STAMP>() {
                *place = stamp.write(self.run, nonce);
            }
        }
        if self.past_caches {
            kernel::fence();
        }
    }

    /// Whether `bytes` hold what [`Self::fill`] writes for `block`.
    ///
    /// # Errors
    /// What is wrong with the first granule that is.
    pub fn check(&self, block: Block, bytes: &[u8]) -> Result<(), Fault> {
        if self.verification == Verification::None {
            return Ok(());
        }
        for (stamp, granule) in self.stamps(block).zip(bytes.chunks(GRANULE)) {
            let granule = match self.verification {
                Verification::Full => granule,
                _ => &granule[..made(self.verification, granule.len())],
            };
            if !self.is_right(&stamp, granule) {
                return Err(self.fault(&stamp, granule));
            }
        }
        Ok(())
    }

    /// Bytes of a block of `len` bytes that [`Self::check`] looks at.
    pub const fn checked_bytes(&self, len: usize) -> usize {
        len / GRANULE * made(self.verification, GRANULE) + made(self.verification, len % GRANULE)
    }

    /// Marks a buffer so that a read that leaves a sector of it out is seen; of a block of which only headers are checked, that
    /// leaves a header out.
    pub fn poison(&self, bytes: &mut [u8]) {
        let piece = match self.verification {
            Verification::Full => SECTOR,
            Verification::Header => GRANULE,
            Verification::None => return,
        };
        for sector in bytes.chunks_mut(piece) {
            match sector.first_chunk_mut::<POISONED>() {
                Some(marked) => *marked = [POISON; POISONED],
                None => sector.fill(POISON),
            }
        }
    }

    /// The stamps of the block's granules.
    fn stamps(&self, block: Block) -> impl Iterator<Item = BlockStamp> + use<> {
        let Block { file, offset, generation } = block;
        (0_u64..).map(move |number| BlockStamp { file, offset: offset + number * GRANULE as u64, generation })
    }

    /// Key and words of the granule with this nonce.
    fn source(&self, nonce: u64) -> (u64, &[u64]) {
        let start = (nonce % POOL as u64) as usize;
        (mix(nonce), &self.pool[start..start + GRANULE / 8])
    }

    /// Zero bytes at the end of a granule of `len` bytes.
    const fn zeros_of(&self, len: usize) -> usize {
        let zeros = self.zeros * len / GRANULE;
        // The stamp stays.
        if zeros + STAMP > len { len.saturating_sub(STAMP) } else { zeros }
    }

    fn is_right(&self, stamp: &BlockStamp, granule: &[u8]) -> bool {
        let nonce = stamp.nonce(self.run);
        let (key, words) = self.source(nonce);
        let (content, zeros) = granule.split_at(granule.len() - self.zeros_of(granule.len()));
        let stamped = content.first_chunk::<STAMP>();
        let skip = stamped.map_or(0, |_| STAMP);
        let zeros_are_right = zeros.iter().fold(0, |all, byte| all | byte) == 0;
        let stamp_is_right = stamped.is_none_or(|told| *told == stamp.write(self.run, nonce));
        kernel::holds(&content[skip..], &words[skip / 8..], key) && zeros_are_right && stamp_is_right
    }
}

/// Bytes of a granule of `len` bytes that are made anew and checked.
const fn made(verification: Verification, len: usize) -> usize {
    match verification {
        Verification::Full => len,
        Verification::Header if len >= STAMP => STAMP,
        Verification::Header | Verification::None => 0,
    }
}
