//! How long each phase of a trial may take before it counts as hung.

use seatrial_model::{Budget, Nanos, Phase};

/// Time allowed beside what a phase is meant to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// For a phase that runs for a set time: start, the last look at `stop`, the last samples.
    pub grace: Nanos,
    /// For reaching the peers.
    pub connect: Nanos,
    /// For a killed worker to be reported gone or abandoned; longer than the agent's own patience.
    pub kill: Nanos,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { grace: Nanos::secs(10), connect: Nanos::secs(15), kill: Nanos::secs(10) }
    }
}

impl Deadlines {
    /// The time that `phase` may take.
    pub const fn of(&self, phase: Phase, budget: &Budget) -> Nanos {
        match phase {
            Phase::Prepare | Phase::Verify => budget.prepare,
            Phase::Connect => self.connect,
            Phase::WarmUp => budget.warm_up.plus(self.grace),
            Phase::Measure => budget.measure.plus(self.grace),
        }
    }
}
