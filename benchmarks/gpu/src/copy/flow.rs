//! What one stream copies in a slice, and the times of the slice.

use std::ops::Range;

use seatrial_model::{Nanos, Params, Quantity, Sample};
use seatrial_sys::gpu::{Event, Gpu, GpuError, Stream};

use super::split::Split;
use crate::Kernels;

/// A stream whose work is timed by events.
#[derive(Debug)]
pub struct TimedStream {
    pub stream: Stream,
    pub(super) kernels: Kernels,
    pub(super) marks: Vec<Event>,
}

impl TimedStream {
    pub fn new(gpu: &Gpu, kernels: &Kernels) -> Result<Self, GpuError> {
        Ok(Self { stream: Stream::new(gpu)?, kernels: kernels.clone(), marks: Vec::new() })
    }

    pub(super) fn with_marks(&mut self, count: usize) -> Result<(), GpuError> {
        while self.marks.len() < count {
            self.marks.push(Event::new(self.stream.gpu())?);
        }
        Ok(())
    }
}

/// Queues the copy of a number in a stream.
pub type Queue<'a> = Box<dyn Fn(&Stream, usize) -> Result<(), GpuError> + 'a>;

pub struct Flow<'a> {
    /// Number of the GPU that an error of this flow is of.
    pub gpu: usize,
    /// Lanes of its samples: two for a kernel that copies in both directions.
    pub lanes: Vec<u64>,
    pub timed: &'a mut TimedStream,
    pub copies: usize,
    /// Bytes of a copy, on each lane.
    pub bytes: usize,
    pub queue: Queue<'a>,
}

impl<'a> Flow<'a> {
    /// A flow of one lane, on the GPU of this number.
    pub fn new(
        gpu: usize,
        timed: &'a mut TimedStream,
        (copies, bytes): (usize, usize),
        queue: impl Fn(&Stream, usize) -> Result<(), GpuError> + 'a,
    ) -> Self {
        Self { gpu, lanes: vec![0], timed, copies, bytes, queue: Box::new(queue) }
    }

    /// Numbers of the copies of a piece.
    pub(super) fn piece(&self, split: Split, piece: usize) -> Range<usize> {
        let end = |piece: usize| (piece * split.each).min(self.copies);
        end(piece)..end(piece + 1)
    }
}

/// Copies of one lane between two marks.
#[derive(Clone, Debug)]
pub struct Piece {
    pub lane: u64,
    pub span: (Nanos, Nanos),
    pub bytes: u64,
}

impl Piece {
    /// The sample of copies at `at`.
    pub fn sample(&self, mut at: Params) -> Sample {
        at.set("lane", self.lane);
        Sample::new("copy", at, self.span, Quantity::bytes(self.bytes))
    }
}

#[derive(Clone, Debug)]
pub struct SliceTimes {
    pub pieces: Vec<Piece>,
    /// Nanoseconds of the slowest stream, and the copies that it made in them.
    pub took: f64,
    pub copies: usize,
}

impl SliceTimes {
    pub fn bytes_per_second(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.bytes as f64).sum::<f64>() * 1e9 / self.took.max(1.0)
    }
}

#[derive(Clone, Debug)]
pub struct CopyError {
    /// Number of the GPU among those of the case.
    pub gpu: usize,
    pub error: GpuError,
}

impl CopyError {
    pub fn of(gpu: usize) -> impl Fn(GpuError) -> Self {
        move |error| Self { gpu, error }
    }
}

/// The only GPU of a case.
impl From<GpuError> for CopyError {
    fn from(error: GpuError) -> Self {
        Self { gpu: 0, error }
    }
}
