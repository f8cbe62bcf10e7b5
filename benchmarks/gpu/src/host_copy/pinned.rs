//! Copies from and to pinned memory, by copy engines or by a kernel, timed on the device.

use std::sync::Arc;

use seatrial_model::{Integrity, Reason};
use seatrial_sys::gpu::{DeviceMemory, GpuError, Span, Stream};
use seatrial_sys::memory::Pages;
use serde_json::json;

use super::cell::{Cell, CopyDirection, Grid};
use super::copier::Copier;
use super::samples::{IN, NOTHING, OUT, evidence_of_nodes, least_right, place};
use crate::copy::{Split, overwrite, sample};
use crate::pattern::Wrong;
use crate::{Block, Checks, Opened, Starter, Tally, TimedStream, Watches, during, preparing};
use seatrial_bench::Sink;

/// Lane of copies to the device, in samples.
pub const IN_LANE: u64 = 0;
pub const OUT_LANE: u64 = 1;

pub struct Pinned {
    grid: Grid,
    by_kernel: bool,
    streams: [TimedStream; 2],
    starter: Starter,
    tally: Tally,
    /// Blocks by node: sources of copies to the device, targets of copies from it.
    sources: Vec<Block>,
    targets: Vec<Block>,
    /// By node: the most bytes written to the target.
    written: Vec<u64>,
    device_in: Arc<DeviceMemory>,
    device_out: Arc<DeviceMemory>,
    checks: Checks,
    opened: Opened,
}

impl Pinned {
    pub fn new(opened: Opened, grid: Grid, pages: &[Pages], by_kernel: bool) -> Result<Self, Reason> {
        let size = grid.largest() as usize;
        let (gpu, address) = (&opened.gpu, opened.address.clone());
        let refused = |what: &'static str| preparing(&address, what);
        let take = |node: &Option<u32>, pattern| Block::take(gpu, &address, size, pages, *node, pattern);
        let sources = grid.nodes.iter().map(|node| take(node, IN)).collect::<Result<Vec<_>, Reason>>()?;
        let targets =
            grid.nodes.iter().map(|node| take(node, NOTHING)).collect::<Result<Vec<_>, Reason>>()?;
        let device = || DeviceMemory::take(gpu, size).map_err(refused("allocating device memory"));
        let (device_in, device_out) = (device()?, device()?);
        let timed = || TimedStream::new(gpu, &opened.kernels).map_err(refused("making a stream"));
        let streams = [timed()?, timed()?];
        let stream = &streams[0].stream;
        let filled = opened.kernels.fill(stream, Span::Device(&device_out, 0), size / 8, OUT);
        filled.and_then(|()| stream.finish()).map_err(refused("filling memory of the device"))?;
        Ok(Self {
            by_kernel,
            starter: Starter::new(gpu).map_err(refused("making a gate"))?,
            tally: Tally::take(gpu).map_err(refused("allocating device memory"))?,
            written: vec![0; grid.nodes.len()],
            streams,
            sources,
            targets,
            device_in,
            device_out,
            checks: Checks::default(),
            grid,
            opened,
        })
    }

    fn work(&mut self, cell: Cell, copies: usize, watches: &mut Watches<'_>) -> Result<Ran, GpuError> {
        let size = cell.size as usize;
        if cell.direction.goes_in() {
            overwrite(&self.streams[0].stream, &self.device_in, size)?;
        }
        let split @ Split { pieces, each } = Split::of(copies);
        let inward = (Span::Device(&self.device_in, 0), Span::Pinned(&self.sources[cell.memory].memory, 0));
        let outward = (Span::Pinned(&self.targets[cell.memory].memory, 0), Span::Device(&self.device_out, 0));
        let [first, second] = &mut self.streams;
        let (kernels, by_kernel) = (&self.opened.kernels, self.by_kernel);
        let (mut streams, of): (Vec<&mut TimedStream>, &[&[u64]]) = match cell.direction {
            CopyDirection::H2d => (vec![first], &[&[IN_LANE]]),
            CopyDirection::D2h => (vec![second], &[&[OUT_LANE]]),
            CopyDirection::Both if by_kernel => (vec![first], &[&[IN_LANE, OUT_LANE]]),
            CopyDirection::Both => (vec![first, second], &[&[IN_LANE], &[OUT_LANE]]),
        };
        let copy = |stream: &Stream, (to, from): (Span<'_>, Span<'_>)| match by_kernel {
            true => kernels.copy(stream, to, from, size),
            false => stream.copy(to, from, size),
        };
        let queue = |stream_of: usize, stream: &Stream, _: usize| {
            (0..each).try_for_each(|_| match of[stream_of] {
                [IN_LANE] => copy(stream, inward),
                [OUT_LANE] => copy(stream, outward),
                _ => kernels.exchange(stream, inward, outward, size),
            })
        };
        let run = self.starter.run(&mut streams, pieces, queue, || watches.take_reading())?;
        let ends = run.marks.iter().filter_map(|marks| Some(marks.last()? - marks.first()?));
        let took = ends.fold(0.0, f64::max) * copies as f64 / split.copies() as f64;
        let mut found = Vec::new();
        for (number, lanes) in of.iter().enumerate() {
            for piece in 0..pieces {
                let (start, end) = run.piece(number, piece);
                found.extend(lanes.iter().map(|lane| (*lane, start, end, each as u64 * cell.size)));
            }
        }
        Ok(Ran { pieces: found, took })
    }

    fn check(&mut self, cell: Cell) -> Result<(), GpuError> {
        if cell.direction.goes_out() {
            let written = &mut self.written[cell.memory];
            *written = cell.size.max(*written);
        }
        if !cell.direction.goes_in() {
            return Ok(());
        }
        let at = Span::Device(&self.device_in, 0);
        let stream = &self.streams[0].stream;
        let wrong = self.opened.kernels.check(stream, &self.tally, at, cell.size as usize / 8, IN)?;
        self.note(cell.size, wrong, cell.memory, "to");
        Ok(())
    }

    fn note(&mut self, bytes: u64, wrong: Option<Wrong>, memory: usize, way: &str) {
        let Self { checks, grid, opened, .. } = self;
        checks.note_words(bytes, wrong, 0, || {
            let node = grid.nodes[memory].map_or_else(|| "any".to_owned(), |node| node.to_string());
            format!("host (NUMA node {node}) {way} GPU {}", opened.address)
        });
    }
}

/// A slice: lane, start, end and bytes of each piece; total nanoseconds.
struct Ran {
    pieces: Vec<(u64, seatrial_model::Nanos, seatrial_model::Nanos, u64)>,
    took: f64,
}

impl Copier for Pinned {
    fn slice(
        &mut self,
        cell: usize,
        copies: usize,
        slice: u64,
        out: Option<&mut dyn Sink>,
        watches: &mut Watches<'_>,
    ) -> Result<f64, Reason> {
        let cell = self.grid.cells[cell];
        let address = self.opened.address.clone();
        let ran = self.work(cell, copies, watches).map_err(during(&address, cell.direction.name()))?;
        self.check(cell).map_err(during(&address, "checking what was copied"))?;
        if let Some(out) = out {
            let at = place(&self.grid, cell, slice);
            for (lane, start, end, bytes) in ran.pieces {
                out.sample(sample(&at, lane, (start, end), bytes));
            }
        }
        Ok(ran.took)
    }

    fn forget(&mut self) -> Result<(), Reason> {
        self.written.fill(0);
        self.targets.iter_mut().try_for_each(|target| target.fill(NOTHING))
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        for memory in 0..self.targets.len() {
            let words = self.written[memory] as usize / 8;
            let found = self.targets[memory].check_first(OUT, words)?;
            self.note(self.written[memory], found, memory, "from");
        }
        Ok(self.checks.integrity())
    }

    fn evidence(&self, out: &mut dyn Sink) {
        let of_node = self.sources.iter().zip(&self.targets);
        let of_node: Vec<_> =
            of_node.map(|(source, target)| least_right([&source.place, &target.place])).collect();
        out.evidence("place", evidence_of_nodes(&self.grid, &of_node));
        out.evidence("pages", self.sources[0].pages.clone());
        out.evidence("held_by", json!(self.starter.hold_method()));
    }
}
