//! The workload: all GPUs, a source on each, a target for every pair, cells in turn.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use seatrial_model::{Case, Cause, Integrity, Nanos, Params, PartPlacement, Quantity, Reason, Sample};
use seatrial_sys::gpu::{DeviceMemory, GpuError, Span, Stream};
use serde_json::json;

use super::cell::{CopyPath, Flow};
use super::plan::{PROCESSORS, SLICE, wanted};
use crate::copy::{Split, copies_in, overwrite, sample};
use crate::pattern::Pattern;
use crate::{
    Checks, GpuGroup, GpuWorkload, Opened, Ring, Starter, StreamError, Tally, TimedStream, Watches,
    address_of, preparing,
};
use seatrial_bench::{Sink, Stop};

const RING: usize = 2 << 20;

/// Loads per multiprocessor: together they go round the ring once, so that no word is loaded twice.
const LOADS: u64 = Ring::lap(RING) / PROCESSORS as u64;

/// Memory that is overwritten to flush the ring from the L2 cache, in sizes of that cache.
const FLUSHES: usize = 2;

pub struct PeerCopyWorkload {
    group: GpuGroup<End>,
    cells: Vec<CopyPath>,
    size: usize,
    by_kernel: bool,
    /// Targets by source and target GPU; streams also by who runs the copy.
    targets: BTreeMap<(usize, usize), Arc<DeviceMemory>>,
    streams: BTreeMap<(usize, usize, bool), TimedStream>,
    starter: Starter,
    copies: Vec<usize>,
    slices: u64,
    turn: u32,
    apart: Vec<(usize, usize)>,
    checks: Checks,
}

struct End {
    number: usize,
    source: Arc<DeviceMemory>,
    ring: Ring,
    flush: Arc<DeviceMemory>,
    stream: Stream,
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

pub fn ready(case: &Case, _: &PartPlacement, library: Option<&Path>) -> Result<PeerCopyWorkload, Reason> {
    let addresses = address_of(case)?;
    let missing = || Reason::new(Cause::Protocol, "the case names no size of a copy");
    let size = case.params.bytes("size")?.ok_or_else(missing)?.get() as usize;
    let cells = wanted(&case.params, addresses.len());
    let group = GpuGroup::gather(library, &addresses, 2, |driver, number, address| {
        let opened = Opened::at(driver, address)?;
        opened.require((size * addresses.len()) as u64)?;
        End::new(number, opened, size).map_err(preparing(address, "allocating device memory"))
    })?;
    let refused = |end: &End| preparing(&end.opened.address, "enabling peer access to another GPU");
    let first = &group.ends()[0];
    let starter = Starter::new(&first.opened.gpu).map_err(refused(first))?;
    let (mut targets, mut streams, mut apart) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for from in group.ends() {
        for to in group.ends().iter().filter(|to| to.number != from.number) {
            if !from.opened.gpu.reach(&to.opened.gpu).map_err(refused(from))? {
                apart.push((from.number, to.number));
            }
            let target = DeviceMemory::take(&to.opened.gpu, size).map_err(refused(to))?;
            targets.insert((from.number, to.number), target);
            for (by, reads) in [(from, false), (to, true)] {
                let timed = TimedStream::new(&by.opened.gpu, &by.opened.kernels).map_err(refused(by))?;
                streams.insert((from.number, to.number, reads), timed);
            }
        }
    }
    Ok(PeerCopyWorkload {
        copies: vec![1; cells.len()],
        cells,
        size,
        by_kernel: case.params.text("engine")? == "sm",
        targets,
        streams,
        starter,
        slices: 0,
        turn: 0,
        apart,
        checks: Checks::default(),
        group,
    })
}

impl GpuWorkload for PeerCopyWorkload {
    fn round(
        &mut self,
        stop: &Stop,
        mut out: Option<&mut dyn Sink>,
        watches: &mut Watches<'_>,
    ) -> Result<f64, Reason> {
        let mut rates = 0.0;
        for (index, cell) in self.cells.clone().iter().enumerate() {
            if stop.is_over() && out.is_some() {
                return Ok(rates);
            }
            if !self.can(cell) {
                continue;
            }
            let ran = match self.slice(cell, index, watches) {
                Ok(ran) => ran,
                Err(StreamError { stream, error }) => {
                    self.group.lose(stream, error, cell.operation)?;
                    continue;
                }
            };
            let slice = self.slices;
            self.slices += 1;
            let mut at = Params::default();
            at.set("operation", cell.operation);
            at.set("gpu", cell.gpu as u64);
            cell.peer.iter().for_each(|peer| at.set("peer", *peer as u64));
            at.set("slice", slice);
            for (lane, start, end, bytes) in ran {
                rates += bytes as f64 / end.since(start).as_secs().max(1e-9);
                if let Some(out) = out.as_deref_mut() {
                    out.sample(sample(&at, lane, (start, end), bytes));
                }
            }
        }
        self.turn = self.turn.wrapping_add(1);
        for (by, of) in self.targets.keys().copied().collect::<Vec<_>>() {
            for (channel, cached) in [("latency", true), ("latency_memory", false)] {
                if stop.is_over() && out.is_some() {
                    return Ok(rates);
                }
                if self.apart.contains(&(by, of)) || self.end(by).is_none() || self.end(of).is_none() {
                    continue;
                }
                match self.chase(by, of, cached) {
                    Ok((span, loads)) => {
                        let mut at = Params::default();
                        at.set("by", by as u64);
                        at.set("from", of as u64);
                        if let Some(out) = out.as_deref_mut() {
                            out.sample(Sample::new(channel, at, span, Quantity::count(loads)));
                        }
                    }
                    Err(StreamError { stream, error }) => self.group.lose(stream, error, "a chase")?,
                }
            }
        }
        Ok(rates)
    }

    fn evidence(&self, out: &mut dyn Sink) {
        self.group.evidence(out);
        out.evidence("apart", json!(self.apart));
        out.evidence("held_by", json!(self.starter.hold_method()));
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        Ok(self.checks.integrity())
    }
}

/// Stream, start, end and bytes of each piece. The stream of a [`StreamError`] is the index of the GPU here.
type Ran = Vec<(u64, Nanos, Nanos, u64)>;

impl End {
    fn new(number: usize, opened: Opened, size: usize) -> Result<Self, GpuError> {
        let source = DeviceMemory::take(&opened.gpu, size)?;
        let stream = Stream::new(&opened.gpu)?;
        opened.kernels.fill(&stream, Span::Device(&source, 0), size / 8, pattern(number))?;
        stream.finish()?;
        let cache = opened.gpu.properties().l2_bytes as usize;
        let flush = DeviceMemory::take(&opened.gpu, (FLUSHES * cache).max(4096))?;
        let (ring, tally) = (Ring::on_device(&opened.gpu, RING)?, Tally::take(&opened.gpu)?);
        Ok(Self { number, source, ring, flush, stream, tally, opened })
    }
}

const fn pattern(number: usize) -> Pattern {
    Pattern::of(100 + number as u64)
}

impl PeerCopyWorkload {
    fn end(&self, number: usize) -> Option<&End> {
        self.group.find(number)
    }

    /// Whether all GPUs of the cell work and have the peer access that kernels need.
    fn can(&self, cell: &CopyPath) -> bool {
        cell.flows.iter().all(|flow| {
            let there = self.end(flow.from).is_some() && self.end(flow.to).is_some();
            let (by, other) = if flow.reads { (flow.to, flow.from) } else { (flow.from, flow.to) };
            there && !(self.by_kernel && self.apart.contains(&(by, other)))
        })
    }

    fn slice(
        &mut self,
        cell: &CopyPath,
        index: usize,
        watches: &mut Watches<'_>,
    ) -> Result<Ran, StreamError> {
        let (size, by_kernel) = (self.size, self.by_kernel);
        for flow in &cell.flows {
            let target = &self.targets[&(flow.from, flow.to)];
            let stream = &self.streams[&(flow.from, flow.to, true)].stream;
            overwrite(stream, target, size).map_err(|error| StreamError { stream: flow.to, error })?;
        }
        let split @ Split { pieces, each } = Split::of(self.copies[index]);
        let key = |flow: &Flow| (flow.from, flow.to, flow.reads);
        // In the order of the streams' keys, so that each flow gets its stream.
        let mut flows = cell.flows.clone();
        flows.sort_by_key(key);
        let wanted: Vec<_> = flows.iter().map(key).collect();
        let mut streams: Vec<&mut TimedStream> =
            self.streams.iter_mut().filter(|(key, _)| wanted.contains(key)).map(|(_, timed)| timed).collect();
        let (group, targets) = (&self.group, &self.targets);
        let queue = |lane: usize, stream: &Stream, _: usize| {
            let flow = flows[lane];
            let target = &targets[&(flow.from, flow.to)];
            let (Some(from), Some(by)) = (group.find(flow.from), group.find(flow.by())) else {
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
        let run = self.starter.run(&mut streams, pieces, queue, || watches.take_reading());
        let run =
            run.map_err(|failed| StreamError { stream: flows[failed.stream].by(), error: failed.error })?;
        let mut found = Vec::new();
        let mut longest = 0.0_f64;
        for lane in 0..flows.len() {
            longest = run.marks[lane].last().copied().unwrap_or(0.0).max(longest);
            for piece in 0..pieces {
                let (start, end) = run.piece(lane, piece);
                found.push((lane as u64, start, end, (each * size) as u64));
            }
        }
        self.copies[index] = copies_in(SLICE, longest / split.copies() as f64);
        for flow in flows {
            self.check(flow, cell.operation).map_err(|error| StreamError { stream: flow.to, error })?;
        }
        Ok(found)
    }

    fn check(&mut self, flow: Flow, operation: &str) -> Result<(), GpuError> {
        let Self { group, streams, targets, checks, size, .. } = self;
        let Some(to) = group.find(flow.to) else { return Ok(()) };
        let stream = &streams[&(flow.from, flow.to, true)].stream;
        let at = Span::Device(&targets[&(flow.from, flow.to)], 0);
        let wrong = to.opened.kernels.check(stream, &to.tally, at, *size / 8, pattern(flow.from))?;
        checks.note_words(*size as u64, wrong, 0, || {
            let from = group.find(flow.from).map_or("?", |end| &end.opened.address);
            format!("{operation}: GPU {from} to GPU {}", to.opened.address)
        });
        Ok(())
    }

    /// GPU `by` follows the ring in the memory of `of`: with `cached` after a lap that fills the L2 cache of `of`,
    /// else after that cache was flushed.
    fn chase(&mut self, by: usize, of: usize, cached: bool) -> Result<((Nanos, Nanos), u64), StreamError> {
        let Self { group, streams, starter, turn, .. } = self;
        let stranger = || StreamError { stream: by, error: GpuError::Stranger { what: "the ring" } };
        let find = |number: usize| group.find(number).ok_or_else(stranger);
        let (worker, holder) = (find(by)?, find(of)?);
        if !cached {
            let (stream, flush) = (&holder.stream, &holder.flush);
            overwrite(stream, flush, flush.len()).map_err(|error| StreamError { stream: of, error })?;
        }
        let timed = streams.get_mut(&(by, of, false)).ok_or_else(stranger)?;
        let queue = |_: usize, stream: &Stream, _: usize| {
            worker.opened.kernels.chase(stream, &holder.ring, LOADS, &worker.tally, (*turn, PROCESSORS))
        };
        let laps = if cached { 2 } else { 1 };
        let run = starter.run(&mut [timed], laps, queue, || ());
        let run = run.map_err(|failed| StreamError { stream: by, error: failed.error })?;
        Ok((run.piece(0, laps - 1), LOADS * u64::from(PROCESSORS)))
    }
}
