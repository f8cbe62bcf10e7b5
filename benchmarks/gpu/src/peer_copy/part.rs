//! The cells: all GPUs, a source on each, a target for every pair.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use seatrial_model::{Case, Cause, Nanos, Params, PartPlacement, Quantity, Reason, Sample};
use seatrial_sys::gpu::{DeviceMemory, GpuError, Span};
use serde_json::json;

use super::cell::{CopyPath, Transfer};
use super::plan::{PROCESSORS, SLICE, wanted};
use crate::copy::{
    CopyCells, CopyError, Flow, PIECES, Piece, SliceRun, SliceTimes, Split, Starter, TimedStream,
};
use crate::pattern::Pattern;
use crate::{Device, GpuGroup, Ring, address_of};
use seatrial_bench::{Sink, Stop};

const RING: usize = 2 << 20;

/// Loads per multiprocessor: together they go round the ring once, so that no word is loaded twice.
const LOADS: u64 = Ring::lap(RING) / PROCESSORS as u64;

/// Memory that is overwritten to flush the ring from the L2 cache, in sizes of that cache.
const FLUSHES: usize = 2;

pub struct PeerCopyCells {
    group: GpuGroup<Buffers>,
    cells: Vec<CopyPath>,
    size: usize,
    by_kernel: bool,
    /// Targets by source and target GPU; streams also by who runs the copy.
    targets: BTreeMap<(usize, usize), Arc<DeviceMemory>>,
    streams: BTreeMap<(usize, usize, bool), TimedStream>,
    starter: Starter,
    turn: u32,
    apart: Vec<(usize, usize)>,
}

struct Buffers {
    source: Arc<DeviceMemory>,
    ring: Ring,
    flush: Arc<DeviceMemory>,
}

pub fn ready(case: &Case, _: &PartPlacement, library: Option<&Path>) -> Result<PeerCopyCells, Reason> {
    let addresses = address_of(case)?;
    let missing = || Reason::new(Cause::Protocol, "the case names no size of a copy");
    let size = case.params.bytes("size")?.ok_or_else(missing)?.get() as usize;
    let group = GpuGroup::gather(library, &addresses, 2, |driver, number, address| {
        let device = Device::at(driver, address)?;
        device.require((size * addresses.len()) as u64)?;
        let buffers = Buffers::new(&device, number, size)?;
        Ok((device, buffers))
    })?;
    let (mut targets, mut streams, mut apart) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for from in &group.ends {
        for to in group.ends.iter().filter(|to| to.number != from.number) {
            let reach = from.device.gpu.reach(&to.device.gpu);
            if !reach.map_err(from.device.refused("enabling peer access to another GPU"))? {
                apart.push((from.number, to.number));
            }
            targets.insert((from.number, to.number), to.device.take(size)?);
            for (by, reads) in [(from, false), (to, true)] {
                streams.insert((from.number, to.number, reads), by.device.timed_stream()?);
            }
        }
    }
    Ok(PeerCopyCells {
        cells: wanted(&case.params, addresses.len()),
        size,
        by_kernel: case.params.text("engine")? == "sm",
        targets,
        streams,
        starter: group.ends[0].device.starter()?,
        turn: 0,
        apart,
        group,
    })
}

impl Buffers {
    fn new(device: &Device, number: usize, size: usize) -> Result<Self, Reason> {
        let source = device.take(size)?;
        device
            .fill(&source, size, pattern(number))
            .map_err(device.refused("filling memory of the device"))?;
        let ring = Ring::on_device(&device.gpu, RING).map_err(device.refused("allocating device memory"))?;
        let cache = device.gpu.properties().l2_bytes as usize;
        Ok(Self { source, ring, flush: device.take((FLUSHES * cache).max(4096))? })
    }
}

const fn pattern(number: usize) -> Pattern {
    Pattern::of(100 + number as u64)
}

impl CopyCells for PeerCopyCells {
    fn count(&self) -> usize {
        self.cells.len()
    }

    fn slice_time(&self) -> Nanos {
        SLICE
    }

    /// Whether all GPUs of the cell work and have the peer access that kernels need.
    fn can(&self, cell: usize) -> bool {
        self.cells[cell].transfers.iter().all(|transfer| {
            let Transfer { from, to, .. } = *transfer;
            let there = self.group.find(from).is_some() && self.group.find(to).is_some();
            let apart = (transfer.by(), if transfer.reads { from } else { to });
            there && !(self.by_kernel && self.apart.contains(&apart))
        })
    }

    fn copy(&mut self, cell: usize, run: SliceRun<'_>) -> Result<SliceTimes, CopyError> {
        let Self { group, cells, size, by_kernel, targets, streams, starter, .. } = self;
        let (group, size, by_kernel, split) = (&*group, *size, *by_kernel, Split::of(run.copies, PIECES));
        let CopyPath { operation, transfers, .. } = &cells[cell];
        let find =
            |gpu| group.find(gpu).ok_or(CopyError { gpu, error: GpuError::Foreign { what: "the flow" } });
        let key = |transfer: &Transfer| (transfer.from, transfer.to, transfer.reads);
        // In the order of the streams' keys, so that each transfer gets its stream.
        let mut transfers = transfers.clone();
        transfers.sort_by_key(key);
        for Transfer { from, to, .. } in &transfers {
            find(*to)?.device.overwrite(&targets[&(*from, *to)], size).map_err(CopyError::of(*to))?;
        }
        let timed =
            streams.iter_mut().filter(|(of, _)| transfers.iter().any(|transfer| key(transfer) == **of));
        let mut flows = Vec::new();
        for (lane, (transfer, (_, timed))) in transfers.iter().zip(timed).enumerate() {
            let target = &targets[&(transfer.from, transfer.to)];
            let source = &find(transfer.from)?.memory.source;
            let kernels = &find(transfer.by())?.device.kernels;
            let flow =
                Flow::new(transfer.by(), timed, (split.copies(), size), move |stream, _| match by_kernel {
                    true => kernels.copy(stream, Span::Device(target, 0), Span::Device(source, 0), size),
                    false => stream.copy_between((target, 0), (source, 0), size),
                });
            flows.push(Flow { lanes: vec![lane as u64], ..flow });
        }
        let times = starter.run(flows, split, run.meanwhile)?;
        for Transfer { from, to, .. } in transfers {
            let (source, end) = (&find(from)?.device.address, find(to)?);
            let what = || format!("{operation}: GPU {source} to GPU {}", end.device.address);
            let checked = end.device.check((&targets[&(from, to)], 0), size, pattern(from), run.checks, what);
            checked.map_err(CopyError::of(to))?;
        }
        Ok(times)
    }

    fn sample(&self, cell: usize, slice: u64, piece: &Piece) -> Sample {
        let cell = &self.cells[cell];
        let mut at = Params::default();
        at.set("operation", cell.operation);
        at.set("gpu", cell.gpu as u64);
        cell.peer.iter().for_each(|peer| at.set("peer", *peer as u64));
        at.set("slice", slice);
        piece.sample(at)
    }

    fn lose(&mut self, cell: usize, failed: CopyError) -> Result<(), Reason> {
        self.group.lose(failed, self.cells[cell].operation)
    }

    fn latencies(&mut self, stop: &Stop, mut out: Option<&mut dyn Sink>) -> Result<(), Reason> {
        self.turn = self.turn.wrapping_add(1);
        for (by, of) in self.targets.keys().copied().collect::<Vec<_>>() {
            for (channel, cached) in [("latency", true), ("latency_memory", false)] {
                if stop.is_over() && out.is_some() {
                    return Ok(());
                }
                if self.apart.contains(&(by, of))
                    || self.group.find(by).is_none()
                    || self.group.find(of).is_none()
                {
                    continue;
                }
                match self.chase(by, of, cached) {
                    Ok(span) => {
                        let at = [("by", (by as u64).into()), ("from", (of as u64).into())].into();
                        let loads = Quantity::count(LOADS * u64::from(PROCESSORS));
                        if let Some(out) = out.as_deref_mut() {
                            out.sample(Sample::new(channel, at, span, loads));
                        }
                    }
                    Err(failed) => self.group.lose(failed, "a chase")?,
                }
            }
        }
        Ok(())
    }

    fn evidence(&self, out: &mut dyn Sink) {
        self.group.evidence(out);
        out.evidence("apart", json!(self.apart));
        out.evidence("held_by", json!(self.starter.hold_method()));
    }
}

impl PeerCopyCells {
    /// GPU `by` follows the ring in the memory of `of`: with `cached` after a lap that fills the L2 cache of `of`,
    /// else after that cache was flushed.
    fn chase(&mut self, by: usize, of: usize, cached: bool) -> Result<(Nanos, Nanos), CopyError> {
        let Self { group, streams, starter, turn, .. } = self;
        let foreign = || CopyError { gpu: by, error: GpuError::Foreign { what: "the ring" } };
        let find = |number: usize| group.find(number).ok_or_else(foreign);
        let (worker, holder) = (&find(by)?.device, find(of)?);
        if !cached {
            let flush = &holder.memory.flush;
            holder.device.overwrite(flush, flush.len()).map_err(CopyError::of(of))?;
        }
        let timed = streams.get_mut(&(by, of, false)).ok_or_else(foreign)?;
        let laps = if cached { 2 } else { 1 };
        let flow = Flow::new(by, timed, (laps, RING), |stream, _| {
            worker.kernels.chase(stream, &holder.memory.ring, LOADS, &worker.tally, (*turn, PROCESSORS))
        });
        let times = starter.run(vec![flow], Split { pieces: laps, each: 1 }, || ())?;
        times.pieces.last().map(|piece| piece.span).ok_or_else(foreign)
    }
}
