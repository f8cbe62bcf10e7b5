//! Streams that a gate holds while they are filled, and that start at the same moment.

use std::sync::Arc;

use seatrial_model::Nanos;
use seatrial_sys::clock::now_ns;
use seatrial_sys::gpu::{Event, Gate, Gpu, GpuError, GpuFault, Stream};

use super::Kernels;

/// Most commands in a held stream: a driver's queue holds about 1,000, and queueing more blocks forever while the
/// gate is closed.
pub const MOST_QUEUED: usize = 240;

#[derive(Debug)]
pub struct TimedStream {
    pub stream: Stream,
    kernels: Kernels,
    marks: Vec<Event>,
}

impl TimedStream {
    pub fn new(gpu: &Gpu, kernels: &Kernels) -> Result<Self, GpuError> {
        Ok(Self { stream: Stream::new(gpu)?, kernels: kernels.clone(), marks: Vec::new() })
    }

    fn with_marks(&mut self, count: usize) -> Result<(), GpuError> {
        while self.marks.len() < count {
            self.marks.push(Event::new(self.stream.gpu())?);
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
pub struct Run {
    /// Time at which the gate was opened, on the host's clock.
    pub opened: Nanos,
    /// By stream: nanoseconds from the opening to each mark; the first mark is the start.
    pub marks: Vec<Vec<f64>>,
}

impl Run {
    /// Start and end of a piece, on the host's clock.
    pub fn piece(&self, stream: usize, piece: usize) -> (Nanos, Nanos) {
        let at = |mark: f64| Nanos(self.opened.get().saturating_add_signed(mark.round() as i64));
        (at(self.marks[stream][piece]), at(self.marks[stream][piece + 1]))
    }
}

#[derive(Clone, Debug, thiserror::Error)]
#[error("{error}")]
pub struct StreamError {
    pub stream: usize,
    pub error: GpuError,
}

impl From<StreamError> for GpuError {
    fn from(failed: StreamError) -> Self {
        failed.error
    }
}

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

    /// Runs `pieces` pieces of work in every stream; `queue(stream, piece)` queues them. `meanwhile` is called while
    /// they run.
    pub fn run(
        &mut self,
        streams: &mut [&mut TimedStream],
        pieces: usize,
        mut queue: impl FnMut(usize, &Stream, usize) -> Result<(), GpuError>,
        meanwhile: impl FnOnce(),
    ) -> Result<Run, StreamError> {
        self.gate.close();
        let fill = |(number, timed): (usize, &mut &mut TimedStream)| {
            self.fill(timed, pieces, |stream, piece| queue(number, stream, piece)).map_err(at(number))
        };
        let queued: Result<(), StreamError> = streams.iter_mut().enumerate().try_for_each(fill);
        let opened = Nanos(now_ns());
        self.gate.open();
        if queued.is_ok() {
            meanwhile();
        }
        // All streams are waited for, even if one failed: nothing may keep running.
        let finish = |(number, timed): (usize, &&mut TimedStream)| timed.stream.finish().map_err(at(number));
        let finished: Vec<Result<(), StreamError>> = streams.iter().enumerate().map(finish).collect();
        queued?;
        finished.into_iter().collect::<Result<(), StreamError>>()?;
        let marks = streams.iter().enumerate().map(|(number, timed)| {
            // Event times are comparable on one device only. Each device's first stream is its zero, which the gate
            // makes the same moment on all devices.
            let zero = streams.iter().find(|other| same(other.stream.gpu(), timed.stream.gpu()));
            let zero = &zero.map_or(&timed.marks, |first| &first.marks)[0];
            let marks = timed.marks[..=pieces].iter().map(|mark| zero.until_ns(mark));
            marks.collect::<Result<Vec<f64>, GpuError>>().map_err(at(number))
        });
        Ok(Run { opened, marks: marks.collect::<Result<Vec<Vec<f64>>, StreamError>>()? })
    }

    fn fill(
        &mut self,
        timed: &mut TimedStream,
        pieces: usize,
        mut queue: impl FnMut(&Stream, usize) -> Result<(), GpuError>,
    ) -> Result<(), GpuError> {
        timed.with_marks(pieces + 1)?;
        self.hold(timed)?;
        timed.marks[0].record(&timed.stream)?;
        (0..pieces).try_for_each(|piece| {
            queue(&timed.stream, piece)?;
            timed.marks[piece + 1].record(&timed.stream)
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

fn at(stream: usize) -> impl Fn(GpuError) -> StreamError {
    move |error| StreamError { stream, error }
}

fn same(one: &Gpu, other: &Gpu) -> bool {
    one.properties().pci_address == other.properties().pci_address
}
