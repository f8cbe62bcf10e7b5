//! The memory that messages are taken from and put into.

use std::ops::Range;
use std::sync::Arc;

use seatrial_model::{Cause, Reason};
use seatrial_sys::memory::{Aligned, SMALLEST_PAGE};
use seatrial_sys::verbs::MemoryRegion;

use crate::Sequence;

/// Where a message begins: at a cache line of its own.
const ALIGN: usize = 64;

/// Whose memory it is.
#[derive(Debug)]
enum Memory {
    Own(Aligned),
    /// Known to a card, which may write into it at any time: nobody can be given a slice of it.
    Registered(Arc<MemoryRegion>),
}

/// Two regions, one to send from and one to receive into. Messages of the same region follow each other through it when
/// they are to come from other places than the caches, or all lie in one place. A message is told by its range in all of it.
/// Both regions begin with a page, so that the copies of the two directions are equally fast (see `net::room` of `sys`).
#[derive(Debug)]
pub struct Buffers {
    memory: Memory,
    region: usize,
    largest: usize,
    rotate: bool,
    next: usize,
    sequence: Sequence,
}

impl Buffers {
    /// For messages of up to `largest` bytes. With `rotate` the messages walk through `region` bytes each way, which is
    /// to be well above the last-level cache; without, every message lies in one and the same place.
    pub fn new(largest: usize, region: usize, rotate: bool) -> Result<Self, Reason> {
        let bytes = Self::bytes(largest, region, rotate);
        let memory = Aligned::filled(bytes, 0x5a).map_err(|error| {
            Reason::new(Cause::NoSpace, format!("{bytes} bytes of memory for messages: {error}"))
        })?;
        Ok(Self::over(Memory::Own(memory), bytes / 2, largest, rotate))
    }

    /// The same in memory that a card knows, of [`Self::bytes`] bytes at least.
    pub fn registered(
        memory: Arc<MemoryRegion>,
        largest: usize,
        region: usize,
        rotate: bool,
    ) -> Result<Self, Reason> {
        let bytes = Self::bytes(largest, region, rotate);
        if memory.len() < bytes {
            let text = format!(
                "{} bytes of registered memory are too few for messages that take {bytes}",
                memory.len()
            );
            return Err(Reason::new(Cause::Protocol, text));
        }
        Ok(Self::over(Memory::Registered(memory), bytes / 2, largest, rotate))
    }

    fn over(memory: Memory, region: usize, largest: usize, rotate: bool) -> Self {
        Self { memory, region, largest, rotate, next: 0, sequence: Sequence::default() }
    }

    /// Bytes that both regions take.
    pub fn bytes(largest: usize, region: usize, rotate: bool) -> usize {
        let region = if rotate { region.max(largest) } else { largest };
        2 * region.max(1).next_multiple_of(SMALLEST_PAGE)
    }

    /// Bytes of the largest message.
    pub fn largest(&self) -> u64 {
        self.largest as u64
    }

    /// How far what is received lies behind what is sent: a message that lies so many bytes behind the beginning of what is
    /// sent lies as many behind the beginning of what is received, at both ends.
    pub fn apart(&self) -> usize {
        self.region
    }

    /// A message in the program's own memory.
    ///
    /// # Errors
    /// When a card knows it, so that no slice of it can be given.
    pub fn own(&self, message: Range<usize>) -> Result<&[u8], Reason> {
        match &self.memory {
            Memory::Own(memory) => Ok(&memory[message]),
            Memory::Registered(_) => Err(not_own()),
        }
    }

    /// The same to be written to, beside one that is only read.
    pub fn own_both(&mut self, out: Range<usize>, into: Range<usize>) -> Result<(&[u8], &mut [u8]), Reason> {
        match &mut self.memory {
            Memory::Own(memory) => {
                let (sent, received) = memory.split_at_mut(self.region);
                Ok((&sent[out], &mut received[into.start - self.region..into.end - self.region]))
            }
            Memory::Registered(_) => Err(not_own()),
        }
    }

    /// Where the next message of `size` bytes is sent from and received into.
    #[inline]
    pub fn next(&mut self, size: usize) -> (Range<usize>, Range<usize>) {
        let out = self.place(size);
        let into = out.start + self.region..out.end + self.region;
        (out, into)
    }

    fn place(&mut self, size: usize) -> Range<usize> {
        if !self.rotate {
            return 0..size;
        }
        let from = if self.next + size <= self.region { self.next } else { 0 };
        self.next = (from + size).next_multiple_of(ALIGN);
        from..from + size
    }

    /// Writes the pattern of `number` into a message of `size` bytes to send, and says where that is.
    pub fn fill(&mut self, size: usize, number: u64) -> Range<usize> {
        let mut content = vec![0; size];
        self.sequence.fill(&mut content, beginning(number));
        self.put(0, &content);
        0..size
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        match &mut self.memory {
            Memory::Own(memory) => memory[at..at + bytes.len()].copy_from_slice(bytes),
            Memory::Registered(memory) => memory.write(at, bytes).expect("a message lies inside the memory"),
        }
    }

    /// Where a message of `size` bytes that will be checked is received into.
    pub fn received(&self, size: usize) -> Range<usize> {
        self.region..self.region + size
    }

    /// The first byte of the message received by [`Self::received`] that is not the pattern of `number`.
    pub fn first_wrong(&self, size: usize, number: u64) -> Option<usize> {
        let mut message = vec![0; size];
        match &self.memory {
            Memory::Own(memory) => message.copy_from_slice(&memory[self.region..self.region + size]),
            Memory::Registered(memory) => {
                memory.read(self.region, &mut message).expect("a message lies inside the memory");
            }
        }
        self.sequence.first_wrong(&message, beginning(number))
    }
}

fn not_own() -> Reason {
    Reason::new(Cause::Protocol, "a transport asked for a slice of memory that a card writes to")
}

/// Where in the sequence a message begins: the messages of two numbers differ at every place.
const fn beginning(number: u64) -> u64 {
    number.wrapping_mul(17)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_walk_through_the_region_and_stay_inside() {
        let mut buffers = Buffers::new(100, 1000, true).expect("memory");
        let mut places: Vec<usize> = (0..40).map(|_| buffers.next(100).0.start).collect();
        assert!(places.iter().all(|at| at % ALIGN == 0 && at + 100 <= buffers.region));
        places.sort_unstable();
        places.dedup();
        assert!(places.len() >= 7, "{places:?}");
    }

    #[test]
    fn the_same_place_is_used_again_when_it_shall() {
        let mut buffers = Buffers::new(100, 1 << 20, false).expect("memory");
        let first = buffers.next(100).0.start;
        assert_eq!(buffers.next(7).0.start, first);
        assert_eq!(Buffers::bytes(100, 1 << 20, false), 2 * SMALLEST_PAGE);
    }

    #[test]
    fn one_wrong_byte_is_found_at_its_place() {
        let mut buffers = Buffers::new(500, 0, false).expect("memory");
        let sent = buffers.fill(500, 3);
        let content = buffers.own(sent).expect("own").to_vec();
        let received = buffers.received(500);
        buffers.put(received.start, &content);
        assert_eq!(buffers.first_wrong(500, 3), None);
        assert_eq!(buffers.first_wrong(500, 4), Some(0));
        buffers.put(received.start + 321, &[content[321] ^ 1]);
        assert_eq!(buffers.first_wrong(500, 3), Some(321));
    }
}
