//! The worker: lays the rings, visits the points in turn, checks pointers and positions.

use seatrial_model::{Case, Cause, Integrity, Nanos, PartPlacement, Phase, Quantity, Sample, Unit};
use seatrial_sys::clock::Calibration;
use seatrial_sys::memory::Pages;
use serde_json::json;

use super::layout::Layout;
use super::plan::{RUNS, SLICE};
use crate::chase::{Chaser, Order, Rings};
use seatrial_bench::Held;
use seatrial_bench::{Error, Offer, Part, Sink, Stop};

/// The channel of the samples: an amount of hops.
pub const CHANNEL: &str = "chase";

/// The worker of one trial.
pub struct Worker {
    place: PartPlacement,
    layout: Layout,
    line: u64,
    pages: Vec<Pages>,
    blocks: Vec<Rings>,
    /// One a ring of the layout.
    chasers: Vec<Chaser>,
    calibration: Option<Calibration>,
    pinned: Option<u32>,
}

impl Worker {
    /// The worker of `case` at `place`; allocates nothing yet.
    ///
    /// # Errors
    /// When the case was not planned by the same version.
    pub fn new(case: &Case, place: &PartPlacement) -> Result<Self, Error> {
        let odd = || Error::new(Cause::Protocol, "the case names no rings that are known here");
        let line = case.chosen.bytes("line")?.ok_or_else(odd)?.get();
        let layout = Layout::of(&case.params, &case.chosen, place).ok_or_else(odd)?;
        if line == 0 || layout.rings.iter().any(|ring| ring.bytes < line) {
            return Err(odd());
        }
        Ok(Self {
            place: place.clone(),
            layout,
            line,
            pages: seatrial_bench::pages(&case.params)?,
            blocks: Vec::new(),
            chasers: Vec::new(),
            calibration: None,
            pinned: None,
        })
    }

    fn pin(&mut self, cpu: u32) -> Result<(), Error> {
        if self.pinned != Some(cpu) {
            seatrial_bench::pin(cpu)?;
            self.pinned = Some(cpu);
        }
        Ok(())
    }

    /// Takes the memory of every block on the CPU that uses it first, so that what is bound to no node lies next to it.
    fn take_memory(&mut self) -> Result<(), Error> {
        for index in 0..self.layout.blocks.len() {
            let block = self.layout.blocks[index].clone();
            let user = self.layout.points.iter().find(|point| self.layout.rings[point.ring].block == index);
            if let Some(cpu) = user.map(|point| point.cpu) {
                self.pin(cpu)?;
            }
            let held = Held::take(block.bytes as usize, &self.pages, block.memory).map_err(|error| {
                Error::new(Cause::NoSpace, format!("cannot take memory for the rings: {error}"))
            })?;
            self.blocks.push(Rings::new(held, self.line as usize));
        }
        Ok(())
    }

    fn lay_rings(&mut self) {
        let mut order = self.order();
        for ring in &self.layout.rings {
            let lines = (ring.bytes / self.line) as usize;
            order.grow(lines);
            let number = self.blocks[ring.block].lay(ring.first as usize, &order.next()[..lines]);
            self.chasers.push(Chaser::new(number, lines));
        }
    }

    /// An order of one line, with room for the longest ring.
    fn order(&self) -> Order {
        let longest = self.layout.rings.iter().map(|ring| ring.bytes).max().unwrap_or(self.line);
        Order::with_room_for((longest / self.line) as usize)
    }

    /// Visits every point once; samples go to `out` when they count.
    fn round(&mut self, stop: &Stop, mut out: Option<&mut dyn Sink>) -> Result<(), Error> {
        let shortest = Nanos(self.calibration.as_ref().map_or(0, Calibration::shortest_ns));
        for index in 0..self.layout.points.len() {
            let point = self.layout.points[index].clone();
            self.pin(point.cpu)?;
            let rings = &self.blocks[self.layout.rings[point.ring].block];
            let chaser = &mut self.chasers[point.ring];
            if point.swept {
                rings.sweep(chaser.ring(), 1);
            }
            let hop_ns = chaser.settle(rings);
            for _ in 0..RUNS {
                if stop.is_over() {
                    return Ok(());
                }
                let ran = chaser.run_for(rings, SLICE, hop_ns);
                // What the clock could not time well is no sample.
                if let (Some(out), true) = (out.as_deref_mut(), ran.end.since(ran.start) >= shortest) {
                    let amount = Quantity::new(ran.hops as f64, Unit::Count)
                        .map_err(|error| Error::new(Cause::Protocol, error.to_string()))?;
                    let (channel, at) = (CHANNEL.to_owned(), point.at.clone());
                    out.sample(Sample { channel, at, start: ran.start, end: ran.end, amount });
                }
            }
        }
        Ok(())
    }

    fn tell(&self, out: &mut dyn Sink) {
        let held = || self.blocks.iter().map(Rings::held);
        out.evidence("place", seatrial_bench::evidence_of_place(held()));
        out.evidence("pages", seatrial_bench::evidence_of_pages(held()));
        if let Some(calibration) = &self.calibration {
            out.evidence("clock", json!({ "cost_ns": calibration.cost_ns, "step_ns": calibration.step_ns }));
        }
    }

    /// Makes the pointer in line `from` of the ring with that number lead to line `to`.
    #[cfg(test)]
    pub fn redirect(&mut self, ring: usize, from: usize, to: usize) {
        let number = self.chasers[ring].ring();
        self.blocks[self.layout.rings[ring].block].redirect(number, from, to);
    }
}

impl Part for Worker {
    fn prepare(&mut self) -> Result<Offer, Error> {
        let wanted = self.layout.bytes(self.line);
        seatrial_bench::require_room(wanted, "the rings take", "free memory or set -p size=")?;
        self.take_memory()?;
        self.lay_rings();
        self.calibration = Some(Calibration::measure());
        Ok(Offer::new(&self.place, serde_json::Value::Null))
    }

    fn connect(&mut self, _: &[Offer]) -> Result<(), Error> {
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        if self.chasers.is_empty() {
            return Err(Error::new(Cause::Protocol, "told to run before it was told to prepare"));
        }
        while !stop.is_over() {
            let kept: Option<&mut dyn Sink> = if phase == Phase::WarmUp { None } else { Some(out) };
            self.round(stop, kept)?;
        }
        if phase == Phase::Measure {
            self.tell(out);
        }
        Ok(())
    }

    /// Compares every pointer of every ring with the order made anew, and walks the last run of each once more.
    fn verify(&mut self) -> Result<Integrity, Error> {
        let mut order = self.order();
        let mut checked = 0;
        for (ring, chaser) in self.layout.rings.iter().zip(&self.chasers) {
            order.grow(chaser.lines());
            let size = seatrial_model::Bytes(ring.bytes);
            let of = chaser.lines() as u64;
            if let Some(wrong) = self.blocks[ring.block].compare(chaser.ring(), order.next()) {
                let first = format!("in the ring of {size}, {}", wrong.first);
                return Ok(Integrity::Corrupt { wrong: wrong.count, of, first });
            }
            if let Some(how) = chaser.strayed(&order) {
                return Ok(Integrity::Corrupt {
                    wrong: 1,
                    of,
                    first: format!("in the ring of {size}, {how}"),
                });
            }
            checked += of * size_of::<u64>() as u64;
        }
        if checked == 0 {
            return Ok(Integrity::Unverified { why: "there is no ring".to_owned() });
        }
        Ok(Integrity::Verified { checked })
    }
}
