//! The worker: lays the rings, visits the points in turn, checks pointers and positions.

use seatrial_model::{Case, Cause, Integrity, Nanos, PartPlacement, Phase, Quantity, Reason, Sample};
use seatrial_sys::clock::Calibration;
use seatrial_sys::memory::Pages;

use super::layout::LatencyLayout;
use super::plan::{RUNS, SLICE};
use crate::chase::{Chaser, Order, Rings};
use seatrial_bench::{Held, no_memory};
use seatrial_bench::{Running, Sink, Stop, evidence_of_clock};

/// Sample channel, counted in hops.
pub const CHANNEL: &str = "chase";

pub struct LatencyWorker {
    layout: LatencyLayout,
    line: u64,
    blocks: Vec<Rings>,
    chasers: Vec<Chaser>,
    calibration: Calibration,
    pinned: Option<u32>,
}

impl LatencyWorker {
    pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let odd = || Reason::new(Cause::Protocol, "the case names unknown rings");
        let line = case.planned.bytes("line")?.ok_or_else(odd)?.get();
        let layout = LatencyLayout::of(&case.params, &case.planned, place).ok_or_else(odd)?;
        if line == 0 || layout.rings.iter().any(|ring| ring.bytes < line) {
            return Err(odd());
        }
        seatrial_bench::require_room(layout.bytes(line), "the rings take", "free memory or set -p size=")?;
        let pages = seatrial_bench::pages(&case.params)?;
        let calibration = Calibration::measure();
        let (blocks, chasers) = (Vec::new(), Vec::new());
        let mut worker = Self { layout, line, blocks, chasers, calibration, pinned: None };
        worker.take_memory(&pages)?;
        worker.lay_rings();
        Ok(worker)
    }

    fn pin(&mut self, cpu: u32) -> Result<(), Reason> {
        if self.pinned != Some(cpu) {
            seatrial_bench::pin(cpu)?;
            self.pinned = Some(cpu);
        }
        Ok(())
    }

    /// Allocates every block on the CPU that uses it first, so that first touch places unbound memory near it.
    fn take_memory(&mut self, pages: &[Pages]) -> Result<(), Reason> {
        for index in 0..self.layout.blocks.len() {
            let block = self.layout.blocks[index].clone();
            let user = self.layout.points.iter().find(|point| self.layout.rings[point.ring].block == index);
            if let Some(cpu) = user.map(|point| point.cpu) {
                self.pin(cpu)?;
            }
            let held = Held::take(block.bytes as usize, pages, block.memory)
                .map_err(no_memory("memory for the rings"))?;
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

    fn order(&self) -> Order {
        let longest = self.layout.rings.iter().map(|ring| ring.bytes).max().unwrap_or(self.line);
        Order::with_room_for((longest / self.line) as usize)
    }

    fn round(&mut self, stop: &Stop, mut out: Option<&mut dyn Sink>) -> Result<(), Reason> {
        let shortest = Nanos(self.calibration.shortest_ns());
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
                // Runs too short for the clock are no samples.
                if let (Some(out), true) = (out.as_deref_mut(), ran.end.since(ran.start) >= shortest) {
                    let span = (ran.start, ran.end);
                    out.sample(Sample::new(CHANNEL, point.at.clone(), span, Quantity::count(ran.hops)));
                }
            }
        }
        Ok(())
    }

    fn tell(&self, out: &mut dyn Sink) {
        let held = || self.blocks.iter().map(Rings::held);
        out.evidence("place", seatrial_bench::evidence_of_place(held()));
        out.evidence("pages", seatrial_bench::evidence_of_pages(held()));
        out.evidence("clock", evidence_of_clock(&self.calibration));
    }

    #[cfg(test)]
    pub fn redirect(&mut self, ring: usize, from: usize, to: usize) {
        let number = self.chasers[ring].ring();
        self.blocks[self.layout.rings[ring].block].redirect(number, from, to);
    }
}

impl Running for LatencyWorker {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        while !stop.is_over() {
            let kept: Option<&mut dyn Sink> = if phase == Phase::WarmUp { None } else { Some(out) };
            self.round(stop, kept)?;
        }
        if phase == Phase::Measure {
            self.tell(out);
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let mut order = self.order();
        let mut checked = 0;
        for (ring, chaser) in self.layout.rings.iter().zip(&self.chasers) {
            order.grow(chaser.lines());
            let name = format!("the ring of {}", seatrial_model::Bytes(ring.bytes));
            match chaser.verify(&self.blocks[ring.block], &order, &name) {
                Integrity::Verified { checked: more } => checked += more,
                corrupt => return Ok(corrupt),
            }
        }
        if checked == 0 {
            return Ok(Integrity::Unverified { why: "no ring was laid".to_owned() });
        }
        Ok(Integrity::Verified { checked })
    }
}
