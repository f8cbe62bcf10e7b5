//! The cells: all GPUs, each with its own host blocks, started together.

use std::path::Path;
use std::sync::Arc;

use seatrial_model::{Case, Cause, Nanos, Params, PartPlacement, Phase, Reason, Sample};
use seatrial_sys::gpu::{DeviceMemory, GpuError, Span};
use seatrial_sys::memory::Pages;
use serde_json::{Map, Value, json};

use super::plan::{ROUNDS, SLICE};
use crate::copy::{
    CopyCells, CopyError, Flow, MOST_QUEUED, Piece, SliceRun, SliceTimes, Split, Starter, TimedStream,
};
use crate::pattern::Pattern;
use crate::{Block, Checks, Device, End, GpuGroup, address_of};
use seatrial_bench::Sink;
use seatrial_bench::pin;

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

pub struct HostCopyAllCells {
    group: GpuGroup<Buffers>,
    directions: Vec<(&'static str, bool, bool)>,
    block: usize,
    covers: bool,
    starter: Starter,
}

struct Buffers {
    streams: [TimedStream; 2],
    source: Block,
    target: Block,
    written: bool,
    device: Arc<DeviceMemory>,
    /// Source of copies from the device, unless the whole memory is copied.
    device_out: Option<Arc<DeviceMemory>>,
}

pub fn ready(case: &Case, place: &PartPlacement, library: Option<&Path>) -> Result<HostCopyAllCells, Reason> {
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
        // Without a NUMA node, memory is placed by first touch.
        if let Some(binding) = wanted.place.bindings.get(number) {
            pin(binding.cpu)?;
        }
        let device = Device::at(driver, address)?;
        let memory = wanted.buffers(&device, number)?;
        Ok((device, memory))
    })?;
    let directions = DIRECTIONS.into_iter().filter(|(name, ..)| word == "auto" || word == *name).collect();
    let starter = group.ends[0].device.starter()?;
    Ok(HostCopyAllCells { directions, block, covers: wanted.covers_memory, starter, group })
}

impl Wanted<'_> {
    fn buffers(&self, device: &Device, number: usize) -> Result<Buffers, Reason> {
        let node = self.place.bindings.get(number).and_then(|binding| binding.memory);
        let (memory, device_out) = if self.covers_memory {
            let (_, total) = device.gpu.memory().map_err(device.refused("reading its memory size"))?;
            // gpu-copy uses 1/1.1 of the memory.
            let blocks = (total as usize * 10 / 11 / self.block).clamp(1, MOST_BLOCKS);
            device.require((blocks * self.block) as u64)?;
            (device.take(blocks * self.block)?, None)
        } else {
            device.require(2 * self.block as u64)?;
            (device.take(self.block)?, Some(device.take(self.block)?))
        };
        let buffers = Buffers {
            streams: [device.timed_stream()?, device.timed_stream()?],
            source: Block::take(device, self.block, &self.pages, node, IN)?,
            target: Block::take(device, self.block, &self.pages, node, NOTHING)?,
            written: false,
            device: memory,
            device_out,
        };
        buffers.fill_source(device).map_err(device.refused("filling memory of the device"))?;
        Ok(buffers)
    }
}

impl Buffers {
    /// Source of copies from the device.
    fn device_source(&self) -> &Arc<DeviceMemory> {
        self.device_out.as_ref().unwrap_or(&self.device)
    }

    /// With coverage=memory every block is the same.
    fn fill_source(&self, device: &Device) -> Result<(), GpuError> {
        device.fill(self.device_source(), self.source.memory.len(), OUT)
    }

    fn overwrite(&self, device: &Device, goes_in: bool) -> Result<(), GpuError> {
        match (&self.device_out, goes_in) {
            (None, _) => self.fill_source(device),
            (Some(_), true) => device.overwrite(&self.device, self.device.len()),
            (Some(_), false) => Ok(()),
        }
    }
}

impl CopyCells for HostCopyAllCells {
    fn count(&self) -> usize {
        self.directions.len()
    }

    fn slice_time(&self) -> Nanos {
        SLICE
    }

    fn copy(&mut self, cell: usize, run: SliceRun<'_>) -> Result<SliceTimes, CopyError> {
        let Self { group, starter, block, covers, .. } = self;
        let (block, covers, (name, goes_in, goes_out)) = (*block, *covers, self.directions[cell]);
        let blocks = |end: &End<Buffers>| end.memory.device.len() / block;
        let copies = if covers { group.ends.iter().map(blocks).max().unwrap_or(1) } else { run.copies };
        let split = Split::of(copies, MOST_QUEUED);
        for End { number, memory, device } in &group.ends {
            memory.overwrite(device, goes_in).map_err(CopyError::of(*number))?;
        }
        // All streams, those of one GPU side by side.
        let mut flows = Vec::new();
        for end in &mut group.ends {
            let copies = if covers { blocks(end) } else { split.copies() };
            let Buffers { streams: [inward, outward], source, target, written, device, device_out } =
                &mut end.memory;
            *written |= goes_out;
            let device = &*device;
            let out_of = device_out.as_ref().unwrap_or(device);
            // With coverage=memory and both directions at once, each direction has one half.
            let offset = move |lane: usize, copy: usize| match (covers, goes_in && goes_out) {
                (false, _) => 0,
                (true, false) => copy * block,
                (true, true) => (copy / 2 + lane * copies.div_ceil(2)).min(copies - 1) * block,
            };
            let lane = 2 * end.number as u64;
            if goes_in {
                let flow = Flow::new(end.number, inward, (copies, block), move |stream, copy| {
                    stream.copy(Span::Device(device, offset(0, copy)), Span::Pinned(&source.memory, 0), block)
                });
                flows.push(Flow { lanes: vec![lane], ..flow });
            }
            if goes_out {
                let flow = Flow::new(end.number, outward, (copies, block), move |stream, copy| {
                    stream.copy(Span::Pinned(&target.memory, 0), Span::Device(out_of, offset(1, copy)), block)
                });
                flows.push(Flow { lanes: vec![lane + 1], ..flow });
            }
        }
        let times = starter.run(flows, split, run.meanwhile)?;
        for end in group.ends.iter().filter(|_| goes_in) {
            // With coverage=memory and both directions at once, only the first half was written.
            let count = if goes_out && covers { blocks(end).div_ceil(2) } else { blocks(end) };
            for number in 0..count {
                let at = (&end.memory.device, number * block);
                let what = || format!("{name}: host to GPU {}", end.device.address);
                end.device.check(at, block, IN, run.checks, what).map_err(CopyError::of(end.number))?;
            }
        }
        Ok(times)
    }

    fn sample(&self, cell: usize, slice: u64, piece: &Piece) -> Sample {
        let mut at = Params::default();
        at.set("direction", self.directions[cell].0);
        at.set("gpu", piece.lane / 2);
        at.set("slice", slice);
        piece.sample(at)
    }

    fn lose(&mut self, cell: usize, failed: CopyError) -> Result<(), Reason> {
        self.group.lose(failed, self.directions[cell].0)
    }

    /// With coverage=memory a phase has a fixed number of rounds, as in gpu-copy, after one for the warm-up.
    fn rounds(&self, phase: Phase) -> Option<u64> {
        self.covers.then_some(if phase == Phase::WarmUp { 1 } else { ROUNDS })
    }

    fn forget(&mut self) -> Result<(), Reason> {
        self.group.ends.iter_mut().try_for_each(|end| {
            end.memory.written = false;
            end.memory.target.fill(NOTHING)
        })
    }

    fn evidence(&self, out: &mut dyn Sink) {
        let place = |end: &End<Buffers>| (end.device.address.clone(), end.memory.target.place.clone());
        out.evidence("places", Value::Object(self.group.ends.iter().map(place).collect::<Map<_, _>>()));
        out.evidence("held_by", json!(self.starter.hold_method()));
        self.group.evidence(out);
    }

    fn verify(&mut self, checks: &mut Checks) -> Result<(), Reason> {
        for end in self.group.ends.iter_mut().filter(|end| end.memory.written) {
            let words = end.memory.target.memory.len() / 8;
            let wrong = end.memory.target.check_first(OUT, words)?;
            checks.note_words(8 * words as u64, wrong, 0, || format!("GPU {} to host", end.device.address));
        }
        Ok(())
    }
}
