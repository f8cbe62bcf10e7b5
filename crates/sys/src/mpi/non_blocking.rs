//! Collective operations that are started, and waited for after something else has been done.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ffi::c_void;

use super::collective::{Number, Reduction, reduced};
use super::communicator::{Communicator, length, rank_of};
use super::error::MpiError;
use super::library::call;

/// A non-blocking collective operation and its memory, as the method of [`Communicator`] of that name has it.
#[derive(Debug)]
pub enum NonBlocking<'b, T> {
    Barrier,
    Broadcast { elements: &'b mut [T], root: usize },
    Reduce { own: &'b [T], into: &'b mut [T], operation: Reduction, root: usize },
    AllReduce { own: &'b [T], into: &'b mut [T], operation: Reduction },
    ReduceScatterBlock { own: &'b [T], into: &'b mut [T], operation: Reduction },
    Scan { own: &'b [T], into: &'b mut [T], operation: Reduction },
    AllGather { own: &'b [T], all: &'b mut [T] },
    Gather { own: &'b [T], all: &'b mut [T], root: usize },
    Scatter { all: &'b [T], own: &'b mut [T], root: usize },
    AllToAll { out: &'b [T], into: &'b mut [T] },
}

/// The request of an operation that was started; dropping it waits, so that no library writes to memory that is gone.
struct Pending<'a> {
    ranks: &'a Communicator<'a>,
    /// As wide as the library's handles.
    request: u64,
    is_over: bool,
}

impl Pending<'_> {
    #[inline]
    fn wait(&mut self) -> Result<(), MpiError> {
        self.is_over = true;
        let (request, no_status): (*mut c_void, usize) =
            ((&raw mut self.request).cast(), self.ranks.mpi.constants.no_status);
        call!(self.ranks.mpi, wait(request, no_status))
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // A panic between start and end; there is no caller to tell.
            let _ = self.wait();
        }
    }
}

impl Communicator<'_> {
    /// Starts the operation, calls `during`, and waits until the operation is complete at this rank.
    #[inline]
    pub fn overlap<T: Number>(
        &self,
        collective: NonBlocking<'_, T>,
        during: impl FnOnce(),
    ) -> Result<(), MpiError> {
        let mut pending = Pending { ranks: self, request: 0, is_over: true };
        self.start_collective(collective, (&raw mut pending.request).cast())?;
        pending.is_over = false;
        during();
        pending.wait()
    }

    #[inline]
    fn start_collective<T: Number>(
        &self,
        collective: NonBlocking<'_, T>,
        request: *mut c_void,
    ) -> Result<(), MpiError> {
        let (mpi, ranks, of) = (self.mpi, self.handle, self.datatype::<T>());
        match collective {
            NonBlocking::Barrier => call!(mpi, start_barrier(ranks, request)),
            NonBlocking::Broadcast { elements, root } => {
                let (count, elements) = (length(elements.len())?, elements.as_mut_ptr().cast());
                call!(mpi, start_broadcast(elements, count, of, rank_of(root), ranks, request))
            }
            NonBlocking::Reduce { own, into, operation, root } => {
                let room = if self.rank() == root { into.len() } else { own.len() };
                let (count, operation) = (reduced(own.len(), room)?, self.reduction(operation));
                let (own, into) = (own.as_ptr().cast(), into.as_mut_ptr().cast());
                call!(mpi, start_reduce(own, into, count, of, operation, rank_of(root), ranks, request))
            }
            NonBlocking::AllReduce { own, into, operation } => {
                let (count, operation) = (reduced(own.len(), into.len())?, self.reduction(operation));
                let (own, into) = (own.as_ptr().cast(), into.as_mut_ptr().cast());
                call!(mpi, start_all_reduce(own, into, count, of, operation, ranks, request))
            }
            NonBlocking::ReduceScatterBlock { own, into, operation } => {
                let (count, operation) = (self.piece(into.len(), own.len())?, self.reduction(operation));
                let (own, into) = (own.as_ptr().cast(), into.as_mut_ptr().cast());
                call!(mpi, start_reduce_scatter_block(own, into, count, of, operation, ranks, request))
            }
            NonBlocking::Scan { own, into, operation } => {
                let (count, operation) = (reduced(own.len(), into.len())?, self.reduction(operation));
                let (own, into) = (own.as_ptr().cast(), into.as_mut_ptr().cast());
                call!(mpi, start_scan(own, into, count, of, operation, ranks, request))
            }
            NonBlocking::AllGather { own, all } => {
                let count = self.piece(own.len(), all.len())?;
                let (own, all) = (own.as_ptr().cast(), all.as_mut_ptr().cast());
                call!(mpi, start_all_gather(own, count, of, all, count, of, ranks, request))
            }
            NonBlocking::Gather { own, all, root } => {
                let count = self.piece_at(root, own.len(), all.len())?;
                let (own, all, root) = (own.as_ptr().cast(), all.as_mut_ptr().cast(), rank_of(root));
                call!(mpi, start_gather(own, count, of, all, count, of, root, ranks, request))
            }
            NonBlocking::Scatter { all, own, root } => {
                let count = self.piece_at(root, own.len(), all.len())?;
                let (all, own, root) = (all.as_ptr().cast(), own.as_mut_ptr().cast(), rank_of(root));
                call!(mpi, start_scatter(all, count, of, own, count, of, root, ranks, request))
            }
            NonBlocking::AllToAll { out, into } => {
                let count = self.piece(out.len() / self.size().max(1), into.len().min(out.len()))?;
                let (out, into) = (out.as_ptr().cast(), into.as_mut_ptr().cast());
                call!(mpi, start_all_to_all(out, count, of, into, count, of, ranks, request))
            }
        }
    }
}
