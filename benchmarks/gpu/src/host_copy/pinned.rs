//! Copies from and to pinned memory, by copy engines or by a kernel, timed on the device.

use seatrial_model::Reason;
use seatrial_sys::gpu::{Span, Stream};
use seatrial_sys::memory::Pages;
use serde_json::json;

use super::cell::{Cell, CopyDirection, Grid};
use super::copier::{Blocks, Copier};
use super::latency::Latency;
use super::samples::{IN, NOTHING, OUT, evidence_of_nodes, least_right};
use crate::copy::{CopyError, Flow, PIECES, Queue, SliceTimes, Split, Starter, TimedStream};
use crate::pattern::{Pattern, Wrong};
use crate::{Block, Device};
use seatrial_bench::Sink;

/// Lane of copies to the device, in samples.
pub const IN_LANE: u64 = 0;
pub const OUT_LANE: u64 = 1;

pub struct Pinned {
    by_kernel: bool,
    streams: [TimedStream; 2],
    starter: Starter,
    /// Blocks by node: sources of copies to the device, targets of copies from it.
    sources: Vec<Block>,
    targets: Vec<Block>,
    latency: Latency,
}

impl Pinned {
    pub fn new(device: &Device, grid: &Grid, pages: &[Pages], by_kernel: bool) -> Result<Self, Reason> {
        let size = grid.largest() as usize;
        let take = |pattern: Pattern| -> Result<Vec<Block>, Reason> {
            grid.nodes.iter().map(|node| Block::take(device, size, pages, *node, pattern)).collect()
        };
        Ok(Self {
            latency: Latency::new(device, grid.nodes[0])?,
            sources: take(IN)?,
            targets: take(NOTHING)?,
            streams: [device.timed_stream()?, device.timed_stream()?],
            starter: device.starter()?,
            by_kernel,
        })
    }
}

impl Copier for Pinned {
    fn copy(
        &mut self,
        blocks: &Blocks,
        device: &Device,
        cell: Cell,
        copies: usize,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<SliceTimes, CopyError> {
        let (split, size) = (Split::of(copies, PIECES), cell.size as usize);
        let Self { by_kernel, streams: [first, second], starter, sources, targets, .. } = self;
        let by_kernel = *by_kernel;
        let inward = (Span::Device(&blocks.target, 0), Span::Pinned(&sources[cell.memory].memory, 0));
        let outward = (Span::Pinned(&targets[cell.memory].memory, 0), Span::Device(&blocks.source, 0));
        let one = |(to, from): (Span<'_>, Span<'_>), stream: &Stream| match by_kernel {
            true => device.kernels.copy(stream, to, from, size),
            false => stream.copy(to, from, size),
        };
        let flow = |timed, lanes: &[u64]| {
            let queue: Queue<'_> = match lanes {
                [IN_LANE] => Box::new(move |stream, _| one(inward, stream)),
                [OUT_LANE] => Box::new(move |stream, _| one(outward, stream)),
                _ => Box::new(move |stream, _| device.kernels.exchange(stream, inward, outward, size)),
            };
            Flow { gpu: 0, lanes: lanes.to_vec(), timed, copies: split.copies(), bytes: size, queue }
        };
        let flows = match cell.direction {
            CopyDirection::H2d => vec![flow(first, &[IN_LANE])],
            CopyDirection::D2h => vec![flow(second, &[OUT_LANE])],
            CopyDirection::Both if by_kernel => vec![flow(first, &[IN_LANE, OUT_LANE])],
            CopyDirection::Both => vec![flow(first, &[IN_LANE]), flow(second, &[OUT_LANE])],
        };
        starter.run(flows, split, meanwhile)
    }

    fn latencies(&mut self, device: &Device, out: Option<&mut dyn Sink>) -> Result<(), Reason> {
        let Self { latency, streams: [timed, _], starter, .. } = self;
        latency.round(device, timed, starter, out)
    }

    fn forget(&mut self) -> Result<(), Reason> {
        self.targets.iter_mut().try_for_each(|target| target.fill(NOTHING))
    }

    fn check(&mut self, memory: usize, words: usize) -> Result<Option<Wrong>, Reason> {
        self.targets[memory].check_first(OUT, words)
    }

    fn evidence(&self, grid: &Grid, out: &mut dyn Sink) {
        let of_node = self.sources.iter().zip(&self.targets);
        let of_node: Vec<_> =
            of_node.map(|(source, target)| least_right([&source.place, &target.place])).collect();
        out.evidence("place", evidence_of_nodes(grid, &of_node));
        out.evidence("pages", self.sources[0].pages.clone());
        out.evidence("held_by", json!(self.starter.hold_method()));
    }
}
