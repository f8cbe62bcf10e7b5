//! The worker: arrays on the device, kernels over them in turn, every word checked after every slice.

#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use seatrial_model::{Case, Cause, Integrity, Nanos, Params, Phase, Place, Quantity, Sample, Unit};
use seatrial_sys::gpu::nvml::Nvml;
use seatrial_sys::gpu::{DeviceMemory, Function, GpuError, Span};
use serde_json::json;

use super::plan::SLICE;
use super::variant::{Variant, variants};
use crate::common::gpu::pattern::Pattern;
use crate::common::gpu::{self, Arrays, Lane, MOST_QUEUED, Op, Opened, Starter, Tally, Watch};
use crate::common::pin;
use crate::{Error, Offer, Part, Sink, Stop};

/// The factor of triad.
const FACTOR: u64 = 3;

/// Rounds of the warm-up that must agree, and how well.
const STEADY: (usize, f64) = (3, 0.02);

/// Threads that a processor runs at once at most, each of which has a word for its sum of `read`.
const THREADS: usize = 2048;

/// The worker of one trial.
pub struct Worker {
    place: Place,
    address: String,
    array: usize,
    variants: Vec<Variant>,
    library: Option<PathBuf>,
    nvml: Result<Nvml, String>,
    ready: Option<Ready>,
    integrity: Tallied,
}

/// What `prepare` made.
struct Ready {
    arrays: [Arc<DeviceMemory>; 3],
    sums: Arc<DeviceMemory>,
    tally: Tally,
    functions: Vec<Option<Function>>,
    passes: Vec<usize>,
    lane: Lane,
    starter: Starter,
    about: serde_json::Value,
    opened: Opened,
}

/// What the checks of all slices found.
#[derive(Debug, Default)]
struct Tallied {
    checked: u64,
    wrong: u64,
    first: Option<String>,
}

impl Worker {
    /// The worker of `case` at `place`; opens nothing yet.
    ///
    /// # Errors
    /// When the case was not planned by the same version.
    pub fn new(case: &Case, place: &Place) -> Result<Self, Error> {
        let missing = |what: &str| Error::new(Cause::Protocol, format!("the case names no {what}"));
        let every = case.params.text("variants")? == "all";
        Ok(Self {
            place: place.clone(),
            address: gpu::address_of(case)?.into_iter().next().ok_or_else(|| missing("GPU"))?,
            array: case.chosen.bytes("array")?.ok_or_else(|| missing("size of an array"))?.get() as usize,
            variants: variants(case.params.text("kernel")?, every),
            library: None,
            nvml: Err("not looked for".to_owned()),
            ready: None,
            integrity: Tallied::default(),
        })
    }

    /// The same with the driver at `library` instead of the system's.
    #[cfg(test)]
    pub fn with_driver(mut self, library: &Path) -> Self {
        self.library = Some(library.to_owned());
        self
    }

    fn make(&self) -> Result<Ready, Error> {
        let driver = Opened::driver(self.library.as_deref())?;
        let opened = Opened::at(&driver, &self.address)?;
        let sums = 8 * THREADS * opened.gpu.properties().processors.max(1) as usize;
        opened.require((3 * self.array + sums) as u64)?;
        let refused = |what: &str| gpu::preparing(&self.address, what);
        let take =
            |bytes| DeviceMemory::take(&opened.gpu, bytes).map_err(refused("taking memory of the device"));
        let arrays = [take(self.array)?, take(self.array)?, take(self.array)?];
        let mut shapes = Vec::new();
        for variant in &self.variants {
            if let Variant::Kernel(shape, _) = variant
                && !shapes.contains(shape)
            {
                shapes.push(*shape);
            }
        }
        let loaded = opened.kernels.streaming(&shapes).map_err(refused("translating the kernels"))?;
        let function = |variant: &Variant| match variant {
            Variant::Kernel(shape, _) => {
                shapes.iter().position(|other| other == shape).map(|at| loaded[at].clone())
            }
            Variant::Memcpy => None,
        };
        let lane = Lane::new(&opened.gpu, &opened.kernels).map_err(refused("making a stream"))?;
        let ready = Ready {
            sums: take(sums)?,
            tally: Tally::take(&opened.gpu).map_err(refused("taking memory of the device"))?,
            functions: self.variants.iter().map(function).collect(),
            passes: vec![1; self.variants.len()],
            starter: Starter::new(&opened.gpu).map_err(refused("making a gate"))?,
            about: opened.evidence(&driver),
            lane,
            arrays,
            opened,
        };
        for (array, kind) in [(&ready.arrays[1], 1), (&ready.arrays[2], 2)] {
            let filled = ready.opened.kernels.fill(
                &ready.lane.stream,
                Span::Device(array, 0),
                self.array / 8,
                Pattern::of(kind),
            );
            filled.and_then(|()| ready.lane.stream.finish()).map_err(refused("filling the arrays"))?;
        }
        Ok(ready)
    }

    /// Runs every variant for a slice; gives the rates in bytes a second.
    fn round(
        &mut self,
        stop: &Stop,
        mut out: Option<&mut dyn Sink>,
        watch: &mut Option<Watch<'_>>,
    ) -> Result<Vec<f64>, Error> {
        let mut rates = Vec::new();
        for index in 0..self.variants.len() {
            if stop.is_over() && out.is_some() {
                break;
            }
            let variant = self.variants[index];
            let failed = gpu::during(&self.address, variant.kernel());
            let (start, end, passes) = self.slice(index, watch).map_err(failed)?;
            let span = end.since(start);
            let bytes = passes as f64 * (self.array as u64 * variant.arrays()) as f64;
            rates.push(bytes / span.as_secs().max(1e-9));
            if let Some(out) = out.as_deref_mut() {
                let at: Params = [("kernel", variant.kernel().to_owned()), ("variant", variant.name())]
                    .into_iter()
                    .map(|(name, word)| (name.to_owned(), word.as_str().into()))
                    .collect();
                let amount = Quantity::new(bytes, Unit::Byte)
                    .map_err(|error| Error::new(Cause::Protocol, error.to_string()))?;
                out.sample(Sample { channel: "pass".to_owned(), at, start, end, amount });
            }
            let ready = self.ready.as_mut().ok_or_else(unprepared)?;
            // The next slice of this variant gets as many passes as fill its time.
            let one = span.as_secs() / passes as f64;
            ready.passes[index] = ((SLICE.as_secs() / one.max(1e-9)) as usize).clamp(1, MOST_QUEUED);
        }
        Ok(rates)
    }

    /// Some passes of one variant: overwrites the target, runs, checks.
    fn slice(
        &mut self,
        index: usize,
        watch: &mut Option<Watch<'_>>,
    ) -> Result<(Nanos, Nanos, usize), GpuError> {
        let (bytes, words) = (self.array, self.array / 8);
        let variant = self.variants[index];
        let Some(ready) = &mut self.ready else {
            return Err(GpuError::Stranger { what: "the work" });
        };
        let Ready { arrays, sums, tally, functions, passes, lane, starter, opened, .. } = ready;
        let (passes, kernels) = (passes[index], &opened.kernels);
        let [a, b, c] = [&arrays[0], &arrays[1], &arrays[2]].map(|array| Span::Device(array, 0));
        let total = Span::Device(sums, 0);
        let written = Pattern::of(7);
        let reads = matches!(variant, Variant::Kernel(shape, _) if shape.op == Op::Read);
        match reads {
            true => lane.stream.set(total, 0, sums.len())?,
            false => lane.stream.set(a, 0x5a, bytes)?,
        }
        lane.stream.finish()?;
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
        let look = || watch.iter_mut().for_each(Watch::look);
        let queue = |_: usize, stream: &seatrial_sys::gpu::Stream, _: usize| {
            (0..passes).try_for_each(|_| work(stream))
        };
        let run = starter.run(&mut [&mut *lane], 1, queue, look)?;
        let (start, end) = run.piece(0, 0);
        let what = format!("{} {}", variant.kernel(), variant.name());
        if reads {
            let mut found = vec![0_u8; sums.len()];
            lane.stream.copy_out(&mut found, total)?;
            let sum = |sum: u64, word: &[u8]| {
                sum.wrapping_add(u64::from_ne_bytes(word.try_into().expect("chunks of 8 bytes")))
            };
            let found = found.chunks_exact(8).fold(0, sum);
            let expected = Pattern::of(1).sum(words as u64).wrapping_mul(passes as u64);
            self.integrity.checked += bytes as u64;
            if found != expected {
                self.integrity.note(1, || format!("{what}: the sum is {found:#x} instead of {expected:#x}"));
            }
        } else {
            let expected = match variant {
                Variant::Kernel(shape, _) if shape.op == Op::Write => written,
                Variant::Kernel(shape, _) if shape.op == Op::Triad => {
                    Pattern::of(1).plus(FACTOR, Pattern::of(2))
                }
                _ => Pattern::of(1),
            };
            let wrong = kernels.check(&lane.stream, tally, a, words, expected)?;
            self.integrity.checked += bytes as u64;
            if let Some(wrong) = wrong {
                let at = wrong.first * 8;
                self.integrity.note(wrong.count, || format!("{what}: the first wrong word is at byte {at}"));
            }
        }
        Ok((start, end, passes))
    }
}

impl Tallied {
    fn note(&mut self, wrong: u64, first: impl FnOnce() -> String) {
        self.wrong += wrong;
        self.first.get_or_insert_with(first);
    }
}

fn unprepared() -> Error {
    Error::new(Cause::Protocol, "told to run before it was told to prepare")
}

impl Part for Worker {
    fn prepare(&mut self) -> Result<Offer, Error> {
        if let Some(seat) = self.place.seats.first() {
            pin(seat.cpu)?;
        }
        self.nvml = Opened::nvml(self.library.as_deref());
        self.ready = Some(self.make()?);
        Ok(Offer::new(&self.place, serde_json::Value::Null))
    }

    fn connect(&mut self, _: &[Offer]) -> Result<(), Error> {
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let nvml = std::mem::replace(&mut self.nvml, Err("in use".to_owned()));
        let result = self.run_watched(phase, stop, out, &nvml);
        self.nvml = nvml;
        result
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        let Tallied { checked, wrong, first } = &self.integrity;
        Ok(match first {
            Some(first) => Integrity::Corrupt {
                wrong: *wrong,
                of: checked / 8,
                first: format!("GPU {}: {first}", self.address),
            },
            None if *checked == 0 => Integrity::Unverified { why: "no slice came to its end".to_owned() },
            None => Integrity::Verified { checked: *checked },
        })
    }
}

impl Worker {
    fn run_watched(
        &mut self,
        phase: Phase,
        stop: &Stop,
        out: &mut dyn Sink,
        nvml: &Result<Nvml, String>,
    ) -> Result<(), Error> {
        if phase == Phase::WarmUp {
            // Clocks of an idle device rise within the first tenths of a second of work.
            let deadline = Stop::after(stop.left() + std::time::Duration::from_secs(3));
            let mut sums: Vec<f64> = Vec::new();
            loop {
                sums.push(self.round(stop, None, &mut None)?.iter().sum());
                let last = &sums[sums.len().saturating_sub(STEADY.0)..];
                let (least, most) = last.iter().fold((f64::MAX, 0.0_f64), |(a, b), x| (a.min(*x), b.max(*x)));
                let steady = last.len() == STEADY.0 && most <= least * (1.0 + STEADY.1);
                if stop.is_over() && (steady || deadline.is_over()) {
                    return Ok(());
                }
            }
        }
        let mut watch = Some(Watch::begin(nvml, &self.address));
        while !stop.is_over() {
            self.round(stop, Some(out), &mut watch)?;
        }
        let ready = self.ready.as_ref().ok_or_else(unprepared)?;
        out.evidence("gpu", ready.about.clone());
        out.evidence("held_by", json!(ready.starter.way()));
        let index = self.address.clone();
        if let Some(watch) = watch {
            out.evidence("watch", json!({ index: watch.end() }));
        }
        Ok(())
    }
}
