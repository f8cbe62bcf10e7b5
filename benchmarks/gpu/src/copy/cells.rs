//! Rounds over the cells of a benchmark.

use seatrial_bench::{Sink, Stop};
use seatrial_model::{Nanos, Phase, Reason, Sample};

use super::flow::{CopyError, Piece, SliceTimes};
use super::split::copies_in;
use crate::{Checks, Watches};

/// What a cell is asked for in a slice.
pub struct SliceRun<'a> {
    /// Copies to make on each stream, at least.
    pub copies: usize,
    pub checks: &'a mut Checks,
    /// To be called while the copies run.
    pub meanwhile: &'a mut dyn FnMut(),
}

/// What a benchmark copies, cell by cell. Cells go by their number.
pub trait CopyCells: Send {
    fn count(&self) -> usize;

    /// Time that the copies of a slice fill.
    fn slice_time(&self) -> Nanos;

    /// Whether the GPUs that are left can make the copies of a cell.
    fn can(&self, _cell: usize) -> bool {
        true
    }

    /// Overwrites the targets of a cell, makes its copies, and checks what they wrote to devices.
    fn copy(&mut self, cell: usize, run: SliceRun<'_>) -> Result<SliceTimes, CopyError>;

    fn sample(&self, cell: usize, slice: u64, piece: &Piece) -> Sample;

    /// Leaves out the GPU that failed in a cell; fails when the case cannot go on without it.
    fn lose(&mut self, cell: usize, failed: CopyError) -> Result<(), Reason>;

    /// Measures the latencies of a round, with samples where there is `out`.
    fn latencies(&mut self, _: &Stop, _out: Option<&mut dyn Sink>) -> Result<(), Reason> {
        Ok(())
    }

    /// Rounds of a phase, which are made whole; `None` for as many as fit into its time.
    fn rounds(&self, _: Phase) -> Option<u64> {
        None
    }

    /// Clears the host's targets, so that what the warm-up wrote does not pass for a result.
    fn forget(&mut self) -> Result<(), Reason> {
        Ok(())
    }

    fn evidence(&self, out: &mut dyn Sink);

    /// Checks what was written to the host.
    fn verify(&mut self, _: &mut Checks) -> Result<(), Reason> {
        Ok(())
    }
}

pub struct CopyRounds<C> {
    pub cells: C,
    pub checks: Checks,
    /// Copies of the next slice, by cell.
    copies: Vec<usize>,
    slices: u64,
}

impl<C: CopyCells> CopyRounds<C> {
    pub fn new(cells: C) -> Self {
        Self { copies: vec![1; cells.count()], cells, checks: Checks::default(), slices: 0 }
    }

    /// Measures everything once. With `out`, samples are emitted and `stop` ends the round early. Returns the sum of
    /// all rates, to compare rounds.
    pub fn round(
        &mut self,
        stop: &Stop,
        mut out: Option<&mut dyn Sink>,
        watches: &mut Watches<'_>,
    ) -> Result<f64, Reason> {
        let whole = out.is_none() || self.cells.rounds(Phase::Measure).is_some();
        let mut rates = 0.0;
        for cell in 0..self.copies.len() {
            if stop.is_over() && !whole {
                return Ok(rates);
            }
            let Some(times) = self.slice(cell, watches)? else { continue };
            rates += times.bytes_per_second();
            self.copies[cell] = copies_in(self.cells.slice_time(), times.took / times.copies as f64);
            if let Some(out) = out.as_deref_mut() {
                times.pieces.iter().for_each(|piece| out.sample(self.cells.sample(cell, self.slices, piece)));
            }
            self.slices += 1;
        }
        self.cells.latencies(stop, out)?;
        Ok(rates)
    }

    /// The copies of a cell; after the loss of a GPU again without it, where that is possible.
    fn slice(&mut self, cell: usize, watches: &mut Watches<'_>) -> Result<Option<SliceTimes>, Reason> {
        while self.cells.can(cell) {
            let run = SliceRun {
                copies: self.copies[cell],
                checks: &mut self.checks,
                meanwhile: &mut || watches.take_reading(),
            };
            match self.cells.copy(cell, run) {
                Ok(times) => return Ok(Some(times)),
                Err(failed) => self.cells.lose(cell, failed)?,
            }
        }
        Ok(None)
    }
}
