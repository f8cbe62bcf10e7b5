//! The worker: all GPUs, each with blocks of the host next to it, let go together.

#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use seatrial_model::{Case, Cause, Integrity, Nanos, Params, Phase, Place, Quantity, Sample, Unit};
use seatrial_sys::gpu::{DeviceMemory, Driver, GpuError, Span, Stream};
use seatrial_sys::memory::Pages;
use serde_json::{Map, Value, json};

use super::plan::{ROUNDS, SLICE};
use crate::common::gpu::pattern::{Pattern, Wrong};
use crate::common::gpu::{
    Block, Lane, LaneError, MOST_QUEUED, Opened, Starter, Tally, Watch, address_of, during, integrity,
    preparing,
};
use crate::common::{self, pin};
use crate::{Error, Offer, Part, Sink, Stop};

/// What goes to a device, what comes from it, what stands where nothing was copied.
const IN: Pattern = Pattern::of(21);
const OUT: Pattern = Pattern::of(22);
const NOTHING: Pattern = Pattern::of(23);

/// The directions, with whether data go in and out.
const DIRECTIONS: [(&str, bool, bool); 3] =
    [("h2d", true, false), ("d2h", false, true), ("both", true, true)];

/// The worker of one trial.
pub struct Worker {
    place: Place,
    addresses: Vec<String>,
    directions: Vec<(&'static str, bool, bool)>,
    block: usize,
    covers_memory: bool,
    pages: Vec<Pages>,
    library: Option<PathBuf>,
    ready: Option<Ready>,
}

struct Ready {
    ends: Vec<End>,
    starter: Starter,
    /// Copies of a slice for each direction.
    copies: Vec<usize>,
    slices: u64,
    missing: Map<String, Value>,
    about: Map<String, Value>,
    wrong: Option<(u64, String)>,
    checked: u64,
}

/// One GPU and its blocks of the host.
struct End {
    number: usize,
    lanes: [Lane; 2],
    source: Block,
    target: Block,
    /// Whether anything was copied to the target.
    written: bool,
    device: Arc<DeviceMemory>,
    /// What comes from the device, where the whole memory is not gone through.
    device_out: Option<Arc<DeviceMemory>>,
    tally: Tally,
    opened: Opened,
}

impl Worker {
    /// The worker of `case` at `place`; opens nothing yet.
    ///
    /// # Errors
    /// When the case was not planned by the same version.
    pub fn new(case: &Case, place: &Place) -> Result<Self, Error> {
        let word = case.params.text("direction")?;
        let missing = || Error::new(Cause::Protocol, "the case names no size of a block");
        Ok(Self {
            place: place.clone(),
            addresses: address_of(case)?,
            directions: DIRECTIONS.into_iter().filter(|(name, ..)| word == "auto" || word == *name).collect(),
            block: case.params.bytes("block")?.ok_or_else(missing)?.get() as usize,
            covers_memory: case.params.text("coverage")? == "memory",
            pages: common::pages(&case.params)?,
            library: None,
            ready: None,
        })
    }

    /// The same with the driver at `library` instead of the system's.
    #[cfg(test)]
    pub fn with_driver(mut self, library: &Path) -> Self {
        self.library = Some(library.to_owned());
        self
    }

    fn end(&self, driver: &Arc<dyn Driver>, number: usize) -> Result<End, Error> {
        let address = &self.addresses[number];
        let node = self.place.seats.get(number).and_then(|seat| seat.memory);
        // Memory without a node of its own lies next to the thread that touches it.
        if let Some(seat) = self.place.seats.get(number) {
            pin(seat.cpu)?;
        }
        let opened = Opened::at(driver, address)?;
        let refused = |what: &'static str| preparing(address, what);
        let take =
            |bytes| DeviceMemory::take(&opened.gpu, bytes).map_err(refused("taking memory of the device"));
        let (device, device_out) = if self.covers_memory {
            let (_, total) = opened.gpu.memory().map_err(refused("asking for memory"))?;
            // gpu-copy takes 1/1.1 of it.
            let blocks = (total as usize * 10 / 11 / self.block).clamp(1, MOST_QUEUED);
            opened.require((blocks * self.block) as u64)?;
            (take(blocks * self.block)?, None)
        } else {
            opened.require(2 * self.block as u64)?;
            (take(self.block)?, Some(take(self.block)?))
        };
        let lane = || Lane::new(&opened.gpu, &opened.kernels).map_err(refused("making a stream"));
        let end = End {
            number,
            lanes: [lane()?, lane()?],
            source: Block::take(&opened.gpu, address, self.block, &self.pages, node, IN)?,
            target: Block::take(&opened.gpu, address, self.block, &self.pages, node, NOTHING)?,
            tally: Tally::take(&opened.gpu).map_err(refused("taking memory of the device"))?,
            written: false,
            device,
            device_out,
            opened,
        };
        end.fill_source().map_err(refused("filling memory of the device"))?;
        Ok(end)
    }

    fn make(&self) -> Result<Ready, Error> {
        let driver = Opened::driver(self.library.as_deref())?;
        common::require_room(
            2 * (self.block * self.addresses.len()) as u64,
            "the copies need",
            "free memory or lower -p block=",
        )?;
        let (mut ends, mut missing, mut about) = (Vec::new(), Map::new(), Map::new());
        let mut first = None;
        for (number, address) in self.addresses.iter().enumerate() {
            match self.end(&driver, number) {
                Ok(end) => {
                    about.insert(address.clone(), end.opened.evidence(&driver));
                    ends.push(end);
                }
                Err(error) => {
                    missing.insert(address.clone(), json!(error.text));
                    first.get_or_insert(error);
                }
            }
        }
        let Some(end) = ends.first() else {
            return Err(first.unwrap_or_else(|| Error::new(Cause::Protocol, "the case names no GPU")));
        };
        let starter =
            Starter::new(&end.opened.gpu).map_err(preparing(&end.opened.address, "making a gate"))?;
        let copies = vec![1; self.directions.len()];
        Ok(Ready { ends, starter, copies, slices: 0, missing, about, wrong: None, checked: 0 })
    }

    fn ready(&mut self) -> Result<&mut Ready, Error> {
        self.ready
            .as_mut()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to run before it was told to prepare"))
    }

    /// Every direction once.
    fn round(
        &mut self,
        stop: &Stop,
        mut out: Option<&mut dyn Sink>,
        watches: &mut [Watch<'_>],
    ) -> Result<(), Error> {
        let (block, covers) = (self.block, self.covers_memory);
        for (index, direction) in self.directions.clone().into_iter().enumerate() {
            if stop.is_over() && out.is_some() && !covers {
                return Ok(());
            }
            let ready = self.ready()?;
            let ran = loop {
                match ready.slice(direction, index, block, covers, watches) {
                    Ok(ran) => break ran,
                    // The others are measured without it.
                    Err(LaneError { lane, error }) => {
                        let lost = ready.ends.remove(lane);
                        let error = during(&lost.opened.address, direction.0)(error);
                        ready.missing.insert(lost.opened.address.clone(), json!(error.text));
                        if ready.ends.is_empty() {
                            return Err(error);
                        }
                    }
                }
            };
            if let Some(out) = out.as_deref_mut() {
                for (gpu, lane, start, end, bytes) in ran {
                    let mut at = Params::default();
                    at.set("direction", direction.0);
                    at.set("gpu", gpu as u64);
                    at.set("lane", 2 * gpu as u64 + lane);
                    at.set("slice", ready.slices);
                    let amount = Quantity::new(bytes as f64, Unit::Byte)
                        .map_err(|error| Error::new(Cause::Protocol, error.to_string()))?;
                    out.sample(Sample { channel: "copy".to_owned(), at, start, end, amount });
                }
            }
            ready.slices += 1;
        }
        Ok(())
    }
}

/// GPU, lane, start, end and bytes of each copy.
type Ran = Vec<(usize, u64, Nanos, Nanos, u64)>;

impl Ready {
    fn slice(
        &mut self,
        (name, goes_in, goes_out): (&'static str, bool, bool),
        index: usize,
        block: usize,
        covers: bool,
        watches: &mut [Watch<'_>],
    ) -> Result<Ran, LaneError> {
        let blocks = |end: &End| end.device.len() / block;
        let copies =
            if covers { self.ends.iter().map(blocks).max().unwrap_or(1) } else { self.copies[index] };
        for (lane, end) in self.ends.iter().enumerate() {
            let at = |error| LaneError { lane, error };
            if goes_in {
                end.overwrite().map_err(at)?;
            } else if covers {
                end.fill_source().map_err(at)?;
            }
        }
        // The lanes of all, those of one GPU side by side, and what each of them copies.
        let mut lanes: Vec<&mut Lane> = Vec::new();
        let mut works = Vec::new();
        for (position, end) in self.ends.iter_mut().enumerate() {
            let End { lanes: [inward, outward], source, target, device, device_out, number, .. } = end;
            let count = if covers { device.len() / block } else { copies };
            let from = device_out.as_ref().unwrap_or(device);
            if goes_in {
                lanes.push(inward);
                works.push(Work { position, number: *number, lane: 0, count, host: &source.memory, device });
            }
            if goes_out {
                lanes.push(outward);
                works.push(Work {
                    position,
                    number: *number,
                    lane: 1,
                    count,
                    host: &target.memory,
                    device: from,
                });
            }
        }
        let queue = |lane: usize, stream: &Stream, piece: usize| {
            let Work { lane, count, host, device, .. } = &works[lane];
            if piece >= *count {
                return Ok(());
            }
            // In both directions at once over the whole memory, each has a half of it.
            let offset = match (covers, goes_in && goes_out) {
                (false, _) => 0,
                (true, false) => piece * block,
                (true, true) => {
                    (piece / 2 + usize::from(*lane == 1) * count.div_ceil(2)).min(count - 1) * block
                }
            };
            let (there, here) = (Span::Device(device, offset), Span::Pinned(host, 0));
            if *lane == 0 { stream.copy(there, here, block) } else { stream.copy(here, there, block) }
        };
        let run = self.starter.run(&mut lanes, copies, queue, || watches.iter_mut().for_each(Watch::look));
        let run =
            run.map_err(|failed| LaneError { lane: works[failed.lane].position, error: failed.error })?;
        let mut found = Vec::new();
        let mut longest = 0.0_f64;
        for (lane, work) in works.iter().enumerate() {
            longest = run.marks[lane].last().copied().unwrap_or(0.0).max(longest);
            for piece in 0..work.count.min(copies) {
                let (start, end) = run.piece(lane, piece);
                found.push((work.number, work.lane, start, end, block as u64));
            }
        }
        self.copies[index] =
            ((SLICE.get() as f64 * copies as f64 / longest.max(1.0)) as usize).clamp(1, MOST_QUEUED);
        self.after(name, goes_in, goes_out, block)?;
        Ok(found)
    }

    /// Every word on the devices that something went to.
    fn after(&mut self, name: &str, goes_in: bool, goes_out: bool, block: usize) -> Result<(), LaneError> {
        let mut notes = Vec::new();
        for (lane, end) in self.ends.iter_mut().enumerate() {
            end.written |= goes_out;
            if !goes_in {
                continue;
            }
            // With both directions at once over the whole memory, the first half was written.
            let blocks = end.device.len() / block;
            let count = if goes_out && end.device_out.is_none() { blocks.div_ceil(2) } else { blocks };
            for number in 0..count {
                let wrong = end.check(number * block, block).map_err(|error| LaneError { lane, error })?;
                self.checked += block as u64;
                if let Some(wrong) = wrong {
                    let at = (number * block) as u64 + 8 * wrong.first;
                    let to = &end.opened.address;
                    let text = format!("{name}: host to GPU {to}: the first wrong word is at byte {at}");
                    notes.push((wrong.count, text));
                }
            }
        }
        for (count, text) in notes {
            self.wrong.get_or_insert((0, text)).0 += count;
        }
        Ok(())
    }
}

/// What one lane copies: so many blocks between the host and a device.
struct Work<'a> {
    position: usize,
    number: usize,
    lane: u64,
    count: usize,
    host: &'a Arc<seatrial_sys::gpu::PinnedMemory>,
    device: &'a Arc<DeviceMemory>,
}

impl End {
    /// Fills what comes from the device; over the whole memory every block is the same.
    fn fill_source(&self) -> Result<(), GpuError> {
        let (stream, kernels) = (&self.lanes[0].stream, &self.opened.kernels);
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
        let stream = &self.lanes[0].stream;
        if self.device_out.is_none() {
            return self.fill_source();
        }
        stream.set(Span::Device(&self.device, 0), 0x5a, self.device.len())?;
        stream.finish()
    }

    fn check(&self, offset: usize, bytes: usize) -> Result<Option<Wrong>, GpuError> {
        let at = Span::Device(&self.device, offset);
        self.opened.kernels.check(&self.lanes[0].stream, &self.tally, at, bytes / 8, IN)
    }
}

impl Part for Worker {
    fn prepare(&mut self) -> Result<Offer, Error> {
        self.ready = Some(self.make()?);
        Ok(Offer::new(&self.place, Value::Null))
    }

    fn connect(&mut self, _: &[Offer]) -> Result<(), Error> {
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        if phase == Phase::WarmUp {
            self.round(stop, None, &mut [])?;
            if !self.covers_memory {
                // A second one at least, so that a slice has as many copies as fill its time.
                self.round(stop, None, &mut [])?;
                while !stop.is_over() {
                    self.round(stop, None, &mut [])?;
                }
            }
            let forget = |end: &mut End| {
                end.written = false;
                end.target.fill(NOTHING)
            };
            return self.ready()?.ends.iter_mut().try_for_each(forget);
        }
        let nvml = Opened::nvml(self.library.as_deref());
        let mut watches: Vec<Watch<'_>> =
            self.addresses.iter().map(|address| Watch::begin(&nvml, address)).collect();
        let mut rounds = 0;
        while if self.covers_memory { rounds < ROUNDS } else { !stop.is_over() } {
            self.round(stop, Some(out), &mut watches)?;
            rounds += 1;
        }
        let seen = self.addresses.iter().cloned().zip(watches.into_iter().map(Watch::end));
        out.evidence("watch", Value::Object(seen.collect()));
        let ready = self.ready()?;
        let places = ready.ends.iter().map(|end| (end.opened.address.clone(), end.target.place.clone()));
        out.evidence("places", Value::Object(places.collect()));
        out.evidence("gpus", Value::Object(ready.about.clone()));
        out.evidence("missing", Value::Object(ready.missing.clone()));
        out.evidence("held_by", json!(ready.starter.way()));
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        let ready = self.ready()?;
        for end in ready.ends.iter_mut().filter(|end| end.written) {
            let words = end.target.memory.len() / 8;
            if let Some(wrong) = end.target.check_first(OUT, words)? {
                let at = 8 * wrong.first;
                let text =
                    format!("GPU {} to host: the first wrong word is at byte {at}", end.opened.address);
                ready.wrong.get_or_insert((0, text)).0 += wrong.count;
            }
            ready.checked += 8 * words as u64;
        }
        Ok(integrity(ready.wrong.as_ref(), ready.checked))
    }
}
