//! The part that all benchmarks of GPUs share: it makes a workload, warms it up until it is steady, and goes round for
//! as long as the phase lasts, while the GPUs' own counters are watched.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use seatrial_model::{Case, Cause, Integrity, PartPlacement, Phase};
use seatrial_sys::gpu::nvml::Nvml;
use serde_json::Value;

use super::steady::Steady;
use super::{Opened, Watches, address_of};
use seatrial_bench::pin;
use seatrial_bench::{Error, Offer, Part, Sink, Stop};

/// Time that a warm-up gets beside its own, at most, to become steady.
const LONGER: Duration = Duration::from_secs(3);

/// What a benchmark made ready, and goes round on.
pub trait GpuWorkload: Send {
    /// Everything that is measured once. Samples go to `out`, where there is one; then `stop` ends the round early.
    /// Gives the sum of all rates, in any unit, so that rounds can be compared.
    ///
    /// # Errors
    /// When the driver refuses, and no other GPU is there to go on with.
    fn round(
        &mut self,
        stop: &Stop,
        out: Option<&mut dyn Sink>,
        watches: &mut Watches<'_>,
    ) -> Result<f64, Error>;

    /// How many rounds a phase has, whatever time they take; `None` for as many as fit into it.
    fn rounds(&self, _: Phase) -> Option<u64> {
        None
    }

    /// Overwrites what the warm-up wrote to the host.
    ///
    /// # Errors
    /// When a stream still uses the memory.
    fn forget(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// What it says for the record.
    fn evidence(&self, out: &mut dyn Sink);

    /// What the checks found.
    ///
    /// # Errors
    /// When a stream still uses memory that is to be looked at.
    fn verify(&mut self) -> Result<Integrity, Error>;
}

/// Makes the workload, with the system's driver or the one at a path.
type Make = dyn Fn(Option<&Path>) -> Result<Box<dyn GpuWorkload>, Error> + Send;

/// The worker of one trial.
pub struct Worker {
    place: PartPlacement,
    addresses: Vec<String>,
    make: Box<Make>,
    library: Option<PathBuf>,
    // The workload goes first: memory before the driver it came from.
    workload: Option<Box<dyn GpuWorkload>>,
    nvml: Result<Nvml, String>,
    warm_up: Value,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

impl Worker {
    /// The worker of `case` at `place`; opens nothing yet.
    ///
    /// # Errors
    /// When the case names no GPU.
    pub fn new(
        case: &Case,
        place: &PartPlacement,
        make: impl Fn(Option<&Path>) -> Result<Box<dyn GpuWorkload>, Error> + Send + 'static,
    ) -> Result<Self, Error> {
        Ok(Self {
            place: place.clone(),
            addresses: address_of(case)?,
            make: Box::new(make),
            library: None,
            workload: None,
            nvml: Err("not looked for".to_owned()),
            warm_up: Value::Null,
        })
    }

    /// The same with the driver at `library` instead of the system's.
    #[cfg(test)]
    pub fn with_driver(mut self, library: &Path) -> Self {
        self.library = Some(library.to_owned());
        self
    }
}

fn unprepared() -> Error {
    Error::new(Cause::Protocol, "told to run before it was told to prepare")
}

impl Part for Worker {
    fn prepare(&mut self) -> Result<Offer, Error> {
        if let Some(binding) = self.place.seats.first() {
            pin(binding.cpu)?;
        }
        self.nvml = Opened::nvml(self.library.as_deref());
        self.workload = Some((self.make)(self.library.as_deref())?);
        Ok(Offer::new(&self.place, Value::Null))
    }

    fn connect(&mut self, _: &[Offer]) -> Result<(), Error> {
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let workload = self.workload.as_mut().ok_or_else(unprepared)?;
        let mut watches = Watches::begin(&self.nvml, &self.addresses);
        if phase == Phase::WarmUp {
            self.warm_up = warm_up(&mut **workload, stop, &mut watches)?;
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
        out.evidence("watch", watches.end());
        out.evidence("warm_up", self.warm_up.clone());
        workload.evidence(out);
        outcome.map(|_| ())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        self.workload.as_mut().ok_or_else(unprepared)?.verify()
    }
}

/// Goes round until clocks and rates are steady and the time is over, or for as many rounds as the workload wants.
fn warm_up(workload: &mut dyn GpuWorkload, stop: &Stop, watches: &mut Watches<'_>) -> Result<Value, Error> {
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
