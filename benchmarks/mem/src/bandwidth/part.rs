//! The worker: makes the arrays, runs the points in turn, checks the data.

use seatrial_model::{Case, Cause, Integrity, Nanos, PartPlacement, Phase, Quantity, Reason, Sample};
use seatrial_sys::clock::Calibration;
use serde_json::json;

use super::layout::BandwidthLayout;
use super::team::BandwidthTeam;
use crate::kernel::{Isa, Kernel, Pass, Store};
use crate::shard::ShardSpec;
use seatrial_bench::{Running, Sink, Stop, evidence_of_clock};

pub struct BandwidthWorker {
    layout: BandwidthLayout,
    isa: Isa,
    team: BandwidthTeam,
    calibration: Calibration,
    slices: u64,
}

impl BandwidthWorker {
    pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let layout = BandwidthLayout::of(&case.planned, place);
        let unknown = |what: &str| Reason::new(Cause::Protocol, format!("the case names an unknown {what}"));
        let kernel: Kernel = case.params.text("kernel")?.parse().map_err(|_| unknown("kernel"))?;
        let isa: Isa = case.planned.text("isa")?.parse().map_err(|_| unknown("instruction set"))?;
        let store = match case.planned.text("store")? {
            "nt" => Some(Store::NonTemporal),
            "regular" => Some(Store::Regular),
            _ => None,
        };
        let pass = Pass::select(kernel, store, isa).ok_or_else(|| {
            let text = format!("kernel {kernel} has no loop for {}, or this CPU lacks it", isa.name());
            Reason::new(Cause::Missing, text)
        })?;
        let array = case.planned.bytes("array")?.unwrap_or_default();
        let shards = layout.points.iter().map(|point| point.threads.len()).max().unwrap_or(1).max(1);
        let spec = ShardSpec::new(array.get(), shards, pass, seatrial_bench::pages(&case.params)?);
        let wanted = spec.bytes() * layout.slots.len() as u64;
        seatrial_bench::require_room(wanted, "the arrays take", "free memory or set -p array=")?;
        let calibration = Calibration::measure();
        let team = BandwidthTeam::start(&place.bindings, layout.slots.len())?;
        let on = |memory| ShardSpec { memory, ..spec.clone() };
        team.make(layout.slots.iter().map(|slot| (slot.thread, on(slot.memory))).collect())?;
        Ok(Self { layout, isa, team, calibration, slices: 0 })
    }

    fn round(&mut self, stop: &Stop, mut out: Option<&mut dyn Sink>) -> Result<(), Reason> {
        let shortest = self.calibration.shortest_ns();
        for index in 0..self.layout.points.len() {
            let point = &self.layout.points[index];
            let all = self.team.slice(&point.threads, point.span, stop)?;
            // A slice that the end of the phase cuts short may hold a single block, and is no sample.
            let whole =
                all.iter().all(|ran| ran.end.since(ran.start) >= Nanos(point.span.get().max(shortest)));
            if let (Some(out), true) = (out.as_deref_mut(), whole) {
                for ran in all {
                    let mut at = point.at.clone();
                    at.set("slice", self.slices);
                    at.set("thread", ran.thread as u64);
                    out.sample(Sample::new("slice", at, (ran.start, ran.end), Quantity::bytes(ran.bytes)));
                }
            }
            self.slices += 1;
            if stop.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Runs through every shard once before the clock starts, so that the check covers all of it and no page is first
    /// touched later.
    fn run_through(&self, stop: &Stop) -> Result<(), Reason> {
        let everyone: Vec<_> =
            self.layout.slots.iter().enumerate().map(|(at, slot)| (slot.thread, vec![at])).collect();
        while self.team.look(|shards| shards.iter().any(|shard| shard.passes() == 0)) {
            let mut rest = everyone.as_slice();
            while !rest.is_empty() {
                let mut batch: Vec<(usize, Vec<usize>)> = Vec::new();
                while let Some((next, tail)) = rest.split_first() {
                    if batch.iter().any(|(thread, _)| *thread == next.0) {
                        break;
                    }
                    batch.push(next.clone());
                    rest = tail;
                }
                self.team.slice(&batch, Nanos::millis(5), stop)?;
            }
        }
        Ok(())
    }

    fn tell_place(&self, out: &mut dyn Sink) {
        self.team.look(|shards| {
            let held = || shards.iter().flat_map(|shard| shard.held());
            out.evidence("place", seatrial_bench::evidence_of_place(held()));
            out.evidence("pages", seatrial_bench::evidence_of_pages(held()));
        });
        out.evidence("prefetch", self.team.trial().to_evidence());
    }
}

impl Running for BandwidthWorker {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::WarmUp {
            self.run_through(&Stop::after(std::time::Duration::from_secs(3600)))?;
            while !stop.is_over() {
                self.round(stop, None)?;
            }
            return Ok(());
        }
        while !stop.is_over() {
            self.round(stop, Some(out))?;
        }
        self.tell_place(out);
        out.evidence("isa", json!(self.isa.name()));
        out.evidence("clock", evidence_of_clock(&self.calibration));
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let all = self.team.verify(self.layout.slots.iter().map(|slot| slot.thread))?;
        Ok(Integrity::of_all(all))
    }
}
