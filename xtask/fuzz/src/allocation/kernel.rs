//! The allocator itself: the system's, counted.
#![expect(unsafe_code, reason = "an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        super::count(layout.size().cast_signed());
        // SAFETY: the caller's promises are those that are asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        super::count(layout.size().cast_signed());
        // SAFETY: the caller's promises are those that are asked for.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        super::count(size.cast_signed().saturating_sub(layout.size().cast_signed()));
        // SAFETY: the caller's promises are those that are asked for.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        super::count(-layout.size().cast_signed());
        // SAFETY: the caller's promises are those that are asked for.
        unsafe { System.dealloc(block, layout) }
    }
}
