//! Starts streams at the same moment: a gate holds them while they are filled.

use std::sync::Arc;

use seatrial_model::Nanos;
use seatrial_sys::clock::now_ns;
use seatrial_sys::gpu::{Gate, Gpu, GpuError, GpuFault};

use super::flow::{CopyError, Flow, Piece, SliceTimes, TimedStream};
use super::split::Split;

#[derive(Debug)]
pub struct Starter {
    gate: Arc<Gate>,
    by_kernel: bool,
}

impl Starter {
    /// A starter for streams of every GPU of this process; `gpu` is any of them.
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        Ok(Self { gate: Gate::new(gpu)?, by_kernel: false })
    }

    pub const fn hold_method(&self) -> &'static str {
        if self.by_kernel { "kernel" } else { "stream wait value" }
    }

    /// Runs all flows at once, in the pieces of `split`. `meanwhile` is called while they run.
    pub fn run(
        &mut self,
        mut flows: Vec<Flow<'_>>,
        split: Split,
        meanwhile: impl FnOnce(),
    ) -> Result<SliceTimes, CopyError> {
        let pieces = flows.iter().map(|flow| flow.copies.div_ceil(split.each)).max().unwrap_or(0);
        self.gate.close();
        let queued: Result<(), CopyError> = flows
            .iter_mut()
            .try_for_each(|flow| self.fill(flow, split, pieces).map_err(CopyError::of(flow.gpu)));
        let opened = Nanos(now_ns());
        self.gate.open();
        if queued.is_ok() {
            meanwhile();
        }
        // All streams are waited for, even if one failed: nothing may keep running.
        let finish = |flow: &Flow<'_>| flow.timed.stream.finish().map_err(CopyError::of(flow.gpu));
        let finished: Vec<Result<(), CopyError>> = flows.iter().map(finish).collect();
        queued?;
        finished.into_iter().collect::<Result<(), CopyError>>()?;
        let mut times = SliceTimes { pieces: Vec::new(), took: 0.0, copies: split.copies() };
        for flow in &flows {
            let marks = marks(flow, &flows, pieces).map_err(CopyError::of(flow.gpu))?;
            times.took = times.took.max(marks[pieces] - marks[0]);
            let at = |mark: f64| Nanos(opened.get().saturating_add_signed(mark.round() as i64));
            for piece in 0..pieces {
                let bytes = (flow.piece(split, piece).len() * flow.bytes) as u64;
                let span = (at(marks[piece]), at(marks[piece + 1]));
                // A device of less memory may have fewer pieces.
                let lanes = flow.lanes.iter().filter(|_| bytes > 0);
                times.pieces.extend(lanes.map(|lane| Piece { lane: *lane, span, bytes }));
            }
        }
        Ok(times)
    }

    fn fill(&mut self, flow: &mut Flow<'_>, split: Split, pieces: usize) -> Result<(), GpuError> {
        flow.timed.with_marks(pieces + 1)?;
        self.hold(flow.timed)?;
        let TimedStream { stream, marks, .. } = &*flow.timed;
        marks[0].record(stream)?;
        (0..pieces).try_for_each(|piece| {
            flow.piece(split, piece).try_for_each(|copy| (flow.queue)(stream, copy))?;
            marks[piece + 1].record(stream)
        })
    }

    /// Older drivers and some virtual machines do not support stream wait on memory; a kernel of one thread works
    /// everywhere.
    fn hold(&mut self, timed: &TimedStream) -> Result<(), GpuError> {
        if !self.by_kernel {
            match timed.stream.hold(&self.gate) {
                Err(error) if error.fault() == GpuFault::NotSupported => self.by_kernel = true,
                other => return other,
            }
        }
        timed.kernels.wait(&timed.stream, &self.gate)
    }
}

/// Nanoseconds from the opening of the gate to the marks of a flow; the first mark is its start. Event times are
/// comparable on one device only. Each device's first stream is its zero, which the gate makes the same moment on all
/// devices.
fn marks(flow: &Flow<'_>, flows: &[Flow<'_>], pieces: usize) -> Result<Vec<f64>, GpuError> {
    let device = |flow: &Flow<'_>| flow.timed.stream.gpu().properties().pci_address.clone();
    let zero = flows.iter().find(|other| device(other) == device(flow)).unwrap_or(flow);
    flow.timed.marks[..=pieces].iter().map(|mark| zero.timed.marks[0].until_ns(mark)).collect()
}
