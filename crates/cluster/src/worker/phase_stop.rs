//! Connects the `Stop` of a supervisor with the phase it is meant for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use seatrial_bench::Stop;

/// Shared by the thread that reads `Stop` and the thread that runs the phase. A phase starts some time after its
/// order, since probes are read in between; a `Stop` in that time is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct PhaseStop(Arc<Mutex<State>>);

#[derive(Debug, Default)]
enum State {
    #[default]
    Ordered,
    Stopped,
    Running(Stop),
}

impl PhaseStop {
    /// A new phase is ordered: forgets any `Stop` for the phase before.
    pub(super) fn order(&self) {
        *self.state() = State::Ordered;
    }

    /// Stops the phase that runs or was ordered.
    pub(super) fn stop(&self) {
        let mut state = self.state();
        match &*state {
            State::Running(stop) => stop.raise(),
            State::Ordered | State::Stopped => *state = State::Stopped,
        }
    }

    /// The phase starts now and takes `span` at most.
    pub(super) fn start(&self, span: Duration) -> Stop {
        let mut state = self.state();
        let stop = Stop::after(span);
        if matches!(*state, State::Stopped) {
            stop.raise();
        }
        *state = State::Running(stop.clone());
        stop
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn stops_the_phase_that_runs() {
        let phase_stop = PhaseStop::default();
        let stop = phase_stop.start(LONG);
        assert!(!stop.is_over());
        phase_stop.stop();
        assert!(stop.is_over());
    }

    #[test]
    fn stops_a_phase_that_is_about_to_run() {
        let phase_stop = PhaseStop::default();
        phase_stop.order();
        phase_stop.stop();
        assert!(phase_stop.start(LONG).is_over());
    }

    #[test]
    fn a_late_stop_does_not_reach_the_next_phase() {
        let phase_stop = PhaseStop::default();
        phase_stop.start(LONG);
        phase_stop.stop();
        phase_stop.order();
        assert!(!phase_stop.start(LONG).is_over());
        phase_stop.stop();
        phase_stop.stop();
        phase_stop.order();
        assert!(!phase_stop.start(LONG).is_over());
    }
}
