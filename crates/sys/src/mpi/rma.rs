//! One-sided operations: a rank reads and writes memory that another rank exposes (remote memory access, RMA).
#![expect(unsafe_code, reason = "exposed memory belongs to the library or lives as long as the process")]

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::slice;

use super::abi::Handle;
use super::communicator::{Communicator, handle_of, length, rank_of};
use super::error::MpiError;
use super::library::{Mpi, call};
use super::window::WindowLayout;

/// Bytes of an `MPI_INT64_T`.
const WORD: usize = size_of::<i64>();

/// Where the memory that a rank exposes comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RmaMemory {
    /// The library allocates it (MPI_Win_allocate), such as in memory that the processes of a node share.
    Allocate,
    /// The program has it (MPI_Win_create).
    Create,
    /// The program attaches it to a window without memory (MPI_Win_create_dynamic); others use its address.
    Dynamic,
}

/// What completes one-sided operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RmaSynchronization {
    /// MPI_Win_flush within one lock for all.
    Flush,
    /// MPI_Win_lock before and MPI_Win_unlock after.
    Lock,
    /// MPI_Win_fence, which both ranks call.
    Fence,
    /// MPI_Win_start and MPI_Win_complete here, MPI_Win_post and MPI_Win_wait at the other rank (PSCW).
    Pscw,
}

/// A one-sided operation at each place of a layout; places are the same in own and in exposed memory.
#[derive(Debug)]
pub enum RmaOperation<'b> {
    Put(&'b [u8]),
    Get(&'b mut [u8]),
    /// Adds own elements to those at the other rank.
    Accumulate(&'b [i64]),
    /// Adds own elements to those at the other rank; `before` gets what was there. One element a place.
    FetchAndAdd {
        own: &'b [i64],
        before: &'b mut [i64],
    },
    /// Puts `new` where `expected` is; `before` gets what was there. One element a place.
    CompareAndSwap {
        expected: &'b [i64],
        new: &'b [i64],
        before: &'b mut [i64],
    },
}

/// A window between the two ranks of a communicator, over the memory that each exposes. [`Self::free`] has to be called
/// by both ranks: dropping it frees nothing, since another rank may still use it.
#[derive(Debug)]
pub struct RmaWindow<'a> {
    mpi: &'a Mpi,
    /// As the library wrote it.
    written: [u8; 8],
    handle: Handle,
    rank: usize,
    peer: usize,
    /// The other rank alone.
    group: [u8; 8],
    synchronization: RmaSynchronization,
    memory: RmaMemory,
    base: NonNull<i64>,
    words: usize,
    /// Displacement of the peer's memory, and its length in bytes.
    peer_base: isize,
    peer_bytes: usize,
}

impl<'a> RmaWindow<'a> {
    /// Exposes `words` elements of 8 B, all zero, to the other rank. Both ranks have to call it.
    ///
    /// # Panics
    /// When `pair` has not two ranks.
    pub fn new(
        pair: &Communicator<'a>,
        memory: RmaMemory,
        words: usize,
        synchronization: RmaSynchronization,
    ) -> Result<Self, MpiError> {
        assert_eq!(pair.size(), 2, "ranks of a pair");
        let (mpi, rank) = (pair.mpi, pair.rank());
        let mut new = Self {
            mpi,
            written: [0; 8],
            handle: 0,
            rank,
            peer: 1 - rank,
            group: [0; 8],
            synchronization,
            memory,
            base: NonNull::dangling(),
            words,
            peer_base: 0,
            peer_bytes: 0,
        };
        new.make(pair.handle)?;
        call!(mpi, window_error_handler(new.handle, mpi.constants.errors_return))?;
        new.learn_peer(pair)?;
        Ok(new)
    }

    fn make(&mut self, ranks: Handle) -> Result<(), MpiError> {
        let (mpi, bytes) = (self.mpi, (self.words * WORD) as isize);
        let (no_info, unit, window) = (mpi.constants.no_info, 1, self.written.as_mut_ptr().cast());
        match self.memory {
            RmaMemory::Allocate => {
                let mut base: *mut i64 = ptr::null_mut();
                call!(mpi, window_allocate(bytes, unit, no_info, ranks, (&raw mut base).cast(), window))?;
                if self.words > 0 {
                    self.base = NonNull::new(base).ok_or_else(|| {
                        let text = format!("no address for {bytes} bytes");
                        MpiError::Refused { call: "MPI_Win_allocate", text }
                    })?;
                    // SAFETY: the library allocated so many bytes for this window, and no other rank can use them before
                    // it has learned of them.
                    unsafe { self.base.write_bytes(0, self.words) };
                }
            }
            RmaMemory::Create => {
                self.take_memory();
                call!(mpi, window_create(self.base.as_ptr().cast(), bytes, unit, no_info, ranks, window))?;
            }
            RmaMemory::Dynamic => {
                self.take_memory();
                call!(mpi, window_dynamic(no_info, ranks, window))?;
            }
        }
        self.handle = handle_of(self.written, mpi.abi().handle_bytes());
        if self.memory == RmaMemory::Dynamic && self.words > 0 {
            call!(mpi, window_attach(self.handle, self.base.as_ptr().cast(), bytes))?;
        }
        Ok(())
    }

    /// Memory that lives as long as the process: the other rank may write to it until both have freed the window.
    fn take_memory(&mut self) {
        if self.words > 0 {
            self.base = NonNull::from(vec![0_i64; self.words].leak()).cast();
        }
    }

    /// Where the peer's memory is, and its group.
    fn learn_peer(&mut self, pair: &Communicator<'a>) -> Result<(), MpiError> {
        let mpi = self.mpi;
        let mut address: isize = 0;
        if self.memory == RmaMemory::Dynamic {
            call!(mpi, address(self.base.as_ptr().cast_const().cast(), &raw mut address))?;
        }
        let own = [address as i64, (self.words * WORD) as i64].map(i64::to_ne_bytes);
        let mut all = [[[0_u8; 8]; 2]; 2];
        pair.all_gather(own.as_flattened(), all.as_flattened_mut().as_flattened_mut())?;
        let [base, bytes] = all[self.peer].map(i64::from_ne_bytes);
        (self.peer_base, self.peer_bytes) = (base as isize, bytes as usize);
        let (mut both, peer) = ([0_u8; 8], rank_of(self.peer));
        call!(mpi, group(pair.handle, both.as_mut_ptr().cast()))?;
        let of_both = handle_of(both, mpi.abi().handle_bytes());
        call!(mpi, group_include(of_both, 1, &raw const peer, self.group.as_mut_ptr().cast()))?;
        call!(mpi, group_free(both.as_mut_ptr().cast()))
    }

    /// Frees the window. Both ranks have to call it, once, and to use it no longer.
    pub fn free(&mut self) -> Result<(), MpiError> {
        if self.memory == RmaMemory::Dynamic && self.words > 0 {
            call!(self.mpi, window_detach(self.handle, self.base.as_ptr().cast_const().cast()))?;
        }
        call!(self.mpi, group_free(self.group.as_mut_ptr().cast()))?;
        call!(self.mpi, window_free(self.written.as_mut_ptr().cast()))?;
        // Memory that the library allocated is gone.
        self.words = 0;
        Ok(())
    }

    /// What the memory that this rank exposes holds. The rank locks it meanwhile, so that no operation of the other rank is
    /// under way; not to be called between [`Self::open`] and [`Self::close`].
    pub fn with_words<T>(&mut self, look: impl FnOnce(&mut [i64]) -> T) -> Result<T, MpiError> {
        let own = rank_of(self.rank);
        call!(self.mpi, lock(self.mpi.constants.lock_exclusive, own, 0, self.handle))?;
        // SAFETY: `base` leads to so many words, of the library until the window is freed or of this process for ever, and
        // the exclusive lock keeps the other rank away (MPI 4.0, 12.5.3).
        let seen = look(unsafe { slice::from_raw_parts_mut(self.base.as_ptr(), self.words) });
        call!(self.mpi, unlock(own, self.handle))?;
        Ok(seen)
    }

    /// The same as bytes.
    pub fn with_bytes<T>(&mut self, look: impl FnOnce(&mut [u8]) -> T) -> Result<T, MpiError> {
        self.with_words(|words| {
            // SAFETY: every byte of a word is a byte, and the words are borrowed meanwhile.
            look(unsafe { slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) })
        })
    }

    /// Before the first of several groups of operations; both ranks call it, and `is_origin` says which of them operates.
    pub fn open(&mut self, is_origin: bool) -> Result<(), MpiError> {
        let constants = &self.mpi.constants;
        match self.synchronization {
            RmaSynchronization::Flush if is_origin => {
                call!(self.mpi, lock(constants.lock_shared, rank_of(self.peer), 0, self.handle))
            }
            RmaSynchronization::Fence => call!(self.mpi, fence(constants.no_precede, self.handle)),
            _ => Ok(()),
        }
    }

    /// After the last group; as [`Self::open`].
    pub fn close(&mut self, is_origin: bool) -> Result<(), MpiError> {
        match self.synchronization {
            RmaSynchronization::Flush if is_origin => {
                call!(self.mpi, unlock(rank_of(self.peer), self.handle))
            }
            RmaSynchronization::Fence => {
                call!(self.mpi, fence(self.mpi.constants.no_succeed, self.handle))
            }
            _ => Ok(()),
        }
    }

    /// Operates at all places of `layout` and returns when all operations are complete at both ranks.
    ///
    /// # Panics
    /// When a place does not lie in own memory or in that of the other rank, or an element does not lie on a multiple of
    /// 8 B.
    pub fn operate(&mut self, operation: RmaOperation<'_>, layout: WindowLayout) -> Result<(), MpiError> {
        assert!(layout.end() <= self.peer_bytes, "{layout:?} in {} bytes", self.peer_bytes);
        match self.synchronization {
            RmaSynchronization::Lock => {
                let shared = self.mpi.constants.lock_shared;
                call!(self.mpi, lock(shared, rank_of(self.peer), 0, self.handle))?;
            }
            RmaSynchronization::Pscw => call!(self.mpi, start_access(self.group(), 0, self.handle))?,
            RmaSynchronization::Flush | RmaSynchronization::Fence => {}
        }
        let started = self.start(operation, layout);
        // What was started has to end before the memory may go.
        match self.synchronization {
            RmaSynchronization::Flush => call!(self.mpi, flush(rank_of(self.peer), self.handle))?,
            RmaSynchronization::Lock => call!(self.mpi, unlock(rank_of(self.peer), self.handle))?,
            RmaSynchronization::Fence => call!(self.mpi, fence(0, self.handle))?,
            RmaSynchronization::Pscw => call!(self.mpi, complete_access(self.handle))?,
        }
        started
    }

    /// The share of the other rank in one call of [`Self::operate`].
    pub fn attend(&mut self) -> Result<(), MpiError> {
        match self.synchronization {
            RmaSynchronization::Flush | RmaSynchronization::Lock => Ok(()),
            RmaSynchronization::Fence => call!(self.mpi, fence(0, self.handle)),
            RmaSynchronization::Pscw => {
                call!(self.mpi, post_exposure(self.group(), 0, self.handle))?;
                call!(self.mpi, wait_exposure(self.handle))
            }
        }
    }

    fn group(&self) -> Handle {
        handle_of(self.group, self.mpi.abi().handle_bytes())
    }

    fn start(&self, operation: RmaOperation<'_>, layout: WindowLayout) -> Result<(), MpiError> {
        let (mpi, window, peer) = (self.mpi, self.handle, rank_of(self.peer));
        let (byte, word, sum) = (mpi.constants.byte, mpi.constants.int64, mpi.constants.sum);
        let places = || {
            (0..layout.count)
                .map(|number| layout.first + number * layout.stride)
                .map(|at| (at, self.place(at)))
        };
        match operation {
            RmaOperation::Put(own) => {
                let (base, count) = (inside(own, layout).as_ptr(), length(layout.size)?);
                for (at, place) in places() {
                    let own = base.wrapping_add(at).cast();
                    call!(mpi, put(own, count, byte, peer, place, count, byte, window))?;
                }
            }
            RmaOperation::Get(own) => {
                inside(own, layout);
                let (base, count) = (own.as_mut_ptr(), length(layout.size)?);
                for (at, place) in places() {
                    let own = base.wrapping_add(at).cast();
                    call!(mpi, get(own, count, byte, peer, place, count, byte, window))?;
                }
            }
            RmaOperation::Accumulate(own) => {
                let (base, count) = (inside(own, layout).as_ptr(), length(layout.size / WORD)?);
                for (at, place) in places() {
                    let own = base.wrapping_byte_add(at).cast();
                    call!(mpi, accumulate(own, count, word, peer, place, count, word, sum, window))?;
                }
            }
            RmaOperation::FetchAndAdd { own, before } => {
                inside(before, layout);
                let (own, before) = (inside(own, layout).as_ptr(), before.as_mut_ptr());
                for (at, place) in places() {
                    let (own, before) = (element(own, at), element(before, at).cast_mut());
                    call!(mpi, fetch_and_op(own, before, word, peer, place, sum, window))?;
                }
            }
            RmaOperation::CompareAndSwap { expected, new, before } => {
                inside(before, layout);
                let (expected, new) = (inside(expected, layout).as_ptr(), inside(new, layout).as_ptr());
                let before = before.as_mut_ptr();
                for (at, place) in places() {
                    let (new, expected) = (element(new, at), element(expected, at));
                    let before = element(before, at).cast_mut();
                    call!(mpi, compare_and_swap(new, expected, before, word, peer, place, window))?;
                }
            }
        }
        Ok(())
    }

    const fn place(&self, at: usize) -> isize {
        self.peer_base.wrapping_add(at as isize)
    }
}

/// The element of own memory at a place.
const fn element(base: *const i64, at: usize) -> *const c_void {
    base.wrapping_byte_add(at).cast()
}

/// The memory, if all places of `layout` lie in it and none cuts an element.
fn inside<T>(memory: &[T], layout: WindowLayout) -> &[T] {
    let bytes = size_of_val(memory);
    assert!(layout.end() <= bytes, "{layout:?} in {bytes} bytes");
    let is_whole = |number: usize| number.is_multiple_of(size_of::<T>());
    assert!([layout.first, layout.stride, layout.size].into_iter().all(is_whole), "{layout:?} cuts elements");
    memory
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "cuts elements")]
    fn a_place_within_an_element_is_refused() {
        inside(&[0_i64; 8], WindowLayout { first: 4, stride: 8, size: 8, count: 2 });
    }

    #[test]
    #[should_panic(expected = "in 64 bytes")]
    fn a_place_beyond_the_memory_is_refused() {
        inside(&[0_i64; 8], WindowLayout { first: 0, stride: 32, size: 16, count: 3 });
    }
}
