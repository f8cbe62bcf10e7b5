//! The part of all GPU benchmarks: makes a workload, warms it up until it is steady, and repeats rounds during the
//! phase, while the GPUs' counters are watched.

use std::path::{Path, PathBuf};
use std::time::Duration;

use seatrial_model::{Case, Fact, Integrity, PartPlacement, Phase, Reason};
use seatrial_sys::gpu::nvml::Nvml;
use serde_json::{Value, json};

use super::steady::Steady;
use super::watch::GpuReadings;
use super::{Opened, Watches, address_of};
use seatrial_bench::pin;
use seatrial_bench::{Part, Running, Sink, Stop};

/// Most extra time for a warm-up to become steady.
const LONGER: Duration = Duration::from_secs(3);

/// A prepared benchmark, which runs in rounds.
pub trait GpuWorkload: Send {
    /// Measures everything once. With `out`, samples are emitted and `stop` ends the round early. Returns the sum of
    /// all rates in any unit, to compare rounds.
    fn round(
        &mut self,
        stop: &Stop,
        out: Option<&mut dyn Sink>,
        watches: &mut Watches<'_>,
    ) -> Result<f64, Reason>;

    /// Rounds of a phase; `None` for as many as fit into its time.
    fn rounds(&self, _: Phase) -> Option<u64> {
        None
    }

    fn forget(&mut self) -> Result<(), Reason> {
        Ok(())
    }

    fn evidence(&self, out: &mut dyn Sink);

    fn verify(&mut self) -> Result<Integrity, Reason>;
}

/// The part of `case` at `place` on the workload from `ready`, with the driver at `library` or the system's.
pub fn part<W: GpuWorkload + 'static>(
    case: &Case,
    place: &PartPlacement,
    library: Option<PathBuf>,
    ready: fn(&Case, &PartPlacement, Option<&Path>) -> Result<W, Reason>,
) -> Part {
    Part::alone(case, place, move |case, place| {
        if let Some(binding) = place.bindings.first() {
            pin(binding.cpu)?;
        }
        let (addresses, nvml) = (address_of(case)?, Opened::nvml(library.as_deref()));
        Ok(Worker {
            addresses,
            workload: ready(case, place, library.as_deref())?,
            nvml,
            warm_up: Value::Null,
        })
    })
}

struct Worker<W> {
    addresses: Vec<String>,
    // Dropped first: memory before its driver.
    workload: W,
    nvml: Result<Nvml, String>,
    warm_up: Value,
}

impl<W: GpuWorkload> Running for Worker<W> {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let workload = &mut self.workload;
        let mut watches = Watches::begin(&self.nvml, &self.addresses);
        if phase == Phase::WarmUp {
            self.warm_up = warm_up(workload, stop, &mut watches)?;
            return workload.forget();
        }
        let fixed = workload.rounds(phase);
        let mut rounds = 0;
        let mut outcome = Ok(0.0);
        while outcome.is_ok() && fixed.map_or_else(|| !stop.is_over(), |count| rounds < count) {
            outcome = workload.round(stop, Some(&mut *out), &mut watches);
            rounds += 1;
        }
        // Emitted after a failed phase too: the counters may explain the failure.
        out.evidence(GpuReadings::NAME, json!(watches.end()));
        out.evidence("warm_up", self.warm_up.clone());
        workload.evidence(out);
        outcome.map(|_| ())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        self.workload.verify()
    }
}

/// Repeats rounds until clocks and rates are steady and the time is over, or for the workload's number of rounds.
fn warm_up(workload: &mut dyn GpuWorkload, stop: &Stop, watches: &mut Watches<'_>) -> Result<Value, Reason> {
    let deadline = Stop::after(stop.left() + LONGER);
    let fixed = workload.rounds(Phase::WarmUp);
    let mut steady = Steady::default();
    for rounds in 1.. {
        let rate = workload.round(stop, None, watches)?;
        steady.note(rate, watches.clocks());
        let over = match fixed {
            Some(count) => rounds >= count,
            // At least two rounds, so that slices have enough copies to fill their time.
            None => rounds > 1 && stop.is_over() && (steady.is_reached() || deadline.is_over()),
        };
        if over {
            break;
        }
    }
    Ok(match fixed {
        Some(count) => serde_json::json!({ "rounds": count }),
        None => steady.evidence(),
    })
}
