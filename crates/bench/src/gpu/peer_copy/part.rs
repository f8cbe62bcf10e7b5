//! The worker: all GPUs, a source on each, a target for every pair, cells in turn.

use std::collections::BTreeMap;
#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use seatrial_model::{Case, Cause, Integrity, Nanos, Params, Phase, Place, Quantity, Sample, Unit};
use seatrial_sys::gpu::{DeviceMemory, GpuError, Span, Stream};
use serde_json::{Map, Value, json};

use super::cell::{Cell, Flow};
use super::plan::{CHASE, SLICE, wanted};
use crate::common::gpu::pattern::Pattern;
use crate::common::gpu::{
    Lane, LaneError, MOST_QUEUED, Opened, Ring, Starter, Tally, Watch, address_of, during, integrity,
    preparing,
};
use crate::common::pin;
use crate::{Error, Offer, Part, Sink, Stop};

/// Memory that is chased through.
const RING: usize = 2 << 20;

/// Pieces of a slice between which flows are compared.
const PIECES: usize = 8;

/// The worker of one trial.
pub struct Worker {
    place: Place,
    addresses: Vec<String>,
    cells: Vec<Cell>,
    size: usize,
    by_kernel: bool,
    library: Option<PathBuf>,
    ready: Option<Ready>,
}

struct Ready {
    ends: Vec<End>,
    /// By from and to: where that flow goes, and its lane by who works.
    targets: BTreeMap<(usize, usize), Arc<DeviceMemory>>,
    lanes: BTreeMap<(usize, usize, bool), Lane>,
    starter: Starter,
    copies: Vec<usize>,
    loads: u64,
    slices: u64,
    turn: u32,
    /// Pairs that do not reach each other.
    apart: Vec<(usize, usize)>,
    missing: Map<String, Value>,
    about: Map<String, Value>,
    wrong: Option<(u64, String)>,
    checked: u64,
}

/// One GPU.
struct End {
    number: usize,
    source: Arc<DeviceMemory>,
    ring: Ring,
    tally: Tally,
    opened: Opened,
}

impl Worker {
    /// The worker of `case` at `place`; opens nothing yet.
    ///
    /// # Errors
    /// When the case was not planned by the same version.
    pub fn new(case: &Case, place: &Place) -> Result<Self, Error> {
        let addresses = address_of(case)?;
        let missing = || Error::new(Cause::Protocol, "the case names no size of a copy");
        Ok(Self {
            place: place.clone(),
            cells: wanted(&case.params, addresses.len()),
            addresses,
            size: case.params.bytes("size")?.ok_or_else(missing)?.get() as usize,
            by_kernel: case.params.text("engine")? == "sm",
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

    fn make(&self) -> Result<Ready, Error> {
        let driver = Opened::driver(self.library.as_deref())?;
        let (mut ends, mut missing, mut about) = (Vec::new(), Map::new(), Map::new());
        for (number, address) in self.addresses.iter().enumerate() {
            let end = Opened::at(&driver, address).and_then(|opened| {
                // A source, and a target for each of the others.
                opened.require((self.size * self.addresses.len()) as u64)?;
                End::new(number, opened, self.size).map_err(preparing(address, "taking memory of the device"))
            });
            match end {
                Ok(end) => {
                    about.insert(address.clone(), end.opened.evidence(&driver));
                    ends.push(end);
                }
                Err(error) => {
                    missing.insert(address.clone(), json!(error.text));
                    if missing.len() + 1 == self.addresses.len() {
                        return Err(error);
                    }
                }
            }
        }
        let [first, _, ..] = &ends[..] else {
            return Err(Error::new(Cause::Missing, "fewer than two GPUs can be used"));
        };
        let refused = |end: &End| preparing(&end.opened.address, "reaching another GPU");
        let starter = Starter::new(&first.opened.gpu).map_err(refused(first))?;
        let (mut targets, mut lanes, mut apart) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for from in &ends {
            for to in ends.iter().filter(|to| to.number != from.number) {
                if !from.opened.gpu.reach(&to.opened.gpu).map_err(refused(from))? {
                    apart.push((from.number, to.number));
                }
                let target = DeviceMemory::take(&to.opened.gpu, self.size).map_err(refused(to))?;
                targets.insert((from.number, to.number), target);
                for (by, reads) in [(from, false), (to, true)] {
                    let lane = Lane::new(&by.opened.gpu, &by.opened.kernels).map_err(refused(by))?;
                    lanes.insert((from.number, to.number, reads), lane);
                }
            }
        }
        Ok(Ready {
            copies: vec![1; self.cells.len()],
            ends,
            targets,
            lanes,
            starter,
            loads: 1024,
            slices: 0,
            turn: 0,
            apart,
            missing,
            about,
            wrong: None,
            checked: 0,
        })
    }

    fn ready(&mut self) -> Result<&mut Ready, Error> {
        self.ready
            .as_mut()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to run before it was told to prepare"))
    }

    /// Every cell once, and every pair's latency.
    fn round(
        &mut self,
        stop: &Stop,
        mut out: Option<&mut dyn Sink>,
        watches: &mut [Watch<'_>],
    ) -> Result<(), Error> {
        let (size, by_kernel) = (self.size, self.by_kernel);
        for (index, cell) in self.cells.clone().iter().enumerate() {
            if stop.is_over() && out.is_some() {
                return Ok(());
            }
            let ready = self.ready()?;
            if !ready.can(cell, by_kernel) {
                continue;
            }
            let ran = match ready.slice(cell, index, size, by_kernel, watches) {
                Ok(ran) => ran,
                Err(failed) => {
                    ready.lose(failed, cell.operation)?;
                    continue;
                }
            };
            let slice = ready.slices;
            ready.slices += 1;
            for (lane, start, end, bytes) in ran {
                let mut at = Params::default();
                at.set("operation", cell.operation);
                at.set("gpu", cell.gpu as u64);
                cell.peer.iter().for_each(|peer| at.set("peer", *peer as u64));
                at.set("lane", lane);
                at.set("slice", slice);
                emit(&mut out, "copy", at, (start, end), (bytes as f64, Unit::Byte))?;
            }
        }
        let ready = self.ready()?;
        ready.turn = ready.turn.wrapping_add(1);
        for (from, to) in ready.targets.keys().copied().collect::<Vec<_>>() {
            if stop.is_over() && out.is_some() {
                return Ok(());
            }
            if ready.apart.contains(&(from, to)) || ready.end(from).is_none() || ready.end(to).is_none() {
                continue;
            }
            match ready.chase(from, to) {
                Ok((span, loads)) => {
                    let mut at = Params::default();
                    at.set("by", from as u64);
                    at.set("from", to as u64);
                    emit(&mut out, "latency", at, span, (loads as f64, Unit::Count))?;
                }
                Err(failed) => ready.lose(failed, "a chase")?,
            }
        }
        Ok(())
    }
}

fn emit(
    out: &mut Option<&mut dyn Sink>,
    channel: &str,
    at: Params,
    (start, end): (Nanos, Nanos),
    (amount, unit): (f64, Unit),
) -> Result<(), Error> {
    if let Some(out) = out {
        let amount =
            Quantity::new(amount, unit).map_err(|error| Error::new(Cause::Protocol, error.to_string()))?;
        out.sample(Sample { channel: channel.to_owned(), at, start, end, amount });
    }
    Ok(())
}

/// Lane, start, end and bytes of each piece.
type Ran = Vec<(u64, Nanos, Nanos, u64)>;

impl End {
    fn new(number: usize, opened: Opened, size: usize) -> Result<Self, GpuError> {
        let source = DeviceMemory::take(&opened.gpu, size)?;
        let stream = Stream::new(&opened.gpu)?;
        opened.kernels.fill(&stream, Span::Device(&source, 0), size / 8, pattern(number))?;
        stream.finish()?;
        let (ring, tally) = (Ring::on_device(&opened.gpu, RING)?, Tally::take(&opened.gpu)?);
        Ok(Self { number, source, ring, tally, opened })
    }
}

/// What comes from a GPU.
const fn pattern(number: usize) -> Pattern {
    Pattern::of(100 + number as u64)
}

impl Ready {
    fn end(&self, number: usize) -> Option<&End> {
        self.ends.iter().find(|end| end.number == number)
    }

    /// Whether all GPUs of the cell are there, and kernels reach where they must.
    fn can(&self, cell: &Cell, by_kernel: bool) -> bool {
        cell.flows.iter().all(|flow| {
            let there = self.end(flow.from).is_some() && self.end(flow.to).is_some();
            let (by, other) = if flow.reads { (flow.to, flow.from) } else { (flow.from, flow.to) };
            there && !(by_kernel && self.apart.contains(&(by, other)))
        })
    }

    /// Goes on without the GPU that failed; the lane of the error is its number.
    fn lose(&mut self, failed: LaneError, doing: &str) -> Result<(), Error> {
        let Some(position) = self.ends.iter().position(|end| end.number == failed.lane) else {
            return Err(during("GPU", doing)(failed.error));
        };
        let lost = self.ends.remove(position);
        let error = during(&lost.opened.address, doing)(failed.error);
        self.missing.insert(lost.opened.address.clone(), json!(error.text));
        if self.ends.len() < 2 { Err(error) } else { Ok(()) }
    }

    fn slice(
        &mut self,
        cell: &Cell,
        index: usize,
        size: usize,
        by_kernel: bool,
        watches: &mut [Watch<'_>],
    ) -> Result<Ran, LaneError> {
        for flow in &cell.flows {
            let target = &self.targets[&(flow.from, flow.to)];
            let stream = &self.lanes[&(flow.from, flow.to, true)].stream;
            let overwritten = stream.set(Span::Device(target, 0), 0x5a, size).and_then(|()| stream.finish());
            overwritten.map_err(|error| LaneError { lane: flow.to, error })?;
        }
        let copies = self.copies[index];
        let pieces = copies.min(PIECES);
        let each = copies.div_ceil(pieces);
        let key = |flow: &Flow| (flow.from, flow.to, flow.reads);
        // The flows in the order of the lanes' keys, so that each gets its own.
        let mut flows = cell.flows.clone();
        flows.sort_by_key(key);
        let wanted: Vec<_> = flows.iter().map(key).collect();
        let mut lanes: Vec<&mut Lane> =
            self.lanes.iter_mut().filter(|(key, _)| wanted.contains(key)).map(|(_, lane)| lane).collect();
        let (ends, targets) = (&self.ends, &self.targets);
        let end = |number: usize| ends.iter().find(|end| end.number == number);
        let queue = |lane: usize, stream: &Stream, _: usize| {
            let flow = flows[lane];
            let target = &targets[&(flow.from, flow.to)];
            let (Some(from), Some(by)) = (end(flow.from), end(flow.by())) else {
                return Err(GpuError::Stranger { what: "the flow" });
            };
            (0..each).try_for_each(|_| match by_kernel {
                true => {
                    let (to, from) = (Span::Device(target, 0), Span::Device(&from.source, 0));
                    by.opened.kernels.copy(stream, to, from, size)
                }
                false => stream.copy_between((target, 0), (&from.source, 0), size),
            })
        };
        let run = self.starter.run(&mut lanes, pieces, queue, || watches.iter_mut().for_each(Watch::look));
        let run = run.map_err(|failed| LaneError { lane: flows[failed.lane].by(), error: failed.error })?;
        let mut found = Vec::new();
        let mut longest = 0.0_f64;
        for lane in 0..flows.len() {
            longest = run.marks[lane].last().copied().unwrap_or(0.0).max(longest);
            for piece in 0..pieces {
                let (start, end) = run.piece(lane, piece);
                found.push((lane as u64, start, end, (each * size) as u64));
            }
        }
        let one = longest / (pieces * each) as f64;
        self.copies[index] = ((SLICE.get() as f64 / one.max(1.0)) as usize).clamp(1, MOST_QUEUED);
        for flow in flows {
            self.check(flow, size, cell.operation).map_err(|error| LaneError { lane: flow.to, error })?;
        }
        Ok(found)
    }

    /// Every word of a target, on the GPU that holds it.
    fn check(&mut self, flow: Flow, size: usize, operation: &str) -> Result<(), GpuError> {
        let Some(to) = self.ends.iter().find(|end| end.number == flow.to) else { return Ok(()) };
        let stream = &self.lanes[&(flow.from, flow.to, true)].stream;
        let at = Span::Device(&self.targets[&(flow.from, flow.to)], 0);
        let wrong = to.opened.kernels.check(stream, &to.tally, at, size / 8, pattern(flow.from))?;
        self.checked += size as u64;
        if let Some(wrong) = wrong {
            let from = self.end(flow.from).map_or("?", |end| &end.opened.address);
            let text = format!(
                "{operation}: GPU {from} to GPU {}: the first wrong word is at byte {}",
                to.opened.address,
                8 * wrong.first
            );
            self.wrong.get_or_insert((0, text)).0 += wrong.count;
        }
        Ok(())
    }

    /// GPU `by` follows the ring in the memory of `of`.
    fn chase(&mut self, by: usize, of: usize) -> Result<((Nanos, Nanos), u64), LaneError> {
        let Self { ends, lanes, starter, turn, loads, .. } = self;
        let stranger = || LaneError { lane: by, error: GpuError::Stranger { what: "the ring" } };
        let find = |number: usize| ends.iter().find(|end| end.number == number).ok_or_else(stranger);
        let (worker, holder) = (find(by)?, find(of)?);
        let lane = lanes.get_mut(&(by, of, false)).ok_or_else(stranger)?;
        let queue = |_: usize, stream: &Stream, _: usize| {
            worker.opened.kernels.chase(stream, &holder.ring, *loads, &worker.tally, *turn)
        };
        let run = starter.run(&mut [lane], 1, queue, || ());
        let run = run.map_err(|failed| LaneError { lane: by, error: failed.error })?;
        let (start, end) = run.piece(0, 0);
        let done = *loads;
        let one = end.since(start).get() as f64 / done as f64;
        *loads = ((CHASE.get() as f64 / one.max(1.0)) as u64).clamp(1024, 1 << 20) / 8 * 8;
        Ok(((start, end), done))
    }
}

impl Part for Worker {
    fn prepare(&mut self) -> Result<Offer, Error> {
        if let Some(seat) = self.place.seats.first() {
            pin(seat.cpu)?;
        }
        self.ready = Some(self.make()?);
        Ok(Offer::new(&self.place, Value::Null))
    }

    fn connect(&mut self, _: &[Offer]) -> Result<(), Error> {
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        if phase == Phase::WarmUp {
            // Two rounds at least, so that a slice has as many copies as fill its time.
            for _ in 0..2 {
                self.round(stop, None, &mut [])?;
            }
            while !stop.is_over() {
                self.round(stop, None, &mut [])?;
            }
            return Ok(());
        }
        let nvml = Opened::nvml(self.library.as_deref());
        let mut watches: Vec<Watch<'_>> =
            self.addresses.iter().map(|address| Watch::begin(&nvml, address)).collect();
        while !stop.is_over() {
            self.round(stop, Some(out), &mut watches)?;
        }
        let seen = self.addresses.iter().cloned().zip(watches.into_iter().map(Watch::end));
        out.evidence("watch", Value::Object(seen.collect()));
        let ready = self.ready()?;
        out.evidence("gpus", Value::Object(ready.about.clone()));
        out.evidence("missing", Value::Object(ready.missing.clone()));
        out.evidence("apart", json!(ready.apart));
        out.evidence("held_by", json!(ready.starter.way()));
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        let ready = self.ready()?;
        Ok(integrity(ready.wrong.as_ref(), ready.checked))
    }
}
