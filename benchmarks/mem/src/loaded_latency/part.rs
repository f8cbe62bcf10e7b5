//! The worker: one thread chases, the others load at one pace after the other.

use std::time::Duration;

use seatrial_model::{
    Binding, Case, Cause, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Sample, Unit,
};
use seatrial_sys::clock::{Calibration, now_ns};
use serde_json::json;

use super::pace::Pace;
use super::plan::{SLICE, kernel};
use super::team::{LoadTeam, PACED_BLOCK};
use crate::chase::{Chaser, Order, Ran, Rings};
use crate::kernel::{ELEMENTS_MULTIPLE, Isa, Pass};
use crate::shard::ShardSpec;
use seatrial_bench::Held;
use seatrial_bench::{Error, Offer, Part, Sink, Stop};

/// The channel of the chaser's samples: an amount of hops.
pub const CHASE: &str = "chase";

/// The channel of the loaders' samples: the bytes of all of them.
pub const LOAD: &str = "load";

/// Flat-out runs that the full rate is taken from, at least.
const FLAT_RUNS: usize = 5;

/// The worker of one trial.
pub struct Worker {
    place: PartPlacement,
    steps: u64,
    line: u64,
    ring_bytes: u64,
    spec: ShardSpec,
    rings: Option<(Rings, Chaser)>,
    team: Option<LoadTeam>,
    /// What the loaders move when flat out, in bytes a nanosecond.
    full: f64,
    calibration: Option<Calibration>,
}

/// A timed run of the chaser, with what the loaders moved meanwhile.
struct Window {
    ran: Ran,
    start: Nanos,
    end: Nanos,
    moved: u64,
}

impl Worker {
    /// The worker of `case` at `place`; allocates nothing yet.
    ///
    /// # Errors
    /// When the case was not planned by the same version.
    pub fn new(case: &Case, place: &PartPlacement) -> Result<Self, Error> {
        let odd =
            |what: &str| Error::new(Cause::Protocol, format!("the case names no {what} that is known here"));
        let bytes = |name: &str| -> Result<u64, Error> {
            case.chosen
                .bytes(name)?
                .map(seatrial_model::Bytes::get)
                .filter(|bytes| *bytes > 0)
                .ok_or_else(|| odd(name))
        };
        let isa: Isa = case.chosen.text("isa")?.parse().map_err(|_| odd("instruction set"))?;
        let (kernel, store) = kernel(case.params.text("load")?).ok_or_else(|| odd("load"))?;
        let pass = Pass::select(kernel, store, isa).ok_or_else(|| {
            Error::new(Cause::Missing, format!("no loop of {kernel} for {isa} runs on this CPU"))
        })?;
        let loaders = place.seats.len().saturating_sub(1).max(1);
        let elements = bytes("array")? as usize / loaders / size_of::<f64>();
        let spec = ShardSpec {
            elements: elements / ELEMENTS_MULTIPLE * ELEMENTS_MULTIPLE,
            pass,
            pages: seatrial_bench::pages(&case.params)?,
            memory: None,
        };
        Ok(Self {
            place: place.clone(),
            steps: case.params.count("steps")?.max(1),
            line: bytes("line")?,
            ring_bytes: bytes("ring")?,
            spec,
            rings: None,
            team: None,
            full: 0.0,
            calibration: None,
        })
    }

    fn chaser(&self) -> Result<(Binding, &[Binding]), Error> {
        let split = self.place.seats.split_first().filter(|(_, loaders)| !loaders.is_empty());
        let (chaser, loaders) =
            split.ok_or_else(|| Error::new(Cause::Protocol, "the case has no seat for a loader"))?;
        Ok((*chaser, loaders))
    }

    fn take_ring(&mut self) -> Result<(), Error> {
        let (binding, _) = self.chaser()?;
        seatrial_bench::pin(binding.cpu)?;
        let held =
            Held::take(self.ring_bytes as usize, &self.spec.pages, binding.memory).map_err(|error| {
                Error::new(Cause::NoSpace, format!("cannot take memory for the chaser's ring: {error}"))
            })?;
        let mut rings = Rings::new(held, self.line as usize);
        let order = self.order();
        let ring = rings.lay(0, order.next());
        self.rings = Some((rings, Chaser::new(ring, order.next().len())));
        Ok(())
    }

    fn order(&self) -> Order {
        let lines = (self.ring_bytes / self.line) as usize;
        let mut order = Order::with_room_for(lines);
        order.grow(lines);
        order
    }

    fn parts(&mut self) -> Result<(&Rings, &mut Chaser, &mut LoadTeam), Error> {
        match (&mut self.rings, &mut self.team) {
            (Some((rings, chaser)), Some(team)) => Ok((rings, chaser, team)),
            _ => Err(Error::new(Cause::Protocol, "told to run before it was told to prepare")),
        }
    }

    /// One run at `pace`, behind a stretch that is not timed, in which the loaders find their pace.
    fn window(&mut self, pace: Pace) -> Result<Window, Error> {
        let (rings, chaser, team) = self.parts()?;
        team.load(pace);
        let hop_ns = chaser.settle(rings);
        // Reading the counters of many loaders takes a while: the middle of it stands for the moment.
        let moment = |team: &LoadTeam| {
            let before = now_ns();
            let moved: u64 = team.moved().sum();
            (Nanos(before.midpoint(now_ns())), moved)
        };
        let (start, before) = moment(team);
        let ran = chaser.run_for(rings, SLICE, hop_ns);
        let (end, after) = moment(team);
        Ok(Window { ran, start, end, moved: after - before })
    }

    /// Lets every loader go through its arrays once, so that the check of the data covers all of them, and finds out
    /// what they move when flat out.
    fn find_full_rate(&mut self, stop: &Stop) -> Result<(), Error> {
        let (_, _, team) = self.parts()?;
        team.halt()?;
        let whole = team.look(|loads| loads.iter().map(|load| load.bytes()).max().unwrap_or(0));
        team.load(Pace::FlatOut);
        while team.moved().any(|moved| moved < whole) {
            team.check(Duration::from_millis(1))?;
        }
        // The best run counts: it only sets what the steps aim at, and a run in which a loader was held up would set
        // all of them too low.
        let (mut runs, mut full) = (0, 0.0_f64);
        while runs < FLAT_RUNS || !stop.is_over() {
            let window = self.window(Pace::FlatOut)?;
            full = full.max(window.moved as f64 / window.end.since(window.start).get().max(1) as f64);
            runs += 1;
        }
        if full <= 0.0 {
            let text = "the loaders moved nothing while they were flat out: something else holds their cores";
            return Err(Error::new(Cause::TooShort, text));
        }
        self.full = full;
        Ok(())
    }

    /// Takes every step once.
    fn round(&mut self, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let shortest = Nanos(self.calibration.as_ref().map_or(0, Calibration::shortest_ns));
        let block_bytes = (PACED_BLOCK * self.spec.pass.kernel().counted_bytes_per_element()) as u64;
        let loaders = self.parts()?.2.len();
        for step in 0..=self.steps {
            if stop.is_over() {
                return Ok(());
            }
            let percent = step * 100 / self.steps;
            let window = self.window(Pace::share(percent, self.full, loaders, block_bytes))?;
            if window.ran.end.since(window.ran.start) < shortest {
                continue;
            }
            let at: Params = [("load".to_owned(), percent.into())].into_iter().collect();
            let mut keep = |channel: &str, start, end, amount: f64, unit| -> Result<(), Error> {
                let amount = Quantity::new(amount, unit)
                    .map_err(|error| Error::new(Cause::Protocol, error.to_string()))?;
                out.sample(Sample { channel: channel.to_owned(), at: at.clone(), start, end, amount });
                Ok(())
            };
            let Window { ran, start, end, moved } = window;
            keep(CHASE, ran.start, ran.end, ran.hops as f64, Unit::Count)?;
            keep(LOAD, start, end, moved as f64, Unit::Byte)?;
        }
        Ok(())
    }

    fn tell(&mut self, out: &mut dyn Sink) -> Result<(), Error> {
        let full = self.full;
        let (rings, _, team) = self.parts()?;
        team.look(|loads| {
            let held = || std::iter::once(rings.held()).chain(loads.iter().flat_map(|load| load.held()));
            out.evidence("place", seatrial_bench::evidence_of_place(held()));
            out.evidence("pages", seatrial_bench::evidence_of_pages(held()));
        });
        out.evidence("loaders", json!({ "count": team.len(), "flat_out_gb_per_s": full }));
        out.evidence("isa", json!(self.spec.pass.isa().name()));
        if let Some(calibration) = &self.calibration {
            out.evidence("clock", json!({ "cost_ns": calibration.cost_ns, "step_ns": calibration.step_ns }));
        }
        Ok(())
    }

    /// What a test needs to plant a fault.
    #[cfg(test)]
    pub fn innards(&mut self) -> (&mut Rings, &mut LoadTeam) {
        let (rings, _) = self.rings.as_mut().expect("prepared");
        (rings, self.team.as_mut().expect("prepared"))
    }
}

impl Part for Worker {
    fn prepare(&mut self) -> Result<Offer, Error> {
        let (_, loaders) = self.chaser()?;
        let loaders = loaders.to_vec();
        let arrays = self.spec.elements * size_of::<f64>() * self.spec.pass.kernel().arrays();
        let order = self.ring_bytes / self.line * size_of::<u32>() as u64;
        let wanted = (arrays * loaders.len()) as u64 + self.ring_bytes + order;
        seatrial_bench::require_room(wanted, "the ring and the arrays take", "free memory")?;
        self.take_ring()?;
        let spec = |binding: Binding| ShardSpec { memory: binding.memory, ..self.spec.clone() };
        self.team =
            Some(LoadTeam::start(loaders.into_iter().map(|binding| (binding, spec(binding))).collect())?);
        self.calibration = Some(Calibration::measure());
        Ok(Offer::new(&self.place, serde_json::Value::Null))
    }

    fn connect(&mut self, _: &[Offer]) -> Result<(), Error> {
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        if phase == Phase::WarmUp {
            self.find_full_rate(stop)?;
            self.parts()?.2.load(Pace::Pause);
            return Ok(());
        }
        while !stop.is_over() {
            self.round(stop, out)?;
        }
        self.parts()?.2.halt()?;
        self.tell(out)
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        let order = self.order();
        let (rings, chaser, team) = self.parts()?;
        let lines = chaser.lines() as u64;
        if let Some(wrong) = rings.compare(chaser.ring(), order.next()) {
            let first = format!("in the chaser's ring, {}", wrong.first);
            return Ok(Integrity::Corrupt { wrong: wrong.count, of: lines, first });
        }
        if let Some(how) = chaser.strayed(&order) {
            return Ok(Integrity::Corrupt {
                wrong: 1,
                of: lines,
                first: format!("in the chaser's ring, {how}"),
            });
        }
        let mut checked_in_all = lines * size_of::<u64>() as u64;
        for integrity in team.verify()? {
            match integrity {
                Integrity::Verified { checked } => checked_in_all += checked,
                other => return Ok(other),
            }
        }
        Ok(Integrity::Verified { checked: checked_in_all })
    }
}
