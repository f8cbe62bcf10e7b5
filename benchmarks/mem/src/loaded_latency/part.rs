//! The worker: one thread chases, the others load at one pace after the other.

use std::time::Duration;

use seatrial_model::{
    Binding, Case, Cause, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Reason, Sample,
};
use seatrial_sys::clock::{Calibration, now_ns};
use serde_json::json;

use super::pace::LoadPace;
use super::plan::{SLICE, kernel};
use super::team::{LoadTeam, PACED_BLOCK};
use crate::chase::{ChaseRun, Chaser, Order, Rings};
use crate::kernel::{Isa, Pass};
use crate::shard::ShardSpec;
use seatrial_bench::{Held, no_memory};
use seatrial_bench::{Running, Sink, Stop, evidence_of_clock};

/// Sample channel of the chaser, counted in hops.
pub const CHASE: &str = "chase";

/// Sample channel of the loaders: bytes of all of them.
pub const LOAD: &str = "load";

/// Least runs at full rate for determining that rate.
const FLAT_RUNS: usize = 5;

pub struct LoadedLatencyWorker {
    steps: u64,
    block_bytes: u64,
    isa: Isa,
    rings: Rings,
    chaser: Chaser,
    team: LoadTeam,
    /// Full rate of the loaders, in bytes per nanosecond.
    full: f64,
    calibration: Calibration,
}

struct Window {
    ran: ChaseRun,
    start: Nanos,
    end: Nanos,
    moved: u64,
}

impl LoadedLatencyWorker {
    pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let odd = |what: &str| Reason::new(Cause::Protocol, format!("the case names an unknown {what}"));
        let bytes = |name: &str| -> Result<u64, Reason> {
            case.planned
                .bytes(name)?
                .map(seatrial_model::Bytes::get)
                .filter(|bytes| *bytes > 0)
                .ok_or_else(|| odd(name))
        };
        let isa: Isa = case.planned.text("isa")?.parse().map_err(|_| odd("instruction set"))?;
        let (kernel, store) = kernel(case.params.text("load")?).ok_or_else(|| odd("load"))?;
        let pass = Pass::select(kernel, store, isa).ok_or_else(|| {
            Reason::new(Cause::Missing, format!("this CPU runs no {kernel} kernel for {isa}"))
        })?;
        let split = place.bindings.split_first().filter(|(_, loaders)| !loaders.is_empty());
        let (chaser, loaders) =
            split.ok_or_else(|| Reason::new(Cause::Protocol, "the placement has no CPU for a loader"))?;
        let pages = seatrial_bench::pages(&case.params)?;
        let spec = ShardSpec::new(bytes("array")?, loaders.len(), pass, pages);
        let (line, ring_bytes) = (bytes("line")?, bytes("ring")?);
        let order = ring_bytes / line * size_of::<u32>() as u64;
        let wanted = spec.bytes() * loaders.len() as u64 + ring_bytes + order;
        seatrial_bench::require_room(wanted, "the ring and the arrays take", "free memory")?;
        seatrial_bench::pin(chaser.cpu)?;
        let held = Held::take(ring_bytes as usize, &spec.pages, chaser.memory)
            .map_err(no_memory("memory for the chaser's ring"))?;
        let mut rings = Rings::new(held, line as usize);
        let lines = (ring_bytes / line) as usize;
        let ring = rings.lay(0, order_of(lines).next());
        let on = |binding: &Binding| (*binding, ShardSpec { memory: binding.memory, ..spec.clone() });
        Ok(Self {
            steps: case.params.count("steps")?.max(1),
            block_bytes: (PACED_BLOCK * kernel.counted_bytes_per_element()) as u64,
            isa,
            rings,
            chaser: Chaser::new(ring, lines),
            team: LoadTeam::start(loaders.iter().map(on).collect())?,
            full: 0.0,
            calibration: Calibration::measure(),
        })
    }

    /// One run at `pace`, after an untimed stretch in which the loaders settle.
    fn window(&mut self, pace: LoadPace) -> Window {
        let Self { rings, chaser, team, .. } = self;
        team.load(pace);
        let hop_ns = chaser.settle(rings);
        // Reading the counters of many loaders takes time; the middle of it is taken as the moment.
        let moment = |team: &LoadTeam| {
            let before = now_ns();
            let moved: u64 = team.moved().sum();
            (Nanos(before.midpoint(now_ns())), moved)
        };
        let (start, before) = moment(team);
        let ran = chaser.run_for(rings, SLICE, hop_ns);
        let (end, after) = moment(team);
        Window { ran, start, end, moved: after - before }
    }

    /// Has every loader go through its arrays once, so that the check covers all of them, and determines the full
    /// rate.
    fn find_full_rate(&mut self, stop: &Stop) -> Result<(), Reason> {
        let team = &mut self.team;
        team.halt()?;
        let whole = team.look(|loads| loads.iter().map(|load| load.bytes()).max().unwrap_or(0));
        team.load(LoadPace::FlatOut);
        while team.moved().any(|moved| moved < whole) {
            team.check(Duration::from_millis(1))?;
        }
        // The best run counts, because the full rate only sets the aim of the steps; a disturbed run would lower all
        // of them.
        let (mut runs, mut full) = (0, 0.0_f64);
        while runs < FLAT_RUNS || !stop.is_over() {
            let window = self.window(LoadPace::FlatOut);
            full = full.max(window.moved as f64 / window.end.since(window.start).get().max(1) as f64);
            runs += 1;
        }
        if full <= 0.0 {
            let text = "the loaders moved nothing at full rate: other processes hold their cores";
            return Err(Reason::new(Cause::TooShort, text));
        }
        self.full = full;
        Ok(())
    }

    fn round(&mut self, stop: &Stop, out: &mut dyn Sink) {
        let shortest = Nanos(self.calibration.shortest_ns());
        let loaders = self.team.len();
        for step in 0..=self.steps {
            if stop.is_over() {
                return;
            }
            let percent = step * 100 / self.steps;
            let window = self.window(LoadPace::share(percent, self.full, loaders, self.block_bytes));
            if window.ran.end.since(window.ran.start) < shortest {
                continue;
            }
            let at = Params::from([("load", percent.into())]);
            let Window { ran, start, end, moved } = window;
            out.sample(Sample::new(CHASE, at.clone(), (ran.start, ran.end), Quantity::count(ran.hops)));
            out.sample(Sample::new(LOAD, at, (start, end), Quantity::bytes(moved)));
        }
    }

    fn tell(&self, out: &mut dyn Sink) {
        let Self { rings, team, full, .. } = self;
        team.look(|loads| {
            let held = || std::iter::once(rings.held()).chain(loads.iter().flat_map(|load| load.held()));
            out.evidence("place", seatrial_bench::evidence_of_place(held()));
            out.evidence("pages", seatrial_bench::evidence_of_pages(held()));
        });
        out.evidence("loaders", json!({ "count": team.len(), "flat_out_gb_per_s": full }));
        out.evidence("isa", json!(self.isa.name()));
        out.evidence("clock", evidence_of_clock(&self.calibration));
    }

    #[cfg(test)]
    pub fn innards(&mut self) -> (&mut Rings, &mut LoadTeam) {
        (&mut self.rings, &mut self.team)
    }
}

impl Running for LoadedLatencyWorker {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::WarmUp {
            self.find_full_rate(stop)?;
            self.team.load(LoadPace::Pause);
            return Ok(());
        }
        while !stop.is_over() {
            self.round(stop, out);
        }
        self.team.halt()?;
        self.tell(out);
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let Self { rings, chaser, team, .. } = self;
        match chaser.verify(rings, &order_of(chaser.lines()), "the chaser's ring") {
            ring @ Integrity::Verified { .. } => {
                Ok(Integrity::of_all(std::iter::once(ring).chain(team.verify()?)))
            }
            corrupt => Ok(corrupt),
        }
    }
}

fn order_of(lines: usize) -> Order {
    let mut order = Order::with_room_for(lines);
    order.grow(lines);
    order
}
