//! The worker: a core by itself, then all cores together.

use std::time::Duration;

use seatrial_model::{
    Binding, Case, Cause, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Sample, Unit,
};
use seatrial_sys::clock::{Calibration, now_ns, sleep_until_ns};
use serde_json::json;

use super::chain::Chains;
use super::lap::{self, Block, Lap, Tally};
use super::ramp::Ramp;
use seatrial_bench::{Error, Gate, Offer, Part, Sink, Stop, ThreadSpec, ThreadTeam, pin};

/// Words of the parameter `cores`, and of the samples' axis of the same name.
pub const ONE: &str = "one";
pub const ALL: &str = "all";

/// Runs before the first slice counts: threads start, governors and turbo answer to the new load.
const SETTLE: Nanos = Nanos::millis(50);

/// Rest before the warm-up, so that the governor has seen an idle core: several of its sampling periods.
const REST: Duration = Duration::from_millis(50);

/// A clock whose looks are so coarse that blocks must be longer than usual.
const USUAL_BLOCK_NS: u64 = 250_000;

/// The worker of one trial.
#[derive(Debug)]
pub struct Worker {
    place: PartPlacement,
    alone: bool,
    together: bool,
    chains: Chains,
    calibration: Option<Calibration>,
    ramp: Ramp,
    tally: Tally,
}

impl Worker {
    /// The worker of `case` at `place`.
    ///
    /// # Errors
    /// When the case was not planned by the same version, or this architecture has no chains.
    pub fn new(case: &Case, place: &PartPlacement) -> Result<Self, Error> {
        let cores = case.params.text("cores")?;
        if place.seats.is_empty() {
            return Err(Error::new(Cause::Protocol, "the case names no CPU to run on"));
        }
        Ok(Self {
            place: place.clone(),
            alone: cores != ALL,
            together: cores != ONE,
            chains: chains(1)?,
            calibration: None,
            ramp: Ramp::default(),
            tally: Tally::default(),
        })
    }

    /// Lets every binding run for `span`, together; what each found.
    fn together(&mut self, bindings: &[Binding], span: Nanos, stop: &Stop) -> Result<Vec<(u32, Lap)>, Error> {
        let (chains, gate) = (&self.chains, &Gate::new(bindings.len()));
        let laps = std::thread::scope(|scope| {
            let threads = bindings.iter().map(|Binding { cpu, .. }| {
                (ThreadSpec::new(format!("cpu{cpu}"), Some(*cpu)), move || Ok(*cpu))
            });
            ThreadTeam::start_in(scope, threads, "-p cores=one")?.all(move |_, cpu| {
                gate.pass();
                Ok((*cpu, lap::run(chains, SETTLE, span, stop)))
            })
        })?;
        for (_, lap) in &laps {
            self.tally.add(lap.tally.clone());
        }
        Ok(laps)
    }

    /// Rests, and then watches how the clock of the first core comes up.
    fn come_up(&mut self, stop: &Stop) -> Result<(), Error> {
        let rested = Nanos(now_ns()).plus(REST.into());
        while !stop.is_over() && Nanos(now_ns()) < rested {
            sleep_until_ns((now_ns() + 5_000_000).min(rested.get()));
        }
        let (chains, cpu) = (&self.chains, self.place.seats[0].cpu);
        let mut tally = Tally::default();
        let watch = |tally: &mut Tally| {
            pin(cpu)?;
            let mut blocks: Vec<Block> = Vec::with_capacity(1024);
            loop {
                blocks.push(tally.block(&chains.add));
                if stop.is_over() {
                    return Ok(blocks);
                }
            }
        };
        let blocks = std::thread::scope(|scope| scope.spawn(|| watch(&mut tally)).join());
        let blocks =
            blocks.unwrap_or_else(|_| Err(Error::new(Cause::Crash, "a measuring thread is gone")))?;
        let origin = blocks.first().map_or(Nanos(0), |block| block.start);
        let cycles = self.chains.add.cycles();
        let point = |block: &Block| (1e3 * block.start.since(origin).as_secs(), block.gigahertz(cycles));
        self.ramp = Ramp(blocks.iter().map(point).collect());
        self.tally.add(tally);
        Ok(())
    }

    /// Emits what the laps found, and tells of the worst interrupted one.
    fn tell(&self, cores: &str, laps: &[(u32, Lap)], out: &mut dyn Sink) -> Result<(), Error> {
        for (cpu, lap) in laps {
            for slice in &lap.slices {
                for (channel, block, chain) in
                    [("add", slice.add, &self.chains.add), ("check", slice.check, &self.chains.check)]
                {
                    let mut at = Params::default();
                    at.set("cores", cores);
                    at.set("cpu", u64::from(*cpu));
                    at.set("slice", slice.number);
                    let amount = Quantity::new(chain.cycles() as f64, Unit::Count)
                        .map_err(|error| Error::new(Cause::Protocol, error.to_string()))?;
                    out.sample(Sample {
                        channel: channel.to_owned(),
                        at,
                        start: block.start,
                        end: block.end,
                        amount,
                    });
                }
            }
        }
        let share = |lap: &Lap| 100.0 * lap.lost.as_secs() / lap.busy.as_secs().max(f64::MIN_POSITIVE);
        let worst = laps.iter().map(|(cpu, lap)| (*cpu, share(lap))).max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((cpu, percent)) = worst {
            out.evidence(&format!("interrupted_{cores}"), json!({ "worst_cpu": cpu, "percent": percent }));
        }
        Ok(())
    }
}

/// The chains of this architecture.
fn chains(scale: u64) -> Result<Chains, Error> {
    Chains::new(scale).ok_or_else(|| {
        let text = "no chain of known cycles is written for this architecture; x86-64 and aarch64 have one";
        Error::new(Cause::Missing, text)
    })
}

impl Part for Worker {
    fn prepare(&mut self) -> Result<Offer, Error> {
        let calibration = Calibration::measure();
        self.chains = chains(calibration.shortest_ns().div_ceil(USUAL_BLOCK_NS))?;
        self.calibration = Some(calibration);
        Ok(Offer::new(&self.place, serde_json::Value::Null))
    }

    fn connect(&mut self, _: &[Offer]) -> Result<(), Error> {
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        if phase == Phase::WarmUp {
            return self.come_up(stop);
        }
        let bindings = self.place.seats.clone();
        let whole = Nanos::from(stop.left());
        let mut settled = None;
        if self.alone {
            let span = if self.together { Nanos(whole.get() / 3) } else { whole };
            let laps = self.together(&bindings[..1], span, stop)?;
            settled = settled.or(self.clock_of(&laps));
            self.tell(ONE, &laps, out)?;
        }
        if self.together {
            let laps = self.together(&bindings, whole, stop)?;
            settled = settled.or(self.clock_of(&laps));
            self.tell(ALL, &laps, out)?;
        }
        if let Some(ramp) = settled.and_then(|clock| self.ramp.evidence(clock)) {
            out.evidence("ramp", ramp);
        }
        if let Some(Calibration { cost_ns, step_ns, .. }) = self.calibration {
            out.evidence("clock", json!({ "cost_ns": cost_ns, "step_ns": step_ns }));
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        let Tally { blocks, wrong, first } = &self.tally;
        Ok(match first {
            Some(first) => Integrity::Corrupt { wrong: *wrong, of: *blocks, first: first.clone() },
            None if *blocks == 0 => Integrity::Unverified { why: "no chain was run".to_owned() },
            None => Integrity::Verified { checked: blocks * size_of::<u64>() as u64 },
        })
    }
}

impl Worker {
    /// The clock of the first binding in GHz: the middle of its slices.
    fn clock_of(&self, laps: &[(u32, Lap)]) -> Option<f64> {
        let (_, lap) = laps.first()?;
        let cycles = self.chains.add.cycles();
        let clocks: Vec<f64> = lap.slices.iter().map(|slice| slice.add.gigahertz(cycles)).collect();
        seatrial_stats::Sorted::new(&clocks).ok().map(|clocks| clocks.median())
    }

    /// Makes a chain expect something else than it comes to.
    #[cfg(test)]
    pub fn spoil(&mut self) {
        self.chains.add = self.chains.add.clone().spoiled();
    }
}
