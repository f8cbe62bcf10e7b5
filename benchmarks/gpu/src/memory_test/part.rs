//! The cells: each pattern is written to all of the memory, checked and inverted, and checked once more.

use std::path::Path;
use std::sync::Arc;

use seatrial_model::{Bytes, Case, Cause, Nanos, Params, PartPlacement, Phase, Quantity, Reason, Sample};
use seatrial_sys::gpu::{DeviceMemory, GpuError, Span, Stream};
use serde_json::{Value, json};

use crate::copy::{CopyCells, CopyError, Flow, Piece, SliceRun, SliceTimes, Split, Starter, TimedStream};
use crate::kernel::Tally;
use crate::pattern::{Pattern, Wrong};
use crate::{Checks, Device};
use seatrial_bench::Sink;

pub const PATTERNS: [&str; 4] = ["address", "zeros", "checkerboard", "random"];

/// Bytes of a chunk: three steps over the chunks of 288 GiB are 432 commands, which a stream's queue holds.
const CHUNK: u64 = 2 << 30;

/// A chunk is a multiple of it, so that three steps of four passes have equal bytes.
const GRANULE: u64 = 24 << 10;

/// Written; checked and inverted; checked.
const STEPS: usize = 3;

/// What an error is found after, by the number of the step that finds it.
const AFTER: [&str; STEPS] = ["", "after it was written", "after it was inverted"];

pub struct MemoryTestCells {
    patterns: Vec<&'static str>,
    chunk: usize,
    chunks: Vec<Arc<DeviceMemory>>,
    /// Of each step and chunk.
    tallies: Vec<Tally>,
    /// Slices so far: random words are others in each.
    slices: u64,
    timed: TimedStream,
    starter: Starter,
    about: Value,
    device: Device,
}

pub fn ready(case: &Case, _: &PartPlacement, library: Option<&Path>) -> Result<MemoryTestCells, Reason> {
    let missing = || Reason::new(Cause::Protocol, "the case names no GPU");
    let address = crate::address_of(case)?.into_iter().next().ok_or_else(missing)?;
    let wanted = case.params.text("pattern")?;
    let patterns = PATTERNS.into_iter().filter(|name| wanted == "auto" || *name == wanted).collect();
    let driver = Device::driver(library)?;
    let device = Device::at(&driver, &address)?;
    let (free, total) = device.gpu.memory().map_err(device.refused("reading its memory size"))?;
    let bytes = free / 100 * case.params.count("memory")?;
    let count = bytes.div_ceil(CHUNK).max(1);
    let chunk = bytes / count / GRANULE * GRANULE;
    if chunk == 0 {
        device.require(free + GRANULE)?;
    }
    let chunks = (0..count).map(|_| device.take(chunk as usize)).collect::<Result<Vec<_>, _>>()?;
    let tallies = (0..count as usize * STEPS).map(|_| Tally::take(&device.gpu)).collect::<Result<_, _>>();
    let tallies = tallies.map_err(device.refused("allocating device memory"))?;
    let mut about = device.evidence(&driver);
    about["tested_bytes"] = json!(chunk * count);
    about["memory_bytes"] = json!(total);
    let (timed, starter) = (device.timed_stream()?, device.starter()?);
    Ok(MemoryTestCells {
        patterns,
        chunk: chunk as usize,
        chunks,
        tallies,
        slices: 0,
        timed,
        starter,
        about,
        device,
    })
}

/// The words of a pattern, as numbers that increase by one step.
fn words(name: &str, slice: u64) -> Pattern {
    match name {
        "address" => Pattern { first: 0, step: 1 },
        "zeros" => Pattern { first: 0, step: 0 },
        "checkerboard" => Pattern { first: 0x5555_5555_5555_5555, step: 0 },
        _ => Pattern::of(slice),
    }
}

impl MemoryTestCells {
    /// The first wrong word of a chunk in words, and whether the same place is right when it is written once more.
    fn describe(&self, name: &str, wrong: Wrong, chunk: usize, step: usize) -> Result<String, GpuError> {
        let Device { stream, kernels, tally, address, .. } = &self.device;
        let (at, count) = (Span::Device(&self.chunks[chunk], 0), self.chunk / 8);
        let pattern = words(name, self.slices);
        let pattern = if step == 1 { pattern } else { pattern.inverted() }.from((chunk * count) as u64);
        kernels.fill(stream, at, count, pattern)?;
        let again = kernels.check(stream, tally, at, count, pattern)?;
        let offset = Bytes((chunk * self.chunk) as u64 + 8 * wrong.first);
        let again = if again.is_some() { "wrong again" } else { "right" };
        Ok(format!(
            "GPU {address}: pattern {name} {}: {} wrong words, the first {} bytes into the memory that is tested, bits \
             {:#018x} differ; written and read once more they are {again}",
            AFTER[step],
            wrong.count,
            offset.get(),
            wrong.bits
        ))
    }

    fn note(&self, name: &str, checks: &mut Checks) -> Result<(), GpuError> {
        for (number, tally) in self.tallies.iter().enumerate().skip(self.chunks.len()) {
            let (step, chunk) = (number / self.chunks.len(), number % self.chunks.len());
            let wrong = tally.read(&self.device.stream)?;
            let text = wrong.map(|wrong| self.describe(name, wrong, chunk, step)).transpose()?;
            checks.note(self.chunk as u64, wrong.map_or(0, |wrong| wrong.count), || text.unwrap_or_default());
        }
        Ok(())
    }
}

impl CopyCells for MemoryTestCells {
    fn count(&self) -> usize {
        self.patterns.len()
    }

    /// One pass over the memory.
    fn slice_time(&self) -> Nanos {
        Nanos(1)
    }

    fn rounds(&self, phase: Phase) -> Option<u64> {
        (phase == Phase::WarmUp).then_some(1)
    }

    fn copy(&mut self, cell: usize, run: SliceRun<'_>) -> Result<SliceTimes, CopyError> {
        self.slices += 1;
        let name = self.patterns[cell];
        let pattern = words(name, self.slices);
        let Self { chunk, chunks, tallies, timed, starter, device, .. } = self;
        let (count, all) = (*chunk / 8, chunks.len());
        let spans = tallies.iter().map(|tally| tally.clear(&device.stream)).collect::<Result<Vec<_>, _>>()?;
        let step = |stream: &Stream, turn: usize| {
            let (at, pattern) =
                (Span::Device(&chunks[turn % all], 0), pattern.from((turn % all * count) as u64));
            match turn / all {
                0 => device.kernels.fill(stream, at, count, pattern),
                1 => device.kernels.compare(stream, spans[turn], at, count, pattern, true),
                _ => device.kernels.compare(stream, spans[turn], at, count, pattern.inverted(), false),
            }
        };
        // Written once, read and written, read: four times the chunk in three steps.
        let flow = Flow::new(0, timed, (STEPS * all, *chunk / STEPS * 4), step);
        let times = starter.run(vec![flow], Split::of(STEPS * all, 1), run.meanwhile)?;
        self.note(name, run.checks)?;
        Ok(times)
    }

    fn sample(&self, cell: usize, _: u64, piece: &Piece) -> Sample {
        let at: Params = [("pattern", self.patterns[cell].into())].into();
        Sample::new("pass", at, piece.span, Quantity::bytes(piece.bytes))
    }

    fn lose(&mut self, cell: usize, failed: CopyError) -> Result<(), Reason> {
        Err(crate::during(&self.device.address, self.patterns[cell])(failed.error))
    }

    fn evidence(&self, out: &mut dyn Sink) {
        out.evidence("gpu", self.about.clone());
        out.evidence("held_by", json!(self.starter.hold_method()));
    }
}
