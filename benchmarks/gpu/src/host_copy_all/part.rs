//! The workload: all GPUs, each with its own host blocks, started together.

use std::path::Path;
use std::sync::Arc;

use seatrial_model::{Case, Cause, Integrity, Nanos, Params, PartPlacement, Phase, Reason};
use seatrial_sys::gpu::{DeviceMemory, Driver, GpuError, PinnedMemory, Span, Stream};
use seatrial_sys::memory::Pages;
use serde_json::{Map, Value, json};

use super::plan::{ROUNDS, SLICE};
use crate::copy::{copies_in, overwrite, sample};
use crate::pattern::{Pattern, Wrong};
use crate::{
    Block, Checks, GpuGroup, GpuWorkload, MOST_QUEUED, Opened, Starter, StreamError, Tally, TimedStream,
    Watches, address_of, preparing,
};
use seatrial_bench::pin;
use seatrial_bench::{Sink, Stop};

const IN: Pattern = Pattern::of(21);
const OUT: Pattern = Pattern::of(22);
const NOTHING: Pattern = Pattern::of(23);

/// Name, and whether data go to and from the device.
const DIRECTIONS: [(&str, bool, bool); 3] =
    [("h2d", true, false), ("d2h", false, true), ("both", true, true)];

/// Most blocks of device memory: all are queued at once, with timing marks in between, and the driver's queue is
/// limited.
const MOST_BLOCKS: usize = 640;

struct Wanted<'a> {
    place: &'a PartPlacement,
    block: usize,
    covers_memory: bool,
    pages: Vec<Pages>,
}

pub struct HostCopyAllWorkload {
    group: GpuGroup<End>,
    directions: Vec<(&'static str, bool, bool)>,
    block: usize,
    covers: bool,
    starter: Starter,
    /// Copies per slice, by direction.
    copies: Vec<usize>,
    slices: u64,
    checks: Checks,
}

struct End {
    number: usize,
    streams: [TimedStream; 2],
    source: Block,
    target: Block,
    written: bool,
    device: Arc<DeviceMemory>,
    /// Source of copies from the device, unless the whole memory is copied.
    device_out: Option<Arc<DeviceMemory>>,
    tally: Tally,
    opened: Opened,
}

impl crate::End for End {
    fn number(&self) -> usize {
        self.number
    }

    fn opened(&self) -> &Opened {
        &self.opened
    }
}

pub fn ready(
    case: &Case,
    place: &PartPlacement,
    library: Option<&Path>,
) -> Result<HostCopyAllWorkload, Reason> {
    let word = case.params.text("direction")?;
    let missing = || Reason::new(Cause::Protocol, "the case names no size of a block");
    let wanted = Wanted {
        place,
        block: case.params.bytes("block")?.ok_or_else(missing)?.get() as usize,
        covers_memory: case.params.text("coverage")? == "memory",
        pages: seatrial_bench::pages(&case.params)?,
    };
    let (addresses, block) = (address_of(case)?, wanted.block);
    let bytes = 2 * (block * addresses.len()) as u64;
    seatrial_bench::require_room(bytes, "the copies need", "free memory or lower -p block=")?;
    let group = GpuGroup::gather(library, &addresses, 1, |driver, number, address| {
        wanted.end(driver, number, address)
    })?;
    let first = &group.ends()[0].opened;
    let starter = Starter::new(&first.gpu).map_err(preparing(&first.address, "making a gate"))?;
    let directions: Vec<_> =
        DIRECTIONS.into_iter().filter(|(name, ..)| word == "auto" || word == *name).collect();
    Ok(HostCopyAllWorkload {
        copies: vec![1; directions.len()],
        directions,
        block,
        covers: wanted.covers_memory,
        starter,
        slices: 0,
        checks: Checks::default(),
        group,
    })
}

impl Wanted<'_> {
    fn end(&self, driver: &Arc<dyn Driver>, number: usize, address: &str) -> Result<End, Reason> {
        let node = self.place.bindings.get(number).and_then(|binding| binding.memory);
        // Without a NUMA node, memory is placed by first touch.
        if let Some(binding) = self.place.bindings.get(number) {
            pin(binding.cpu)?;
        }
        let opened = Opened::at(driver, address)?;
        let refused = |what: &'static str| preparing(address, what);
        let take =
            |bytes| DeviceMemory::take(&opened.gpu, bytes).map_err(refused("allocating device memory"));
        let (device, device_out) = if self.covers_memory {
            let (_, total) = opened.gpu.memory().map_err(refused("reading its memory size"))?;
            // gpu-copy uses 1/1.1 of the memory.
            let blocks = (total as usize * 10 / 11 / self.block).clamp(1, MOST_BLOCKS);
            opened.require((blocks * self.block) as u64)?;
            (take(blocks * self.block)?, None)
        } else {
            opened.require(2 * self.block as u64)?;
            (take(self.block)?, Some(take(self.block)?))
        };
        let timed = || TimedStream::new(&opened.gpu, &opened.kernels).map_err(refused("making a stream"));
        let end = End {
            number,
            streams: [timed()?, timed()?],
            source: Block::take(&opened.gpu, address, self.block, &self.pages, node, IN)?,
            target: Block::take(&opened.gpu, address, self.block, &self.pages, node, NOTHING)?,
            tally: Tally::take(&opened.gpu).map_err(refused("allocating device memory"))?,
            written: false,
            device,
            device_out,
            opened,
        };
        end.fill_source().map_err(refused("filling memory of the device"))?;
        Ok(end)
    }
}

impl GpuWorkload for HostCopyAllWorkload {
    fn round(
        &mut self,
        stop: &Stop,
        mut out: Option<&mut dyn Sink>,
        watches: &mut Watches<'_>,
    ) -> Result<f64, Reason> {
        let mut rates = 0.0;
        for (index, direction) in self.directions.clone().into_iter().enumerate() {
            if stop.is_over() && out.is_some() && !self.covers {
                return Ok(rates);
            }
            let ran = loop {
                match self.slice(direction, index, watches) {
                    Ok(ran) => break ran,
                    Err(StreamError { stream, error }) => self.group.lose(stream, error, direction.0)?,
                }
            };
            rates += ran
                .iter()
                .map(|(.., start, end, bytes)| *bytes as f64 / end.since(*start).as_secs().max(1e-9))
                .sum::<f64>();
            if let Some(out) = out.as_deref_mut() {
                for (gpu, lane, start, end, bytes) in ran {
                    let mut at = Params::default();
                    at.set("direction", direction.0);
                    at.set("gpu", gpu as u64);
                    at.set("slice", self.slices);
                    out.sample(sample(&at, 2 * gpu as u64 + lane, (start, end), bytes));
                }
            }
            self.slices += 1;
        }
        Ok(rates)
    }

    /// With coverage=memory a phase has a fixed number of rounds, as in gpu-copy, after one for the warm-up.
    fn rounds(&self, phase: Phase) -> Option<u64> {
        self.covers.then_some(if phase == Phase::WarmUp { 1 } else { ROUNDS })
    }

    fn forget(&mut self) -> Result<(), Reason> {
        self.group.ends_mut().iter_mut().try_for_each(|end| {
            end.written = false;
            end.target.fill(NOTHING)
        })
    }

    fn evidence(&self, out: &mut dyn Sink) {
        let places =
            self.group.ends().iter().map(|end| (end.opened.address.clone(), end.target.place.clone()));
        out.evidence("places", Value::Object(places.collect::<Map<String, Value>>()));
        out.evidence("held_by", json!(self.starter.hold_method()));
        self.group.evidence(out);
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let Self { group, checks, .. } = self;
        for end in group.ends_mut().iter_mut().filter(|end| end.written) {
            let words = end.target.memory.len() / 8;
            let wrong = end.target.check_first(OUT, words)?;
            checks.note_words(8 * words as u64, wrong, 0, || format!("GPU {} to host", end.opened.address));
        }
        Ok(checks.integrity())
    }
}

/// GPU, lane, start, end and bytes of each copy. The stream of a [`StreamError`] is the index of the GPU here.
type Ran = Vec<(usize, u64, Nanos, Nanos, u64)>;

impl HostCopyAllWorkload {
    fn slice(
        &mut self,
        (name, goes_in, goes_out): (&'static str, bool, bool),
        index: usize,
        watches: &mut Watches<'_>,
    ) -> Result<Ran, StreamError> {
        let (block, covers) = (self.block, self.covers);
        let copies = match covers {
            true => self.group.ends().iter().map(|end| end.device.len() / block).max().unwrap_or(1),
            false => self.copies[index],
        };
        let each = copies.div_ceil(MOST_QUEUED);
        let pieces = copies.div_ceil(each);
        for end in self.group.ends() {
            let at = |error| StreamError { stream: end.number, error };
            if goes_in {
                end.overwrite().map_err(at)?;
            } else if covers {
                end.fill_source().map_err(at)?;
            }
        }
        // All streams, those of one GPU side by side, and the work of each.
        let mut streams: Vec<&mut TimedStream> = Vec::new();
        let mut works = Vec::new();
        for end in self.group.ends_mut() {
            let End { streams: [inward, outward], source, target, device, device_out, number, .. } = end;
            let count = if covers { device.len() / block } else { copies };
            let from = device_out.as_ref().unwrap_or(device);
            if goes_in {
                streams.push(inward);
                works.push(Work { number: *number, lane: 0, count, host: &source.memory, device });
            }
            if goes_out {
                streams.push(outward);
                works.push(Work { number: *number, lane: 1, count, host: &target.memory, device: from });
            }
        }
        let queue = |lane: usize, stream: &Stream, piece: usize| {
            let work @ Work { lane, count, host, device, .. } = &works[lane];
            work.copies(piece, each).try_for_each(|copy| {
                // With coverage=memory and both directions at once, each direction has one half.
                let offset = match (covers, goes_in && goes_out) {
                    (false, _) => 0,
                    (true, false) => copy * block,
                    (true, true) => {
                        (copy / 2 + usize::from(*lane == 1) * count.div_ceil(2)).min(count - 1) * block
                    }
                };
                let (there, here) = (Span::Device(device, offset), Span::Pinned(host, 0));
                if *lane == 0 { stream.copy(there, here, block) } else { stream.copy(here, there, block) }
            })
        };
        let run = self.starter.run(&mut streams, pieces, queue, || watches.take_reading());
        let run =
            run.map_err(|failed| StreamError { stream: works[failed.stream].number, error: failed.error })?;
        let mut found = Vec::new();
        let mut longest = 0.0_f64;
        for (lane, work) in works.iter().enumerate() {
            longest = run.marks[lane].last().copied().unwrap_or(0.0).max(longest);
            for piece in 0..pieces {
                let bytes = (work.copies(piece, each).len() * block) as u64;
                let (start, end) = run.piece(lane, piece);
                if bytes > 0 {
                    found.push((work.number, work.lane, start, end, bytes));
                }
            }
        }
        self.copies[index] = copies_in(SLICE, longest / copies as f64);
        self.after(name, goes_in, goes_out)?;
        Ok(found)
    }

    fn after(&mut self, name: &str, goes_in: bool, goes_out: bool) -> Result<(), StreamError> {
        let Self { group, checks, block, .. } = self;
        for end in group.ends_mut() {
            end.written |= goes_out;
            if !goes_in {
                continue;
            }
            // With coverage=memory and both directions at once, only the first half was written.
            let blocks = end.device.len() / *block;
            let count = if goes_out && end.device_out.is_none() { blocks.div_ceil(2) } else { blocks };
            for number in 0..count {
                let wrong = end.check(number * *block, *block);
                let wrong = wrong.map_err(|error| StreamError { stream: end.number, error })?;
                checks.note_words(*block as u64, wrong, (number * *block) as u64, || {
                    format!("{name}: host to GPU {}", end.opened.address)
                });
            }
        }
        Ok(())
    }
}

struct Work<'a> {
    number: usize,
    lane: u64,
    count: usize,
    host: &'a Arc<PinnedMemory>,
    device: &'a Arc<DeviceMemory>,
}

impl Work<'_> {
    /// Indices of the copies in a piece of `each` copies.
    fn copies(&self, piece: usize, each: usize) -> std::ops::Range<usize> {
        (piece * each).min(self.count)..((piece + 1) * each).min(self.count)
    }
}

impl End {
    /// Fills the source of copies from the device; with coverage=memory every block is the same.
    fn fill_source(&self) -> Result<(), GpuError> {
        let (stream, kernels) = (&self.streams[0].stream, &self.opened.kernels);
        match &self.device_out {
            Some(memory) => kernels.fill(stream, Span::Device(memory, 0), memory.len() / 8, OUT)?,
            None => {
                let block = self.source.memory.len();
                for number in 0..self.device.len() / block {
                    kernels.fill(stream, Span::Device(&self.device, number * block), block / 8, OUT)?;
                }
            }
        }
        stream.finish()
    }

    fn overwrite(&self) -> Result<(), GpuError> {
        let stream = &self.streams[0].stream;
        if self.device_out.is_none() {
            return self.fill_source();
        }
        overwrite(stream, &self.device, self.device.len())
    }

    fn check(&self, offset: usize, bytes: usize) -> Result<Option<Wrong>, GpuError> {
        let at = Span::Device(&self.device, offset);
        self.opened.kernels.check(&self.streams[0].stream, &self.tally, at, bytes / 8, IN)
    }
}
