//! The memory that messages are taken from and put into.

use std::ops::Range;

use seatrial_model::Cause;

use crate::Error;

/// Where a message begins: at a cache line of its own, with room for odd sizes.
const ALIGN: usize = 64;

/// Two regions, one to send from and one to receive into. Messages of the same region follow each other through it when
/// they are to come from other places than the caches, or all lie in one place.
#[derive(Debug)]
pub struct Buffers {
    memory: Vec<u8>,
    region: usize,
    largest: usize,
    rotate: bool,
    next: usize,
}

impl Buffers {
    /// For messages of up to `largest` bytes. With `rotate` the messages walk through `region` bytes each way, which is
    /// to be well above the last-level cache; without, every message lies in one and the same place.
    ///
    /// # Errors
    /// When there is not so much memory.
    pub fn new(largest: usize, region: usize, rotate: bool) -> Result<Self, Error> {
        let region = if rotate { region.max(largest) } else { largest }.next_multiple_of(ALIGN) + ALIGN;
        let mut memory = Vec::new();
        memory.try_reserve_exact(2 * region).map_err(|error| {
            Error::new(Cause::NoSpace, format!("{} bytes of memory for messages: {error}", 2 * region))
        })?;
        // Written, so that every page is there before the clock runs.
        memory.resize(2 * region, 0x5a);
        Ok(Self { memory, region, largest, rotate, next: 0 })
    }

    /// All of it, for transports that must know it.
    pub fn memory(&self) -> &[u8] {
        &self.memory
    }

    /// Bytes of the largest message.
    pub fn largest(&self) -> u64 {
        self.largest as u64
    }

    /// Where the next message of `size` bytes is sent from and received into.
    pub fn next(&mut self, size: usize) -> (&[u8], &mut [u8]) {
        let at = self.place(size);
        let (out, into) = self.memory.split_at_mut(self.region);
        (&out[at.clone()], &mut into[at])
    }

    fn place(&mut self, size: usize) -> Range<usize> {
        if !self.rotate {
            return 0..size;
        }
        let from = if self.next + size <= self.region { self.next } else { 0 };
        self.next = (from + size).next_multiple_of(ALIGN);
        from..from + size
    }

    /// Writes the pattern of `number` into a message of `size` bytes to send, and gives it.
    pub fn fill(&mut self, size: usize, number: u64) -> &[u8] {
        for (at, byte) in self.memory[..size].iter_mut().enumerate() {
            *byte = expected(at, number);
        }
        &self.memory[..size]
    }

    /// Where a message of `size` bytes that will be checked is received into.
    pub fn received(&mut self, size: usize) -> &mut [u8] {
        &mut self.memory[self.region..self.region + size]
    }

    /// The first byte of the message received by [`Self::received`] that is not the pattern of `number`.
    pub fn first_wrong(&self, size: usize, number: u64) -> Option<usize> {
        let message = &self.memory[self.region..self.region + size];
        message.iter().enumerate().position(|(at, byte)| *byte != expected(at, number))
    }
}

/// Repeats with no power of two, and differs from one number to the next at every place.
fn expected(at: usize, number: u64) -> u8 {
    ((at as u64).wrapping_add(number.wrapping_mul(17)) % 251) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_walk_through_the_region_and_stay_inside() {
        let mut buffers = Buffers::new(100, 1000, true).expect("memory");
        let base = buffers.memory().as_ptr() as usize;
        let mut places: Vec<usize> = (0..40).map(|_| buffers.next(100).0.as_ptr() as usize - base).collect();
        assert!(places.iter().all(|at| at % ALIGN == 0 && at + 100 <= buffers.region));
        places.sort_unstable();
        places.dedup();
        assert!(places.len() >= 7, "{places:?}");
    }

    #[test]
    fn the_same_place_is_used_again_when_it_shall() {
        let mut buffers = Buffers::new(100, 1 << 20, false).expect("memory");
        let first = buffers.next(100).0.as_ptr();
        assert_eq!(buffers.next(7).0.as_ptr(), first);
        assert!(buffers.memory().len() < 1000);
    }

    #[test]
    fn one_wrong_byte_is_found_at_its_place() {
        let mut buffers = Buffers::new(500, 0, false).expect("memory");
        let sent = buffers.fill(500, 3).to_vec();
        buffers.received(500).copy_from_slice(&sent);
        assert_eq!(buffers.first_wrong(500, 3), None);
        assert_eq!(buffers.first_wrong(500, 4), Some(0));
        buffers.received(500)[321] ^= 1;
        assert_eq!(buffers.first_wrong(500, 3), Some(321));
    }
}
