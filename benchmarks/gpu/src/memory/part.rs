//! The cells: kernels over arrays on the device, every word checked after every slice.

use std::path::Path;
use std::sync::Arc;

use seatrial_model::{Case, Cause, Nanos, PartPlacement, Quantity, Reason, Sample};
use seatrial_sys::gpu::{DeviceMemory, Function, GpuError, Span, Stream};
use serde_json::json;

use super::plan::SLICE;
use super::variant::{Variant, variants};
use crate::copy::{CopyCells, CopyError, Flow, Piece, SliceRun, SliceTimes, Split, Starter, TimedStream};
use crate::pattern::Pattern;
use crate::{Arrays, Device, Op, SUMS};
use seatrial_bench::Sink;

const FACTOR: u64 = 3;

const SUM_BYTES: usize = SUMS as usize * size_of::<u64>();

const WRITTEN: Pattern = Pattern::of(7);

pub struct GpuMemoryCells {
    array: usize,
    variants: Vec<(Variant, Option<Function>)>,
    arrays: [Arc<DeviceMemory>; 3],
    sums: Arc<DeviceMemory>,
    timed: TimedStream,
    starter: Starter,
    about: serde_json::Value,
    device: Device,
}

pub fn ready(case: &Case, _: &PartPlacement, library: Option<&Path>) -> Result<GpuMemoryCells, Reason> {
    let missing = |what: &str| Reason::new(Cause::Protocol, format!("the case names no {what}"));
    let address = crate::address_of(case)?.into_iter().next().ok_or_else(|| missing("GPU"))?;
    let array = case.planned.bytes("array")?.ok_or_else(|| missing("size of an array"))?.get() as usize;
    let variants = variants(case.params.text("kernel")?, case.params.text("variants")? == "all");
    let driver = Device::driver(library)?;
    let device = Device::at(&driver, &address)?;
    device.require((3 * array + SUM_BYTES) as u64)?;
    let arrays = [device.take(array)?, device.take(array)?, device.take(array)?];
    let mut shapes = Vec::new();
    for variant in &variants {
        if let Variant::Kernel(shape, _) = variant
            && !shapes.contains(shape)
        {
            shapes.push(*shape);
        }
    }
    let loaded = device.kernels.streaming(&shapes).map_err(device.refused("translating the kernels"))?;
    let function = |variant: &Variant| match variant {
        Variant::Kernel(shape, _) => loaded.of(*shape).map(Some),
        Variant::Memcpy => Some(None),
    };
    let variants = variants.iter().filter_map(|variant| Some((*variant, function(variant)?))).collect();
    let mut about = device.evidence(&driver);
    if let Some(why) = loaded.left_out {
        about["left_out"] = json!(why);
    }
    for (from, kind) in [(&arrays[1], 1), (&arrays[2], 2)] {
        device.fill(from, array, Pattern::of(kind)).map_err(device.refused("filling the arrays"))?;
    }
    let (sums, timed, starter) = (device.take(SUM_BYTES)?, device.timed_stream()?, device.starter()?);
    Ok(GpuMemoryCells { array, variants, arrays, sums, timed, starter, about, device })
}

impl CopyCells for GpuMemoryCells {
    fn count(&self) -> usize {
        self.variants.len()
    }

    fn slice_time(&self) -> Nanos {
        SLICE
    }

    fn copy(&mut self, cell: usize, run: SliceRun<'_>) -> Result<SliceTimes, CopyError> {
        let Self { array, variants, arrays, sums, timed, starter, device, .. } = self;
        let (bytes, passes, (variant, function)) = (*array, run.copies, &variants[cell]);
        let [a, b, c] = [&arrays[0], &arrays[1], &arrays[2]].map(|array| Span::Device(array, 0));
        let total = Span::Device(sums, 0);
        let op = variant.op();
        match op {
            Some(Op::Read) => device.set(sums, 0, sums.len())?,
            _ => device.overwrite(&arrays[0], bytes)?,
        }
        let pass = |stream: &Stream, _: usize| match (variant, function) {
            (Variant::Kernel(shape, walk), Some(function)) => {
                let arrays = match shape.op {
                    Op::Read => Arrays::Read { from: b, sums: total },
                    Op::Write => Arrays::Write { to: a, pattern: WRITTEN },
                    Op::Copy => Arrays::Copy { to: a, from: b },
                    Op::Triad => Arrays::Triad { to: a, from: b, and: c, factor: FACTOR },
                };
                device.kernels.stream(stream, function, (*shape, *walk), &arrays, bytes)
            }
            _ => stream.copy(a, b, bytes),
        };
        let flow = Flow::new(0, timed, (passes, bytes * variant.arrays() as usize), pass);
        let times = starter.run(vec![flow], Split::of(passes, 1), run.meanwhile)?;
        let what = || format!("GPU {}: {} {}", device.address, variant.kernel(), variant.name());
        let expected = match op {
            Some(Op::Read) => {
                let expected = Pattern::of(1).sum(bytes as u64 / 8).wrapping_mul(passes as u64);
                let found = sum(&device.stream, sums)?;
                run.checks.note(bytes as u64, u64::from(found != expected), || {
                    format!("{}: the sum is {found:#x} instead of {expected:#x}", what())
                });
                return Ok(times);
            }
            Some(Op::Write) => WRITTEN,
            Some(Op::Triad) => Pattern::of(1).plus(FACTOR, Pattern::of(2)),
            Some(Op::Copy) | None => Pattern::of(1),
        };
        device.check((&arrays[0], 0), bytes, expected, run.checks, what)?;
        Ok(times)
    }

    fn sample(&self, cell: usize, _: u64, piece: &Piece) -> Sample {
        let variant = self.variants[cell].0;
        let at = [("kernel", variant.kernel().into()), ("variant", variant.name().as_str().into())].into();
        Sample::new("pass", at, piece.span, Quantity::bytes(piece.bytes))
    }

    fn lose(&mut self, cell: usize, failed: CopyError) -> Result<(), Reason> {
        Err(crate::during(&self.device.address, self.variants[cell].0.kernel())(failed.error))
    }

    fn evidence(&self, out: &mut dyn Sink) {
        out.evidence("gpu", self.about.clone());
        out.evidence("held_by", json!(self.starter.hold_method()));
    }
}

/// Sum of the words, modulo 2^64.
fn sum(stream: &Stream, words: &Arc<DeviceMemory>) -> Result<u64, GpuError> {
    let mut found = vec![0_u8; words.len()];
    stream.copy_out(&mut found, Span::Device(words, 0))?;
    let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("chunks of 8 bytes"));
    Ok(found.chunks_exact(8).map(word).fold(0, u64::wrapping_add))
}
