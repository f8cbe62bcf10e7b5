//! Copies from and to pageable memory: the driver copies through its own buffers during the call, so the host's clock
//! times it, with one thread per direction.

use std::sync::Arc;
use std::thread;

use seatrial_model::{Cause, Integrity, Nanos, Reason};
use seatrial_sys::clock::now_ns;
use seatrial_sys::gpu::{DeviceMemory, GpuError, Span, Stream};
use seatrial_sys::memory::Pages;

use super::cell::Grid;
use super::copier::Copier;
use super::samples::{IN, NOTHING, OUT, evidence_of_nodes, place};
use crate::copy::{overwrite, sample};
use crate::pattern::Wrong;
use crate::{Checks, Opened, Tally, Watches, during, preparing};
use seatrial_bench::Sink;
use seatrial_bench::{Gate, Held, evidence_of_pages, evidence_of_place};

pub struct Pageable {
    grid: Grid,
    inward: Stream,
    outward: Stream,
    tally: Tally,
    sources: Vec<Held>,
    targets: Vec<Held>,
    written: Vec<u64>,
    device_in: Arc<DeviceMemory>,
    device_out: Arc<DeviceMemory>,
    checks: Checks,
    opened: Opened,
}

type Times = Vec<(Nanos, Nanos)>;

impl Pageable {
    pub fn new(opened: Opened, grid: Grid, pages: &[Pages]) -> Result<Self, Reason> {
        let size = grid.largest() as usize;
        let refused = |what: &'static str| preparing(&opened.address, what);
        let take = |node: &Option<u32>| {
            Held::take(size, pages, *node)
                .map_err(|error| Reason::new(Cause::NoSpace, format!("cannot allocate host memory: {error}")))
        };
        let mut sources = grid.nodes.iter().map(take).collect::<Result<Vec<_>, Reason>>()?;
        let mut targets = grid.nodes.iter().map(take).collect::<Result<Vec<_>, Reason>>()?;
        sources.iter_mut().for_each(|held| IN.fill(held.map.as_mut_slice()));
        targets.iter_mut().for_each(|held| NOTHING.fill(held.map.as_mut_slice()));
        let device = || DeviceMemory::take(&opened.gpu, size).map_err(refused("allocating device memory"));
        let stream = || Stream::new(&opened.gpu).map_err(refused("making a stream"));
        let (device_in, device_out, inward, outward) = (device()?, device()?, stream()?, stream()?);
        let filled = opened.kernels.fill(&inward, Span::Device(&device_out, 0), size / 8, OUT);
        filled.and_then(|()| inward.finish()).map_err(refused("filling memory of the device"))?;
        Ok(Self {
            tally: Tally::take(&opened.gpu).map_err(refused("allocating device memory"))?,
            written: vec![0; grid.nodes.len()],
            checks: Checks::default(),
            grid,
            inward,
            outward,
            sources,
            targets,
            device_in,
            device_out,
            opened,
        })
    }

    fn note(&mut self, bytes: u64, wrong: Option<Wrong>, way: &str) {
        let Self { checks, opened, .. } = self;
        checks.note_words(bytes, wrong, 0, || format!("host {way} GPU {}", opened.address));
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
    fn slice(
        &mut self,
        cell: usize,
        copies: usize,
        slice: u64,
        out: Option<&mut dyn Sink>,
        watches: &mut Watches<'_>,
    ) -> Result<f64, Reason> {
        let cell = self.grid.cells[cell];
        let size = cell.size as usize;
        let address = self.opened.address.clone();
        let failed = during(&address, cell.direction.name());
        let (goes_in, goes_out) = (cell.direction.goes_in(), cell.direction.goes_out());
        if goes_in {
            overwrite(&self.inward, &self.device_in, size).map_err(&failed)?;
        }
        let gate = Gate::new(usize::from(goes_in) + usize::from(goes_out));
        let source = &self.sources[cell.memory].map.as_slice::<u8>()[..size];
        let target = &mut self.targets[cell.memory].map.as_mut_slice::<u8>()[..size];
        // One thread per stream, as the `&mut` proves.
        let (inward, outward, gate) = (&self.inward, &mut self.outward, &gate);
        let (device_in, device_out) = (&self.device_in, &self.device_out);
        let into = || timed(copies, gate, || inward.copy_in(Span::Device(device_in, 0), source));
        let mut out_of =
            move || timed(copies, gate, || outward.copy_out(target, Span::Device(device_out, 0)));
        let (ins, outs) = match (goes_in, goes_out) {
            (true, true) => thread::scope(|scope| {
                let other = scope.spawn(out_of);
                let ins = into();
                (ins, other.join().unwrap_or(Err(GpuError::Stranger { what: "a thread that broke" })))
            }),
            (true, false) => (into(), Ok(Vec::new())),
            _ => (Ok(Vec::new()), out_of()),
        };
        // Both threads are busy during the slice, so the counters are read right after.
        watches.take_reading();
        let (ins, outs) = (ins.map_err(&failed)?, outs.map_err(&failed)?);
        if goes_in {
            let (kernels, at) = (&self.opened.kernels, Span::Device(&self.device_in, 0));
            let wrong = kernels.check(&self.inward, &self.tally, at, size / 8, IN).map_err(&failed)?;
            self.note(cell.size, wrong, "to");
        }
        if goes_out {
            self.written[cell.memory] = self.written[cell.memory].max(cell.size);
        }
        let took = |times: &Times| match (times.first(), times.last()) {
            (Some(first), Some(last)) => last.1.since(first.0).get() as f64,
            _ => 0.0,
        };
        let took = took(&ins).max(took(&outs));
        if let Some(out) = out {
            let at = place(&self.grid, cell, slice);
            for (lane, times) in [(0, ins), (1, outs)] {
                for (start, end) in times {
                    out.sample(sample(&at, lane, (start, end), cell.size));
                }
            }
        }
        Ok(took)
    }

    fn forget(&mut self) -> Result<(), Reason> {
        self.written.fill(0);
        self.targets.iter_mut().for_each(|held| NOTHING.fill(held.map.as_mut_slice()));
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        for memory in 0..self.targets.len() {
            let words = self.written[memory] as usize / 8;
            let wrong = OUT.check(&self.targets[memory].map.as_slice::<u64>()[..words]);
            self.note(self.written[memory], wrong, "from");
        }
        Ok(self.checks.integrity())
    }

    fn evidence(&self, out: &mut dyn Sink) {
        let of_node = self.sources.iter().zip(&self.targets);
        let of_node: Vec<_> = of_node.map(|(source, target)| evidence_of_place([source, target])).collect();
        out.evidence("place", evidence_of_nodes(&self.grid, &of_node));
        out.evidence("pages", evidence_of_pages(&self.sources));
    }
}
