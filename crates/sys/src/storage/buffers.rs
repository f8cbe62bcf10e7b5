//! The buffers of an engine: a slot for each request, owned by us or by the kernel.
#![expect(unsafe_code, reason = "slots of one mapping, of which the kernel holds some")]

use std::ptr::NonNull;

use crate::memory::Mapping;

/// Slot alignment: a page satisfies every disk.
const PAGE: usize = 4096;

#[derive(Debug)]
pub struct Buffers {
    map: Mapping,
    start: NonNull<u8>,
    each: usize,
    lent: Vec<bool>,
}

// SAFETY: the pointer is to memory that the mapping owns, which itself may go to another thread; slots are only reached
// through `&mut self`.
unsafe impl Send for Buffers {}

impl Buffers {
    pub const fn needed(bytes: usize, count: usize) -> usize {
        bytes.next_multiple_of(PAGE) * count
    }

    pub fn new(mut map: Mapping, bytes: usize) -> Self {
        let stride = bytes.next_multiple_of(PAGE).max(PAGE);
        let count = map.len() / stride;
        let start = NonNull::from(map.as_mut_slice::<u8>()).cast();
        Self { map, start, each: bytes, lent: vec![false; count] }
    }

    pub const fn count(&self) -> usize {
        self.lent.len()
    }

    pub const fn each(&self) -> usize {
        self.each
    }

    /// Distance between slots in bytes.
    pub(super) fn stride(&self) -> usize {
        self.each.next_multiple_of(PAGE).max(PAGE)
    }

    pub const fn map(&self) -> &Mapping {
        &self.map
    }

    /// The slot's bytes; panics for a slot that the kernel has.
    pub fn slot(&mut self, slot: usize) -> &mut [u8] {
        assert!(!self.lent[slot], "slot {slot} is under way");
        let start = self.address(slot);
        // SAFETY: the slot lies inside the mapping (`address` checks it), nobody else holds it (not lent, and `&mut self`
        // lets nobody ask twice), and the mapping's own slice was only used to get the pointer.
        unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), self.each) }
    }

    /// Lends the slot to the kernel until [`Self::give_back`]; returns its address.
    pub(super) fn lend(&mut self, slot: usize) -> NonNull<u8> {
        assert!(!self.lent[slot], "slot {slot} is under way");
        self.lent[slot] = true;
        self.address(slot)
    }

    pub(super) fn give_back(&mut self, slot: usize) {
        self.lent[slot] = false;
    }

    pub(super) fn address(&self, slot: usize) -> NonNull<u8> {
        assert!(slot < self.lent.len(), "there is no slot {slot}");
        // SAFETY: `slot` is one of those that fit into the mapping.
        unsafe { self.start.add(slot * self.stride()) }
    }
}
