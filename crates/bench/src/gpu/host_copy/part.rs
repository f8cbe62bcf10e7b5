//! The worker: memory on both sides, cells in turn, the small copies between them.

#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;

use seatrial_model::{Case, Cause, Integrity, Nanos, Phase, Place};
use seatrial_sys::gpu::nvml::Nvml;
use serde_json::json;

use super::cell::Grid;
use super::latency::Latency;
use super::pageable::Pageable;
use super::pinned::Pinned;
use super::plan::{FEW, SHORT_SLICE, SLICE};
use crate::common::gpu::{Opened, Watch, address_of};
use crate::common::{self, pin};
use crate::{Error, Offer, Part, Sink, Stop};

/// Rounds of the warm-up that must agree, and how well.
const STEADY: (usize, f64) = (3, 0.02);

/// The worker of one trial.
pub struct Worker {
    place: Place,
    case: Case,
    address: String,
    grid: Grid,
    library: Option<PathBuf>,
    nvml: Result<Nvml, String>,
    ready: Option<Ready>,
}

/// What `prepare` made. The memory goes before the device it is pinned for.
struct Ready {
    copier: Box<dyn Copier>,
    latency: Option<Latency>,
    copies: Vec<usize>,
    slice: Nanos,
    slices: u64,
    about: serde_json::Value,
}

/// One way to copy: from and to pinned memory, or pageable.
pub trait Copier: Send {
    /// Makes `copies` copies of a cell in each of its directions; gives nanoseconds that the slower one took. Samples go
    /// to `out` when they count.
    ///
    /// # Errors
    /// When the driver refuses.
    fn slice(
        &mut self,
        cell: usize,
        copies: usize,
        slice: u64,
        out: Option<&mut dyn Sink>,
        watch: Option<&mut Watch<'_>>,
    ) -> Result<f64, Error>;

    /// Overwrites what was copied to the host so far.
    ///
    /// # Errors
    /// When a stream still uses the memory.
    fn forget(&mut self) -> Result<(), Error>;

    /// What the checks found, the one of the host's memory made now.
    ///
    /// # Errors
    /// When a stream still uses the memory.
    fn verify(&mut self) -> Result<Integrity, Error>;

    /// What it says for the record.
    fn evidence(&self, out: &mut dyn Sink);
}

impl Worker {
    /// The worker of `case` at `place`; opens nothing yet.
    ///
    /// # Errors
    /// When the case was not planned by the same version.
    pub fn new(case: &Case, place: &Place) -> Result<Self, Error> {
        let address = address_of(case)?.into_iter().next();
        Ok(Self {
            place: place.clone(),
            case: case.clone(),
            address: address.ok_or_else(|| Error::new(Cause::Protocol, "the case names no GPU"))?,
            grid: Grid::of(case)?,
            library: None,
            nvml: Err("not looked for".to_owned()),
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
        let opened = Opened::at(&driver, &self.address)?;
        let size = self.grid.largest();
        common::require_room(
            2 * size * self.grid.nodes.len() as u64,
            "the copies need",
            "free memory or lower -p size=",
        )?;
        opened.require(2 * size + (1 << 20))?;
        let about = opened.evidence(&driver);
        let params = &self.case.params;
        let pages = common::pages(params)?;
        let latency = match params.text("memory")? {
            "pinned" => Some(Latency::new(&opened, self.grid.nodes[0])?),
            _ => None,
        };
        let copier: Box<dyn Copier> = if params.text("memory")? == "pinned" {
            let by_kernel = params.text("engine")? == "sm";
            Box::new(Pinned::new(opened, self.grid.clone(), &pages, by_kernel)?)
        } else {
            Box::new(Pageable::new(opened, self.grid.clone(), &pages)?)
        };
        let slice = if self.grid.cells.len() > FEW { SHORT_SLICE } else { SLICE };
        let copies = vec![1; self.grid.cells.len()];
        Ok(Ready { copier, latency, copies, slice, slices: 0, about })
    }

    fn ready(&mut self) -> Result<&mut Ready, Error> {
        self.ready
            .as_mut()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to run before it was told to prepare"))
    }
}

impl Ready {
    /// Every cell once, and the latencies. Gives the sum of the cells' rates.
    fn round(
        &mut self,
        grid: &Grid,
        stop: &Stop,
        mut out: Option<&mut dyn Sink>,
        mut watch: Option<&mut Watch<'_>>,
    ) -> Result<f64, Error> {
        let mut rates = 0.0;
        for (index, cell) in grid.cells.iter().enumerate() {
            if stop.is_over() && out.is_some() {
                return Ok(rates);
            }
            let copies = self.copies[index];
            let out: Option<&mut dyn Sink> = match &mut out {
                Some(out) => Some(&mut **out),
                None => None,
            };
            let took = self.copier.slice(index, copies, self.slices, out, watch.as_deref_mut())?;
            self.slices += 1;
            let one = took / copies as f64;
            rates += cell.size as f64 / one.max(1.0);
            // The next slice of this cell gets as many copies as fill its time.
            self.copies[index] =
                ((self.slice.get() as f64 / one.max(1.0)) as usize).clamp(1, super::pinned::MOST);
        }
        if let Some(latency) = &mut self.latency {
            latency.round(out)?;
        }
        Ok(rates)
    }
}

impl Part for Worker {
    fn prepare(&mut self) -> Result<Offer, Error> {
        if let Some(seat) = self.place.seats.first() {
            pin(seat.cpu)?;
        }
        self.nvml = Opened::nvml(self.library.as_deref());
        self.ready = Some(self.make()?);
        Ok(Offer::new(&self.place, serde_json::Value::Null))
    }

    fn connect(&mut self, _: &[Offer]) -> Result<(), Error> {
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let grid = self.grid.clone();
        if phase == Phase::WarmUp {
            // Clocks and links of an idle device wake within the first tenths of a second of work.
            let deadline = Stop::after(stop.left() + std::time::Duration::from_secs(3));
            let ready = self.ready()?;
            let mut sums: Vec<f64> = Vec::new();
            loop {
                sums.push(ready.round(&grid, stop, None, None)?);
                let last = &sums[sums.len().saturating_sub(STEADY.0)..];
                let (least, most) = last.iter().fold((f64::MAX, 0.0_f64), |(a, b), x| (a.min(*x), b.max(*x)));
                let steady = last.len() == STEADY.0 && most <= least * (1.0 + STEADY.1);
                if stop.is_over() && (steady || deadline.is_over()) {
                    return ready.copier.forget();
                }
            }
        }
        let nvml = std::mem::replace(&mut self.nvml, Err("in use".to_owned()));
        let address = self.address.clone();
        let mut watch = Watch::begin(&nvml, &address);
        let ready = self.ready()?;
        let mut outcome = Ok(0.0);
        while !stop.is_over() && outcome.is_ok() {
            outcome = ready.round(&grid, stop, Some(&mut *out), Some(&mut watch));
        }
        ready.copier.evidence(out);
        out.evidence("gpu", ready.about.clone());
        out.evidence("watch", json!({ address: watch.end() }));
        self.nvml = nvml;
        outcome.map(|_| ())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        self.ready()?.copier.verify()
    }
}
