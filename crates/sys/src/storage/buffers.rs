//! Memory of an engine: one slot a request, each either ours or the kernel's.
#![expect(unsafe_code, reason = "slots of one mapping, of which the kernel holds some")]

use std::ptr::NonNull;

use crate::memory::Mapping;

/// Slots start at multiples of this: a page, which every disk's alignment divides.
const PAGE: usize = 4096;

/// Equal slots of one mapping.
#[derive(Debug)]
pub struct Buffers {
    map: Mapping,
    start: NonNull<u8>,
    each: usize,
    /// Whether the kernel may be reading or writing the slot.
    lent: Vec<bool>,
}

// SAFETY: the pointer is to memory that the mapping owns, which itself may go to another thread; slots are only reached
// through `&mut self`.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Bytes that `count` slots of `bytes` take.
    pub const fn needed(bytes: usize, count: usize) -> usize {
        bytes.next_multiple_of(PAGE) * count
    }

    /// As many slots of `bytes` as `map` has room for.
    pub fn new(mut map: Mapping, bytes: usize) -> Self {
        let stride = bytes.next_multiple_of(PAGE).max(PAGE);
        let count = map.len() / stride;
        let start = NonNull::from(map.as_mut_slice::<u8>()).cast();
        Self { map, start, each: bytes, lent: vec![false; count] }
    }

    /// How many slots there are.
    pub const fn count(&self) -> usize {
        self.lent.len()
    }

    /// Size of each in bytes.
    pub const fn each(&self) -> usize {
        self.each
    }

    /// Bytes from the beginning of a slot to that of the next.
    pub(super) fn stride(&self) -> usize {
        self.each.next_multiple_of(PAGE).max(PAGE)
    }

    pub const fn map(&self) -> &Mapping {
        &self.map
    }

    /// The slot's bytes.
    ///
    /// # Panics
    /// When there is no such slot, or it is lent to the kernel.
    pub fn slot(&mut self, slot: usize) -> &mut [u8] {
        assert!(!self.lent[slot], "slot {slot} is under way");
        let start = self.address(slot);
        // SAFETY: the slot lies inside the mapping (`address` checks it), nobody else holds it (not lent, and `&mut self`
        // lets nobody ask twice), and the mapping's own slice was only used to get the pointer.
        unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), self.each) }
    }

    /// Takes the slot away from us until [`Self::give_back`]; its address.
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
