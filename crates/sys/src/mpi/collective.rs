//! Collective operations: all ranks of a communicator call them, in the same order.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ffi::{c_int, c_void};
use std::ptr;

use super::abi::{Constants, Handle};
use super::communicator::{Communicator, length, rank_of};
use super::error::MpiError;
use super::library::call;

mod sealed {
    /// The types that MPI knows by these names.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ElementType {
        Byte,
        Float,
        Double,
    }

    pub trait Sealed: Copy {
        const TYPE: ElementType;
    }

    impl Sealed for u8 {
        const TYPE: ElementType = ElementType::Byte;
    }

    impl Sealed for f32 {
        const TYPE: ElementType = ElementType::Float;
    }

    impl Sealed for f64 {
        const TYPE: ElementType = ElementType::Double;
    }
}

use sealed::{ElementType, Sealed};

/// What collective operations move.
pub trait Datum: Sealed {}

impl Datum for u8 {}
impl Datum for f32 {}
impl Datum for f64 {}

/// What collective operations add and compare.
pub trait Number: Datum {}

impl Number for f32 {}
impl Number for f64 {}

/// How the elements of an operation become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    Sum,
    Max,
}

impl Communicator<'_> {
    #[inline]
    pub fn barrier(&self) -> Result<(), MpiError> {
        call!(self.mpi, barrier(self.handle))
    }

    /// Gives every rank the elements of rank `root`.
    pub fn broadcast<T: Datum>(&self, elements: &mut [T], root: usize) -> Result<(), MpiError> {
        let (count, of) = (length(elements.len())?, self.datatype::<T>());
        call!(self.mpi, broadcast(elements.as_mut_ptr().cast(), count, of, rank_of(root), self.handle))
    }

    /// Puts the result over all ranks into `into` of every rank.
    #[inline]
    pub fn all_reduce<T: Number>(
        &self,
        own: &[T],
        into: &mut [T],
        operation: Reduction,
    ) -> Result<(), MpiError> {
        let count = reduced(own.len(), into.len())?;
        let (of, operation) = (self.datatype::<T>(), self.reduction(operation));
        let (own, into) = (own.as_ptr().cast(), into.as_mut_ptr().cast());
        call!(self.mpi, all_reduce(own, into, count, of, operation, self.handle))
    }

    /// As [`Self::all_reduce`], with the elements of this rank in `both`, where the result comes.
    pub fn all_reduce_in_place<T: Number>(
        &self,
        both: &mut [T],
        operation: Reduction,
    ) -> Result<(), MpiError> {
        let (count, of) = (length(both.len())?, self.datatype::<T>());
        let in_place: *const c_void = ptr::without_provenance(self.mpi.constants.in_place);
        let (both, operation) = (both.as_mut_ptr().cast(), self.reduction(operation));
        call!(self.mpi, all_reduce(in_place, both, count, of, operation, self.handle))
    }

    /// Puts the result over all ranks into `into` of rank `root`; other ranks need no room there.
    pub fn reduce<T: Number>(
        &self,
        own: &[T],
        into: &mut [T],
        operation: Reduction,
        root: usize,
    ) -> Result<(), MpiError> {
        let room = if self.rank() == root { into.len() } else { own.len() };
        let count = reduced(own.len(), room)?;
        let (of, operation) = (self.datatype::<T>(), self.reduction(operation));
        let (own, into) = (own.as_ptr().cast(), into.as_mut_ptr().cast());
        call!(self.mpi, reduce(own, into, count, of, operation, rank_of(root), self.handle))
    }

    /// Puts the piece i of the result over all ranks into `into` of rank i. A piece is as long as `into`, and `own` has
    /// one for each rank.
    pub fn reduce_scatter_block<T: Number>(
        &self,
        own: &[T],
        into: &mut [T],
        operation: Reduction,
    ) -> Result<(), MpiError> {
        let count = self.piece(into.len(), own.len())?;
        let (of, operation) = (self.datatype::<T>(), self.reduction(operation));
        let (own, into) = (own.as_ptr().cast(), into.as_mut_ptr().cast());
        call!(self.mpi, reduce_scatter_block(own, into, count, of, operation, self.handle))
    }

    /// Puts the result over this rank and all ranks before it into `into`.
    pub fn scan<T: Number>(&self, own: &[T], into: &mut [T], operation: Reduction) -> Result<(), MpiError> {
        let count = reduced(own.len(), into.len())?;
        let (of, operation) = (self.datatype::<T>(), self.reduction(operation));
        let (own, into) = (own.as_ptr().cast(), into.as_mut_ptr().cast());
        call!(self.mpi, scan(own, into, count, of, operation, self.handle))
    }

    /// Puts the elements of all ranks into `all` of every rank, in the order of the ranks.
    pub fn all_gather<T: Datum>(&self, own: &[T], all: &mut [T]) -> Result<(), MpiError> {
        let (count, of) = (self.piece(own.len(), all.len())?, self.datatype::<T>());
        let (own, all) = (own.as_ptr().cast(), all.as_mut_ptr().cast());
        call!(self.mpi, all_gather(own, count, of, all, count, of, self.handle))
    }

    /// Puts the elements of all ranks into `all` of rank `root`, in the order of the ranks; other ranks need no room
    /// there.
    pub fn gather<T: Datum>(&self, own: &[T], all: &mut [T], root: usize) -> Result<(), MpiError> {
        let (count, of) = (self.piece_at(root, own.len(), all.len())?, self.datatype::<T>());
        let (own, all, root) = (own.as_ptr().cast(), all.as_mut_ptr().cast(), rank_of(root));
        call!(self.mpi, gather(own, count, of, all, count, of, root, self.handle))
    }

    /// Gives every rank its piece of the elements in `all` of rank `root`; other ranks need none there.
    pub fn scatter<T: Datum>(&self, all: &[T], own: &mut [T], root: usize) -> Result<(), MpiError> {
        let (count, of) = (self.piece_at(root, own.len(), all.len())?, self.datatype::<T>());
        let (all, own, root) = (all.as_ptr().cast(), own.as_mut_ptr().cast(), rank_of(root));
        call!(self.mpi, scatter(all, count, of, own, count, of, root, self.handle))
    }

    /// Gives rank i the piece i of `out`, and puts the piece that rank i has for this rank at place i of `into`.
    pub fn all_to_all<T: Datum>(&self, out: &[T], into: &mut [T]) -> Result<(), MpiError> {
        let count = self.piece(out.len() / self.size().max(1), into.len().min(out.len()))?;
        let of = self.datatype::<T>();
        let (out, into) = (out.as_ptr().cast(), into.as_mut_ptr().cast());
        call!(self.mpi, all_to_all(out, count, of, into, count, of, self.handle))
    }

    pub(super) const fn datatype<T: Datum>(&self) -> Handle {
        let of: &Constants = &self.mpi.constants;
        match T::TYPE {
            ElementType::Byte => of.byte,
            ElementType::Float => of.float,
            ElementType::Double => of.double,
        }
    }

    #[inline]
    pub(super) const fn reduction(&self, operation: Reduction) -> Handle {
        match operation {
            Reduction::Sum => self.mpi.constants.sum,
            Reduction::Max => self.mpi.constants.max,
        }
    }

    /// The length of the piece of a rank, of which `all` has one for each.
    pub(super) fn piece(&self, own: usize, all: usize) -> Result<c_int, MpiError> {
        let ranks = self.size();
        assert!(all >= own * ranks, "{all} elements for {ranks} pieces of {own}");
        length(own)
    }

    /// The same, where only rank `root` has all pieces.
    pub(super) fn piece_at(&self, root: usize, own: usize, all: usize) -> Result<c_int, MpiError> {
        if self.rank() == root { self.piece(own, all) } else { length(own) }
    }
}

#[inline]
pub(super) fn reduced(own: usize, into: usize) -> Result<c_int, MpiError> {
    assert!(into >= own, "{own} elements into {into}");
    length(own)
}
