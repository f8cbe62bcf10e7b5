//! The workload: memory on both sides, cells in turn, small copies between them.

use std::path::Path;

use seatrial_model::{Case, Cause, Integrity, Nanos, PartPlacement, Reason};

use super::cell::Grid;
use super::copier::Copier;
use super::latency::Latency;
use super::pageable::Pageable;
use super::pinned::Pinned;
use super::plan::{FEW, SHORT_SLICE, SLICE};
use crate::copy::copies_in;
use crate::{GpuWorkload, Opened, Watches, address_of};
use seatrial_bench::{Sink, Stop};

/// What `prepare` makes. Memory is dropped before the device that pinned it.
pub struct HostCopyWorkload {
    grid: Grid,
    copier: Box<dyn Copier>,
    latency: Option<Latency>,
    copies: Vec<usize>,
    slice: Nanos,
    slices: u64,
    about: serde_json::Value,
}

pub fn ready(case: &Case, _: &PartPlacement, library: Option<&Path>) -> Result<HostCopyWorkload, Reason> {
    let grid = Grid::of(case)?;
    let address = address_of(case)?.into_iter().next();
    let address = address.ok_or_else(|| Reason::new(Cause::Protocol, "the case names no GPU"))?;
    let driver = Opened::driver(library)?;
    let opened = Opened::at(&driver, &address)?;
    let size = grid.largest();
    seatrial_bench::require_room(
        2 * size * grid.nodes.len() as u64,
        "the copies need",
        "free memory or lower -p size=",
    )?;
    opened.require(2 * size + (1 << 20))?;
    let about = opened.evidence(&driver);
    let pages = seatrial_bench::pages(&case.params)?;
    let pinned = case.params.text("memory")? == "pinned";
    let latency = if pinned { Some(Latency::new(&opened, grid.nodes[0])?) } else { None };
    let copier: Box<dyn Copier> = if pinned {
        let by_kernel = case.params.text("engine")? == "sm";
        Box::new(Pinned::new(opened, grid.clone(), &pages, by_kernel)?)
    } else {
        Box::new(Pageable::new(opened, grid.clone(), &pages)?)
    };
    let slice = if grid.cells.len() > FEW { SHORT_SLICE } else { SLICE };
    let copies = vec![1; grid.cells.len()];
    Ok(HostCopyWorkload { grid, copier, latency, copies, slice, slices: 0, about })
}

impl GpuWorkload for HostCopyWorkload {
    fn round(
        &mut self,
        stop: &Stop,
        mut out: Option<&mut dyn Sink>,
        watches: &mut Watches<'_>,
    ) -> Result<f64, Reason> {
        let mut rates = 0.0;
        for (index, cell) in self.grid.cells.iter().enumerate() {
            if stop.is_over() && out.is_some() {
                return Ok(rates);
            }
            let copies = self.copies[index];
            let out: Option<&mut dyn Sink> = match &mut out {
                Some(out) => Some(&mut **out),
                None => None,
            };
            let took = self.copier.slice(index, copies, self.slices, out, watches)?;
            self.slices += 1;
            let one = took / copies as f64;
            rates += cell.size as f64 / one.max(1.0);
            // Sets the copies of this cell's next slice, to fill its time.
            self.copies[index] = copies_in(self.slice, one);
        }
        if let Some(latency) = &mut self.latency {
            latency.round(out)?;
        }
        Ok(rates)
    }

    fn forget(&mut self) -> Result<(), Reason> {
        self.copier.forget()
    }

    fn evidence(&self, out: &mut dyn Sink) {
        self.copier.evidence(out);
        out.evidence("gpu", self.about.clone());
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        self.copier.verify()
    }
}
