//! The worker: makes the memory, runs the points in turn, checks the data.

use seatrial_model::{Case, Cause, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Sample, Unit};
use seatrial_sys::clock::Calibration;
use seatrial_sys::memory::Pages;
use serde_json::json;

use super::layout::Layout;
use super::plan::SLICE;
use super::team::BandwidthTeam;
use crate::kernel::{ELEMENTS_MULTIPLE, Isa, Kernel, Pass, Store};
use crate::shard::{ArrayShard, ShardSpec};
use seatrial_bench::{Error, Offer, Part, Sink, Stop};

/// The worker of one trial.
pub struct Worker {
    place: PartPlacement,
    layout: Layout,
    kernel: Kernel,
    pass: Pass,
    elements: usize,
    pages: Vec<Pages>,
    team: Option<BandwidthTeam>,
    calibration: Option<Calibration>,
    slices: u64,
}

impl Worker {
    /// The worker of `case` at `place`; allocates nothing yet.
    ///
    /// # Errors
    /// When the case was not planned by the same version.
    pub fn new(case: &Case, place: &PartPlacement) -> Result<Self, Error> {
        let layout = Layout::of(&case.chosen, place);
        let word = |params: &Params, name: &str| params.text(name).map(str::to_owned).map_err(Error::from);
        let unknown = |what: &str| {
            Error::new(Cause::Protocol, format!("the case names a {what} that is not known here"))
        };
        let kernel: Kernel = word(&case.params, "kernel")?.parse().map_err(|_| unknown("kernel"))?;
        let isa: Isa = word(&case.chosen, "isa")?.parse().map_err(|_| unknown("instruction set"))?;
        let store = match word(&case.chosen, "store")?.as_str() {
            "nt" => Some(Store::NonTemporal),
            "regular" => Some(Store::Regular),
            _ => None,
        };
        let pass = Pass::select(kernel, store, isa).ok_or_else(|| {
            let text = format!("kernel {kernel} has no loop for {}; this CPU may lack it", isa.name());
            Error::new(Cause::Missing, text)
        })?;
        let array = case.chosen.bytes("array")?.unwrap_or_default();
        let shards = layout.points.iter().map(|point| point.threads.len()).max().unwrap_or(1).max(1);
        let elements = array.get() as usize / shards / size_of::<f64>();
        let pages = seatrial_bench::pages(&case.params)?;
        Ok(Self {
            place: place.clone(),
            layout,
            kernel,
            pass,
            elements: elements / ELEMENTS_MULTIPLE * ELEMENTS_MULTIPLE,
            pages,
            team: None,
            calibration: None,
            slices: 0,
        })
    }

    fn team(&self) -> Result<&BandwidthTeam, Error> {
        self.team
            .as_ref()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to run before it was told to prepare"))
    }

    /// Runs every point once for a slice; samples go to `out` when they count.
    fn round(&mut self, stop: &Stop, mut out: Option<&mut dyn Sink>) -> Result<(), Error> {
        let shortest = self.calibration.as_ref().map_or(0, Calibration::shortest_ns);
        for index in 0..self.layout.points.len() {
            let point = &self.layout.points[index];
            let all = self.team()?.slice(&point.threads, SLICE, stop)?;
            // A slice cut short by the end of the phase is no sample: it may hold a single block.
            let whole = all.iter().all(|ran| ran.end.since(ran.start) >= Nanos(SLICE.get().max(shortest)));
            if let (Some(out), true) = (out.as_deref_mut(), whole) {
                for ran in all {
                    let mut at = point.at.clone();
                    at.set("slice", self.slices);
                    at.set("thread", ran.thread as u64);
                    let amount = Quantity::new(ran.bytes as f64, Unit::Byte)
                        .map_err(|error| Error::new(Cause::Protocol, error.to_string()))?;
                    let channel = "slice".to_owned();
                    out.sample(Sample { channel, at, start: ran.start, end: ran.end, amount });
                }
            }
            self.slices += 1;
            if stop.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Every shard must have been gone through before the clock starts, so that the check of the data covers all of
    /// it and no page is touched for the first time.
    fn run_through(&self, stop: &Stop) -> Result<(), Error> {
        let everyone: Vec<_> =
            self.layout.slots.iter().enumerate().map(|(at, slot)| (slot.thread, at)).collect();
        while self.team()?.look(ArrayShard::passes).contains(&0) {
            let mut rest = everyone.as_slice();
            while !rest.is_empty() {
                // A thread that owns several slots takes them one after the other.
                let mut batch: Vec<(usize, usize)> = Vec::new();
                while let Some((next, tail)) = rest.split_first() {
                    if batch.iter().any(|(thread, _)| *thread == next.0) {
                        break;
                    }
                    batch.push(*next);
                    rest = tail;
                }
                self.team()?.slice(&batch, Nanos::millis(5), stop)?;
            }
        }
        Ok(())
    }

    fn tell_place(&self, out: &mut dyn Sink) -> Result<(), Error> {
        let team = self.team()?;
        team.look_at_all(|shards| {
            let held = || shards.iter().flat_map(|shard| shard.held());
            out.evidence("place", seatrial_bench::evidence_of_place(held()));
            out.evidence("pages", seatrial_bench::evidence_of_pages(held()));
            out.evidence("prefetch", json!(shards.first().map(|shard| shard.prefetch())));
        });
        Ok(())
    }
}

impl Part for Worker {
    fn prepare(&mut self) -> Result<Offer, Error> {
        let wanted = self.elements * size_of::<f64>() * self.kernel.arrays() * self.layout.slots.len();
        seatrial_bench::require_room(wanted as u64, "the arrays take", "free memory or set -p array=")?;
        let calibration = Calibration::measure();
        self.calibration = Some(calibration);
        let team = BandwidthTeam::start(&self.place.seats, self.layout.slots.len())?;
        let spec = |memory| ShardSpec {
            elements: self.elements,
            pass: self.pass.clone(),
            pages: self.pages.clone(),
            memory,
        };
        team.make(self.layout.slots.iter().map(|slot| (slot.thread, spec(slot.memory))).collect())?;
        self.team = Some(team);
        Ok(Offer::new(&self.place, serde_json::Value::Null))
    }

    fn connect(&mut self, _: &[Offer]) -> Result<(), Error> {
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
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
        self.tell_place(out)?;
        out.evidence("isa", json!(self.pass.isa().name()));
        if let Some(calibration) = &self.calibration {
            out.evidence("clock", json!({ "cost_ns": calibration.cost_ns, "step_ns": calibration.step_ns }));
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        let all = self.team()?.verify(self.layout.slots.iter().map(|slot| slot.thread))?;
        let mut checked_in_all = 0;
        for integrity in all {
            match integrity {
                Integrity::Verified { checked } => checked_in_all += checked,
                other => return Ok(other),
            }
        }
        Ok(Integrity::Verified { checked: checked_in_all })
    }
}
