//! The worker: one core alone, then all cores at once.

use std::time::Duration;

use seatrial_model::{
    Binding, Case, Cause, Integrity, Nanos, PartPlacement, Phase, Quantity, Reason, Sample,
};
use seatrial_sys::clock::{Calibration, now_ns, sleep_until_ns};
use serde_json::{Value, json};

use super::chain::Chains;
use super::lap::{self, Block, Lap, Tally};
use super::ramp::Ramp;
use seatrial_bench::{Gate, Running, Sink, Stop, ThreadSpec, ThreadTeam, evidence_of_clock, pin};

/// Values of the parameter `cores`, and of the samples' coordinate of the same name.
pub const ONE: &str = "one";
pub const ALL: &str = "all";

/// Evidence: the highest clock of each CPU in kHz, null where the kernel tells none.
pub const HIGHEST_CLOCK: &str = "highest_clock";

/// Time before the first slice, in which threads start and governor and turbo respond to the load.
const SETTLE: Nanos = Nanos::millis(50);

/// Idle time before the warm-up: several sampling periods of the governor.
const REST: Duration = Duration::from_millis(50);

/// Block length in nanoseconds; a clock of coarser resolution needs longer blocks.
const USUAL_BLOCK_NS: u64 = 250_000;

#[derive(Debug)]
pub struct Worker {
    bindings: Vec<Binding>,
    alone: bool,
    together: bool,
    chains: Chains,
    calibration: Calibration,
    ramp: Ramp,
    tally: Tally,
}

impl Worker {
    pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let cores = case.params.text("cores")?;
        if place.bindings.is_empty() {
            return Err(Reason::new(Cause::Protocol, "the case names no CPU to run on"));
        }
        let calibration = Calibration::measure();
        Ok(Self {
            bindings: place.bindings.clone(),
            alone: cores != ALL,
            together: cores != ONE,
            chains: chains(calibration.shortest_ns().div_ceil(USUAL_BLOCK_NS))?,
            calibration,
            ramp: Ramp::default(),
            tally: Tally::default(),
        })
    }

    fn together(
        &mut self,
        bindings: &[Binding],
        span: Nanos,
        stop: &Stop,
    ) -> Result<Vec<(u32, Lap)>, Reason> {
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

    /// Idles, then records how the clock of the first core rises.
    fn come_up(&mut self, stop: &Stop) -> Result<(), Reason> {
        let rested = Nanos(now_ns()).plus(REST.into());
        while !stop.is_over() && Nanos(now_ns()) < rested {
            sleep_until_ns((now_ns() + 5_000_000).min(rested.get()));
        }
        let (chains, cpu) = (&self.chains, self.bindings[0].cpu);
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
        let blocks = blocks
            .unwrap_or_else(|_| Err(Reason::new(Cause::Crash, "a measuring thread ended unexpectedly")))?;
        let origin = blocks.first().map_or(Nanos(0), |block| block.start);
        let cycles = self.chains.add.cycles();
        let point = |block: &Block| (1e3 * block.start.since(origin).as_secs(), block.gigahertz(cycles));
        self.ramp = Ramp(blocks.iter().map(point).collect());
        self.tally.add(tally);
        Ok(())
    }

    fn tell(&self, cores: &str, laps: &[(u32, Lap)], out: &mut dyn Sink) {
        for (cpu, lap) in laps {
            for slice in &lap.slices {
                for (channel, block, chain) in
                    [("add", slice.add, &self.chains.add), ("check", slice.check, &self.chains.check)]
                {
                    let cpu = u64::from(*cpu).into();
                    let at = [("cores", cores.into()), ("cpu", cpu), ("slice", slice.number.into())];
                    let span = (block.start, block.end);
                    out.sample(Sample::new(channel, at.into(), span, Quantity::count(chain.cycles())));
                }
            }
        }
        let share = |lap: &Lap| 100.0 * lap.lost.as_secs() / lap.busy.as_secs().max(f64::MIN_POSITIVE);
        let worst = laps.iter().map(|(cpu, lap)| (*cpu, share(lap))).max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((cpu, percent)) = worst {
            out.evidence(&format!("interrupted_{cores}"), json!({ "worst_cpu": cpu, "percent": percent }));
        }
        let told = laps.iter().map(|(cpu, _)| (cpu.to_string(), json!(highest_clock(*cpu))));
        out.evidence(HIGHEST_CLOCK, Value::Object(told.collect()));
    }
}

/// The highest clock of `cpu` in kHz, where the kernel tells it.
fn highest_clock(cpu: u32) -> Option<u64> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq");
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn chains(scale: u64) -> Result<Chains, Reason> {
    Chains::new(scale).ok_or_else(|| {
        let text = "cpu.clock supports only x86-64 and aarch64: no instruction chain of known cycles exists \
            for this architecture";
        Reason::new(Cause::Missing, text)
    })
}

impl Running for Worker {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::WarmUp {
            return self.come_up(stop);
        }
        let bindings = self.bindings.clone();
        let whole = Nanos::from(stop.left());
        let mut settled = None;
        if self.alone {
            let span = if self.together { Nanos(whole.get() / 3) } else { whole };
            let laps = self.together(&bindings[..1], span, stop)?;
            settled = settled.or(self.clock_of(&laps));
            self.tell(ONE, &laps, out);
        }
        if self.together {
            let laps = self.together(&bindings, whole, stop)?;
            settled = settled.or(self.clock_of(&laps));
            self.tell(ALL, &laps, out);
        }
        if let Some(ramp) = settled.and_then(|clock| self.ramp.evidence(clock)) {
            out.evidence("ramp", ramp);
        }
        out.evidence("clock", evidence_of_clock(&self.calibration));
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let Tally { blocks, wrong, first } = &self.tally;
        Ok(match first {
            Some(first) => Integrity::Corrupt { wrong: *wrong, of: *blocks, first: first.clone() },
            None if *blocks == 0 => Integrity::Unverified { why: "no chain was run".to_owned() },
            None => Integrity::Verified { checked: blocks * size_of::<u64>() as u64 },
        })
    }
}

impl Worker {
    /// Clock of the first binding in GHz: the median of its slices.
    fn clock_of(&self, laps: &[(u32, Lap)]) -> Option<f64> {
        let (_, lap) = laps.first()?;
        let cycles = self.chains.add.cycles();
        let clocks: Vec<f64> = lap.slices.iter().map(|slice| slice.add.gigahertz(cycles)).collect();
        seatrial_stats::median(&clocks)
    }

    #[cfg(test)]
    pub fn spoil(&mut self) {
        self.chains.add = self.chains.add.clone().spoiled();
    }
}
