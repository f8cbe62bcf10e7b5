//! The cells: memory on both sides, and small copies between the rounds.

use std::path::Path;

use seatrial_model::{Case, Cause, Nanos, PartPlacement, Reason, Sample};

use super::cell::Grid;
use super::copier::{Blocks, Copier};
use super::pageable::Pageable;
use super::pinned::Pinned;
use super::plan::slice_time;
use super::samples::{IN, OUT, coords};
use crate::copy::{CopyCells, CopyError, Piece, SliceRun, SliceTimes};
use crate::{Checks, Device, address_of, during};
use seatrial_bench::{Sink, Stop};

/// Memory is dropped before the device that pinned it.
pub struct HostCopyCells {
    grid: Grid,
    copier: Box<dyn Copier>,
    blocks: Blocks,
    /// By node: the most bytes written to the host's target.
    written: Vec<u64>,
    about: serde_json::Value,
    device: Device,
}

pub fn ready(case: &Case, place: &PartPlacement, library: Option<&Path>) -> Result<HostCopyCells, Reason> {
    let grid = Grid::of(case)?;
    let address = address_of(case)?.into_iter().next();
    let address = address.ok_or_else(|| Reason::new(Cause::Protocol, "the case names no GPU"))?;
    let driver = Device::driver(library)?;
    let device = Device::at(&driver, &address)?;
    let size = grid.largest();
    seatrial_bench::require_room(
        2 * size * grid.nodes.len() as u64,
        "the copies need",
        "free memory or lower -p size=",
    )?;
    device.require(2 * size + (1 << 20))?;
    let pages = seatrial_bench::pages(&case.params)?;
    let copier: Box<dyn Copier> = if case.params.text("memory")? == "pinned" {
        let by_kernel = case.params.text("engine")? == "sm";
        Box::new(Pinned::new(&device, &grid, &pages, by_kernel)?)
    } else {
        Box::new(Pageable::new(&device, &grid, &pages, place.cpu(1))?)
    };
    let size = size as usize;
    let blocks = Blocks { target: device.take(size)?, source: device.take(size)? };
    device.fill(&blocks.source, size, OUT).map_err(device.refused("filling memory of the device"))?;
    let (written, about) = (vec![0; grid.nodes.len()], device.evidence(&driver));
    Ok(HostCopyCells { grid, copier, blocks, written, about, device })
}

impl HostCopyCells {
    fn way(&self, memory: usize, way: &str) -> String {
        let node = self.grid.nodes[memory].map_or_else(|| "any".to_owned(), |node| node.to_string());
        format!("host (NUMA node {node}) {way} GPU {}", self.device.address)
    }
}

impl CopyCells for HostCopyCells {
    fn count(&self) -> usize {
        self.grid.cells.len()
    }

    fn slice_time(&self) -> Nanos {
        slice_time(&self.grid)
    }

    fn copy(&mut self, cell: usize, run: SliceRun<'_>) -> Result<SliceTimes, CopyError> {
        let cell = self.grid.cells[cell];
        let (target, size) = (&self.blocks.target, cell.size as usize);
        if cell.direction.goes_in() {
            self.device.overwrite(target, size)?;
        }
        let times = self.copier.copy(&self.blocks, &self.device, cell, run.copies, run.meanwhile)?;
        if cell.direction.goes_out() {
            let written = &mut self.written[cell.memory];
            *written = cell.size.max(*written);
        }
        if cell.direction.goes_in() {
            self.device.check((target, 0), size, IN, run.checks, || self.way(cell.memory, "to"))?;
        }
        Ok(times)
    }

    fn sample(&self, cell: usize, slice: u64, piece: &Piece) -> Sample {
        piece.sample(coords(&self.grid, self.grid.cells[cell], slice))
    }

    fn lose(&mut self, cell: usize, failed: CopyError) -> Result<(), Reason> {
        Err(during(&self.device.address, self.grid.cells[cell].direction.name())(failed.error))
    }

    fn latencies(&mut self, _: &Stop, out: Option<&mut dyn Sink>) -> Result<(), Reason> {
        self.copier.latencies(&self.device, out)
    }

    fn forget(&mut self) -> Result<(), Reason> {
        self.written.fill(0);
        self.copier.forget()
    }

    fn evidence(&self, out: &mut dyn Sink) {
        self.copier.evidence(&self.grid, out);
        out.evidence("gpu", self.about.clone());
    }

    fn verify(&mut self, checks: &mut Checks) -> Result<(), Reason> {
        for (memory, written) in self.written.iter().enumerate() {
            let wrong = self.copier.check(memory, *written as usize / 8)?;
            checks.note_words(*written, wrong, 0, || self.way(memory, "from"));
        }
        Ok(())
    }
}
