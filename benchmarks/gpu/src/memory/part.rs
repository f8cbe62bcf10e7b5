//! The workload: arrays on the device, kernels in turn, every word checked after every slice.

use std::path::Path;
use std::sync::Arc;

use seatrial_model::{Case, Cause, Integrity, Nanos, PartPlacement, Quantity, Reason, Sample};
use seatrial_sys::gpu::{DeviceMemory, Function, GpuError, Span};
use serde_json::json;

use super::plan::SLICE;
use super::variant::{Variant, variants};
use crate::pattern::Pattern;
use crate::{
    Arrays, Checks, GpuWorkload, MOST_QUEUED, Op, Opened, SUMS, Starter, Tally, TimedStream, Watches,
};
use seatrial_bench::{Sink, Stop};

const FACTOR: u64 = 3;

const SUM_BYTES: usize = SUMS as usize * size_of::<u64>();

pub struct GpuMemoryWorkload {
    array: usize,
    variants: Vec<Variant>,
    arrays: [Arc<DeviceMemory>; 3],
    sums: Arc<DeviceMemory>,
    tally: Tally,
    functions: Vec<Option<Function>>,
    passes: Vec<usize>,
    timed: TimedStream,
    starter: Starter,
    about: serde_json::Value,
    checks: Checks,
    opened: Opened,
}

pub fn ready(case: &Case, _: &PartPlacement, library: Option<&Path>) -> Result<GpuMemoryWorkload, Reason> {
    let missing = |what: &str| Reason::new(Cause::Protocol, format!("the case names no {what}"));
    let address = crate::address_of(case)?.into_iter().next().ok_or_else(|| missing("GPU"))?;
    let array = case.planned.bytes("array")?.ok_or_else(|| missing("size of an array"))?.get() as usize;
    let variants = variants(case.params.text("kernel")?, case.params.text("variants")? == "all");
    let driver = Opened::driver(library)?;
    let opened = Opened::at(&driver, &address)?;
    opened.require((3 * array + SUM_BYTES) as u64)?;
    let refused = |what: &str| crate::preparing(&address, what);
    let take = |bytes| DeviceMemory::take(&opened.gpu, bytes).map_err(refused("allocating device memory"));
    let arrays = [take(array)?, take(array)?, take(array)?];
    let mut shapes = Vec::new();
    for variant in &variants {
        if let Variant::Kernel(shape, _) = variant
            && !shapes.contains(shape)
        {
            shapes.push(*shape);
        }
    }
    let loaded = opened.kernels.streaming(&shapes).map_err(refused("translating the kernels"))?;
    let function = |variant: &Variant| match variant {
        Variant::Kernel(shape, _) => loaded.of(*shape).map(Some),
        Variant::Memcpy => Some(None),
    };
    let (variants, functions): (Vec<_>, Vec<_>) =
        variants.iter().filter_map(|variant| Some((*variant, function(variant)?))).unzip();
    let mut about = opened.evidence(&driver);
    if let Some(why) = loaded.left_out {
        about["left_out"] = json!(why);
    }
    let timed = TimedStream::new(&opened.gpu, &opened.kernels).map_err(refused("making a stream"))?;
    let ready = GpuMemoryWorkload {
        sums: take(SUM_BYTES)?,
        tally: Tally::take(&opened.gpu).map_err(refused("allocating device memory"))?,
        functions,
        passes: vec![1; variants.len()],
        starter: Starter::new(&opened.gpu).map_err(refused("making a gate"))?,
        about,
        checks: Checks::default(),
        variants,
        array,
        timed,
        arrays,
        opened,
    };
    for (from, kind) in [(&ready.arrays[1], 1), (&ready.arrays[2], 2)] {
        let (stream, at) = (&ready.timed.stream, Span::Device(from, 0));
        let filled = ready.opened.kernels.fill(stream, at, array / 8, Pattern::of(kind));
        filled.and_then(|()| stream.finish()).map_err(refused("filling the arrays"))?;
    }
    Ok(ready)
}

impl GpuWorkload for GpuMemoryWorkload {
    fn round(
        &mut self,
        stop: &Stop,
        mut out: Option<&mut dyn Sink>,
        watches: &mut Watches<'_>,
    ) -> Result<f64, Reason> {
        let mut rates = 0.0;
        for index in 0..self.variants.len() {
            if stop.is_over() && out.is_some() {
                break;
            }
            let variant = self.variants[index];
            let failed = crate::during(&self.opened.address, variant.kernel());
            let (start, end, passes) = self.slice(index, watches).map_err(failed)?;
            let span = end.since(start);
            let bytes = passes as u64 * self.array as u64 * variant.arrays();
            rates += bytes as f64 / span.as_secs().max(1e-9);
            if let Some(out) = out.as_deref_mut() {
                let name = variant.name();
                let at = [("kernel", variant.kernel().into()), ("variant", name.as_str().into())].into();
                out.sample(Sample::new("pass", at, (start, end), Quantity::bytes(bytes)));
            }
            // Sets the passes of this variant's next slice, to fill its time.
            let one = span.as_secs() / passes as f64;
            self.passes[index] = ((SLICE.as_secs() / one.max(1e-9)) as usize).clamp(1, MOST_QUEUED);
        }
        Ok(rates)
    }

    fn evidence(&self, out: &mut dyn Sink) {
        out.evidence("gpu", self.about.clone());
        out.evidence("held_by", json!(self.starter.hold_method()));
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        Ok(self.checks.integrity())
    }
}

impl GpuMemoryWorkload {
    fn slice(&mut self, index: usize, watches: &mut Watches<'_>) -> Result<(Nanos, Nanos, usize), GpuError> {
        let (bytes, words) = (self.array, self.array / 8);
        let variant = self.variants[index];
        let Self { arrays, sums, tally, functions, passes, timed, starter, opened, checks, .. } = self;
        let (passes, kernels) = (passes[index], &opened.kernels);
        let [a, b, c] = [&arrays[0], &arrays[1], &arrays[2]].map(|array| Span::Device(array, 0));
        let total = Span::Device(sums, 0);
        let written = Pattern::of(7);
        let reads = matches!(variant, Variant::Kernel(shape, _) if shape.op == Op::Read);
        match reads {
            true => timed.stream.set(total, 0, sums.len())?,
            false => timed.stream.set(a, 0x5a, bytes)?,
        }
        timed.stream.finish()?;
        let work = |stream: &seatrial_sys::gpu::Stream| match (variant, &functions[index]) {
            (Variant::Kernel(shape, walk), Some(function)) => {
                let arrays = match shape.op {
                    Op::Read => Arrays::Read { from: b, sums: total },
                    Op::Write => Arrays::Write { to: a, pattern: written },
                    Op::Copy => Arrays::Copy { to: a, from: b },
                    Op::Triad => Arrays::Triad { to: a, from: b, and: c, factor: FACTOR },
                };
                kernels.stream(stream, function, (shape, walk), &arrays, bytes)
            }
            _ => stream.copy(a, b, bytes),
        };
        let queue = |_: usize, stream: &seatrial_sys::gpu::Stream, _: usize| {
            (0..passes).try_for_each(|_| work(stream))
        };
        let run = starter.run(&mut [&mut *timed], 1, queue, || watches.take_reading())?;
        let (start, end) = run.piece(0, 0);
        let what = || format!("GPU {}: {} {}", opened.address, variant.kernel(), variant.name());
        if reads {
            let mut found = vec![0_u8; sums.len()];
            timed.stream.copy_out(&mut found, total)?;
            let sum = |sum: u64, word: &[u8]| {
                sum.wrapping_add(u64::from_ne_bytes(word.try_into().expect("chunks of 8 bytes")))
            };
            let found = found.chunks_exact(8).fold(0, sum);
            let expected = Pattern::of(1).sum(words as u64).wrapping_mul(passes as u64);
            let wrong = u64::from(found != expected);
            checks.note(bytes as u64, wrong, || {
                format!("{}: the sum is {found:#x} instead of {expected:#x}", what())
            });
        } else {
            let expected = match variant {
                Variant::Kernel(shape, _) if shape.op == Op::Write => written,
                Variant::Kernel(shape, _) if shape.op == Op::Triad => {
                    Pattern::of(1).plus(FACTOR, Pattern::of(2))
                }
                _ => Pattern::of(1),
            };
            let wrong = kernels.check(&timed.stream, tally, a, words, expected)?;
            checks.note_words(bytes as u64, wrong, 0, what);
        }
        Ok((start, end, passes))
    }
}
