//! How long each phase of a trial may take before it counts as hung.

use seatrial_model::{Budget, Nanos, Phase};

/// Time allowed beyond the planned time of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// For a phase of a set duration: start, the last check of `stop`, the last samples.
    pub grace: Nanos,
    /// For a killed worker to be reported gone or abandoned; longer than the agent's own timeout.
    pub kill: Nanos,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { grace: Nanos::secs(10), kill: Nanos::secs(10) }
    }
}

impl Deadlines {
    pub const fn of(&self, phase: Phase, budget: &Budget) -> Nanos {
        match phase {
            Phase::Prepare | Phase::Verify => budget.prepare,
            Phase::Connect => budget.connect,
            Phase::WarmUp => budget.warm_up.plus(self.grace),
            Phase::Measure => budget.measure.plus(self.grace),
        }
    }
}
