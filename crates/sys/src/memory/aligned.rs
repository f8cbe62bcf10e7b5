//! Page-aligned memory of the allocator.

use std::collections::TryReserveError;
use std::ops::{Deref, DerefMut};

pub const SMALLEST_PAGE: usize = 4096;

/// Page-aligned bytes. An allocator aligns less: glibc puts large pieces 16 bytes behind a page.
#[derive(Debug, Default)]
pub struct Aligned {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl Aligned {
    /// `len` bytes of value `byte`, written once, so that every page is resident.
    pub fn filled(len: usize, byte: u8) -> Result<Self, TryReserveError> {
        let mut memory = Vec::new();
        // Sizes near the end of the address space must not overflow.
        let needed = len.saturating_add(SMALLEST_PAGE);
        memory.try_reserve_exact(needed)?;
        memory.resize(needed, byte);
        // For a type of one byte the offset is never more than a page.
        let start = memory.as_ptr().align_offset(SMALLEST_PAGE).min(SMALLEST_PAGE);
        Ok(Self { memory, start, len })
    }

    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr().wrapping_add(self.start)
    }
}

impl Deref for Aligned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.len]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_with_a_page_and_holds_what_was_asked_for() {
        for len in [0, 1, 4096, 100_000, 3 << 20] {
            let mut memory = Aligned::filled(len, 0x5a).unwrap();
            assert_eq!((memory.len(), memory.as_ptr() as usize % SMALLEST_PAGE), (len, 0));
            assert!(memory.iter().all(|byte| *byte == 0x5a));
            memory.fill(1);
            assert!(memory.iter().all(|byte| *byte == 1));
        }
        assert!(Aligned::filled(usize::MAX, 0).is_err());
        assert!(Aligned::default().is_empty());
    }
}
