//! The part of all GPU benchmarks: makes a workload, warms it up until it is steady, and repeats rounds during the
//! phase, while the GPUs' counters are watched.

use std::path::{Path, PathBuf};
use std::time::Duration;

use seatrial_model::{Case, Fact, Integrity, PartPlacement, Phase, Reason};
use seatrial_sys::gpu::nvml::Nvml;
use serde_json::{Value, json};

use super::copy::{CopyCells, CopyRounds};
use super::steady::Steady;
use super::watch::GpuReadings;
use super::{Device, Watches, address_of};
use seatrial_bench::pin;
use seatrial_bench::{Part, Running, Sink, Stop};

/// Most extra time for a warm-up to become steady.
const LONGER: Duration = Duration::from_secs(3);

/// The part of `case` at `place` on the cells from `ready`, with the driver at `library` or the system's.
pub fn part<C: CopyCells + 'static>(
    case: &Case,
    place: &PartPlacement,
    library: Option<PathBuf>,
    ready: fn(&Case, &PartPlacement, Option<&Path>) -> Result<C, Reason>,
) -> Part {
    Part::alone(case, place, move |case, place| {
        place.cpu(0).map_or(Ok(()), pin)?;
        let (addresses, nvml) = (address_of(case)?, Device::nvml(library.as_deref()));
        Ok(Worker {
            addresses,
            rounds: CopyRounds::new(ready(case, place, library.as_deref())?),
            nvml,
            warm_up: Value::Null,
        })
    })
}

struct Worker<C> {
    addresses: Vec<String>,
    // Dropped first: memory before its driver.
    rounds: CopyRounds<C>,
    nvml: Result<Nvml, String>,
    warm_up: Value,
}

impl<C: CopyCells> Running for Worker<C> {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let mut watches = Watches::begin(&self.nvml, &self.addresses);
        if phase == Phase::WarmUp {
            self.warm_up = warm_up(&mut self.rounds, stop, &mut watches)?;
            return self.rounds.cells.forget();
        }
        let fixed = self.rounds.cells.rounds(phase);
        let mut rounds = 0;
        let mut outcome = Ok(0.0);
        while outcome.is_ok() && fixed.map_or_else(|| !stop.is_over(), |count| rounds < count) {
            outcome = self.rounds.round(stop, Some(&mut *out), &mut watches);
            rounds += 1;
        }
        // Emitted after a failed phase too: the counters may explain the failure.
        out.evidence(GpuReadings::NAME, json!(watches.end()));
        out.evidence("warm_up", self.warm_up.clone());
        self.rounds.cells.evidence(out);
        outcome.map(|_| ())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let CopyRounds { cells, checks, .. } = &mut self.rounds;
        cells.verify(checks)?;
        Ok(checks.integrity())
    }
}

/// Repeats rounds until clocks and rates are steady and the time is over, or for the benchmark's number of rounds.
fn warm_up(
    rounds: &mut CopyRounds<impl CopyCells>,
    stop: &Stop,
    watches: &mut Watches<'_>,
) -> Result<Value, Reason> {
    let deadline = Stop::after(stop.left() + LONGER);
    let fixed = rounds.cells.rounds(Phase::WarmUp);
    let mut steady = Steady::default();
    for count in 1.. {
        let rate = rounds.round(stop, None, watches)?;
        steady.note(rate, watches.clocks());
        let over = match fixed {
            Some(wanted) => count >= wanted,
            // At least two rounds, so that slices have enough copies to fill their time.
            None => count > 1 && stop.is_over() && (steady.is_reached() || deadline.is_over()),
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
