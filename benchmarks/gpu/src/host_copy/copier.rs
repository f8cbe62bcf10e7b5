//! How one cell of the grid is copied: from pinned memory, or from pageable memory.

use crate::Watches;
use seatrial_bench::Sink;
use seatrial_model::{Integrity, Reason};

/// One way to copy: from and to pinned memory, or pageable.
pub trait Copier: Send {
    /// Makes `copies` copies of a cell in each of its directions; gives nanoseconds that the slower one took. Samples go
    /// to `out` when they count.
    fn slice(
        &mut self,
        cell: usize,
        copies: usize,
        slice: u64,
        out: Option<&mut dyn Sink>,
        watches: &mut Watches<'_>,
    ) -> Result<f64, Reason>;

    /// Overwrites what was copied to the host so far.
    fn forget(&mut self) -> Result<(), Reason>;

    /// What the checks found, the one of the host's memory made now.
    fn verify(&mut self) -> Result<Integrity, Reason>;

    /// What it says for the record.
    fn evidence(&self, out: &mut dyn Sink);
}
