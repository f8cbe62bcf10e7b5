//! The part that all benchmarks of GPUs share: it makes a workload, warms it up until it is steady, and goes round for
//! as long as the phase lasts, while the GPUs' own counters are watched.

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

/// Time that a warm-up gets beside its own, at most, to become steady.
const LONGER: Duration = Duration::from_secs(3);

/// What a benchmark made ready, and goes round on.
pub trait GpuWorkload: Send {
    /// Everything that is measured once. Samples go to `out`, where there is one; then `stop` ends the round early.
    /// Gives the sum of all rates, in any unit, so that rounds can be compared.
    fn round(
        &mut self,
        stop: &Stop,
        out: Option<&mut dyn Sink>,
        watches: &mut Watches<'_>,
    ) -> Result<f64, Reason>;

    /// How many rounds a phase has, whatever time they take; `None` for as many as fit into it.
    fn rounds(&self, _: Phase) -> Option<u64> {
        None
    }

    /// Overwrites what the warm-up wrote to the host.
    fn forget(&mut self) -> Result<(), Reason> {
        Ok(())
    }

    /// What it says for the record.
    fn evidence(&self, out: &mut dyn Sink);

    /// What the checks found.
    fn verify(&mut self) -> Result<Integrity, Reason>;
}

/// The part of `case` at `place` on the workload that `ready` makes, with the driver at `library` or the system's.
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

/// The worker of one trial.
struct Worker<W> {
    addresses: Vec<String>,
    // The workload goes first: memory before the driver it came from.
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
        // Also of a phase that failed: what the GPU says then may be why.
        out.evidence(GpuReadings::NAME, json!(watches.end()));
        out.evidence("warm_up", self.warm_up.clone());
        workload.evidence(out);
        outcome.map(|_| ())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        self.workload.verify()
    }
}

/// Goes round until clocks and rates are steady and the time is over, or for as many rounds as the workload wants.
fn warm_up(workload: &mut dyn GpuWorkload, stop: &Stop, watches: &mut Watches<'_>) -> Result<Value, Reason> {
    let deadline = Stop::after(stop.left() + LONGER);
    let fixed = workload.rounds(Phase::WarmUp);
    let mut steady = Steady::default();
    for rounds in 1.. {
        let rate = workload.round(stop, None, watches)?;
        steady.note(rate, watches.clocks());
        let over = match fixed {
            Some(count) => rounds >= count,
            // A second round at least, so that a slice has as many copies as fill its time.
            None => rounds > 1 && stop.is_over() && (steady.is_reached() || deadline.is_over()),
        };
        if over {
            break;
        }
    }
    Ok(match fixed {
        // Nobody asked whether it is steady.
        Some(count) => serde_json::json!({ "rounds": count }),
        None => steady.evidence(),
    })
}
