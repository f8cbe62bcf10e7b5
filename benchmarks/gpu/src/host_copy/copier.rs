//! How a cell is copied: from pinned or from pageable memory.

use crate::Watches;
use seatrial_bench::Sink;
use seatrial_model::{Integrity, Reason};

pub trait Copier: Send {
    /// Makes `copies` copies of a cell in each of its directions; returns the nanoseconds of the slower direction.
    /// With `out`, samples are emitted.
    fn slice(
        &mut self,
        cell: usize,
        copies: usize,
        slice: u64,
        out: Option<&mut dyn Sink>,
        watches: &mut Watches<'_>,
    ) -> Result<f64, Reason>;

    fn forget(&mut self) -> Result<(), Reason>;

    /// Results of all checks; the host memory is checked now.
    fn verify(&mut self) -> Result<Integrity, Reason>;

    fn evidence(&self, out: &mut dyn Sink);
}
