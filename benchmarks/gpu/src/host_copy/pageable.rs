//! Copies from and to pageable memory: the driver copies through its own buffers during the call, so the host's clock
//! times it, with one thread per direction.

use std::thread;

use seatrial_model::{Nanos, Reason};
use seatrial_sys::clock::now_ns;
use seatrial_sys::gpu::{GpuError, Span, Stream};
use seatrial_sys::memory::Pages;

use super::cell::{Cell, Grid};
use super::copier::{Blocks, Copier};
use super::pinned::{IN_LANE, OUT_LANE};
use super::samples::{IN, NOTHING, OUT, evidence_of_nodes};
use crate::Device;
use crate::copy::{CopyError, Piece, SliceTimes};
use crate::pattern::{Pattern, Wrong};
use seatrial_bench::Sink;
use seatrial_bench::{Gate, Held, evidence_of_pages, evidence_of_place, no_memory, pin};

pub struct Pageable {
    inward: Stream,
    outward: Stream,
    sources: Vec<Held>,
    targets: Vec<Held>,
    /// The CPU of the thread that copies out while another one copies in; none where the node has no other core.
    second_cpu: Option<u32>,
}

type Times = Vec<(Nanos, Nanos)>;

impl Pageable {
    pub fn new(
        device: &Device,
        grid: &Grid,
        pages: &[Pages],
        second_cpu: Option<u32>,
    ) -> Result<Self, Reason> {
        let take = |node: &Option<u32>, pattern: Pattern| {
            let mut held =
                Held::take(grid.largest() as usize, pages, *node).map_err(no_memory("host memory"))?;
            pattern.fill(held.map.as_mut_slice());
            Ok(held)
        };
        let stream = || Stream::new(&device.gpu).map_err(device.refused("making a stream"));
        Ok(Self {
            sources: grid.nodes.iter().map(|node| take(node, IN)).collect::<Result<_, Reason>>()?,
            targets: grid.nodes.iter().map(|node| take(node, NOTHING)).collect::<Result<_, Reason>>()?,
            inward: stream()?,
            outward: stream()?,
            second_cpu,
        })
    }
}

fn timed(
    copies: usize,
    gate: &Gate,
    mut copy: impl FnMut() -> Result<(), GpuError>,
) -> Result<Times, GpuError> {
    gate.pass();
    let one = |_| {
        let start = Nanos(now_ns());
        copy()?;
        Ok((start, Nanos(now_ns())))
    };
    (0..copies).map(one).collect()
}

impl Copier for Pageable {
    fn copy(
        &mut self,
        blocks: &Blocks,
        _: &Device,
        cell: Cell,
        copies: usize,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<SliceTimes, CopyError> {
        let size = cell.size as usize;
        let (goes_in, goes_out) = (cell.direction.goes_in(), cell.direction.goes_out());
        let gate = &Gate::new(usize::from(goes_in) + usize::from(goes_out));
        let second_cpu = self.second_cpu;
        let source = &self.sources[cell.memory].map.as_slice::<u8>()[..size];
        let target = &mut self.targets[cell.memory].map.as_mut_slice::<u8>()[..size];
        // One thread per stream, as the `&mut` proves.
        let (inward, outward) = (&self.inward, &mut self.outward);
        let into = || timed(copies, gate, || inward.copy_in(Span::Device(&blocks.target, 0), source));
        let mut out_of =
            move || timed(copies, gate, || outward.copy_out(target, Span::Device(&blocks.source, 0)));
        let (ins, outs) = match (goes_in, goes_out) {
            (true, true) => thread::scope(|scope| {
                let other = scope.spawn(move || {
                    // A thread begins on the CPU of the one that starts it. The other one waits at the gate even where this one
                    // may not move.
                    let pinned = second_cpu.map_or(Ok(()), pin);
                    let outs = out_of()?;
                    pinned.map_err(|_| GpuError::Foreign { what: "a thread that may not use its CPU" })?;
                    Ok(outs)
                });
                let ins = into();
                (ins, other.join().unwrap_or(Err(GpuError::Foreign { what: "a thread that broke" })))
            }),
            (true, false) => (into(), Ok(Vec::new())),
            _ => (Ok(Vec::new()), out_of()),
        };
        // Both threads are busy during the slice, so the counters are read right after.
        meanwhile();
        let mut slice = SliceTimes { pieces: Vec::new(), took: 0.0, copies };
        for (lane, times) in [(IN_LANE, ins?), (OUT_LANE, outs?)] {
            let (first, last) = (times.first(), times.last());
            let took = first.zip(last).map_or(0, |(first, last)| last.1.since(first.0).get());
            slice.took = slice.took.max(took as f64);
            slice.pieces.extend(times.into_iter().map(|span| Piece { lane, span, bytes: cell.size }));
        }
        Ok(slice)
    }

    fn forget(&mut self) -> Result<(), Reason> {
        self.targets.iter_mut().for_each(|held| NOTHING.fill(held.map.as_mut_slice()));
        Ok(())
    }

    fn check(&mut self, memory: usize, words: usize) -> Result<Option<Wrong>, Reason> {
        Ok(OUT.check(&self.targets[memory].map.as_slice::<u64>()[..words]))
    }

    fn evidence(&self, grid: &Grid, out: &mut dyn Sink) {
        let of_node = self.sources.iter().zip(&self.targets);
        let of_node: Vec<_> = of_node.map(|(source, target)| evidence_of_place([source, target])).collect();
        out.evidence("place", evidence_of_nodes(grid, &of_node));
        out.evidence("pages", evidence_of_pages(&self.sources));
    }
}
