//! What may go wrong with a simulated worker.

use seatrial_model::{Phase, Reason};
use serde::{Deserialize, Serialize};

/// A fault and the phase in which it strikes, at the phase's start. In a file, for example
/// `{"hangs": {"phase": "measure"}}`; phases are `prepare`, `connect`, `warm_up`, `measure`, `verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// The worker cannot be started.
    NotStarted {
        /// What was tried and what the system answered.
        why: String,
    },
    /// The part says that it cannot go on, and the worker exits.
    Fails { phase: Phase, reason: Reason },
    /// A signal ends the worker.
    Crashes {
        phase: Phase,
        /// Which, for example 11.
        signal: i32,
    },
    /// The worker exits without a word.
    Exits { phase: Phase, code: i32 },
    /// The worker never answers; SIGTERM ends it.
    Hangs { phase: Phase },
    /// The worker never answers and no signal ends it: uninterruptible sleep.
    Sticks { phase: Phase },
    /// The worker says something that is not a message.
    Garbles { phase: Phase },
    /// The whole node goes away.
    AgentLost {
        phase: Phase,
        /// What is known about it.
        why: String,
    },
    /// The job that holds all nodes is ended.
    JobEnded {
        phase: Phase,
        /// What the launcher says.
        why: String,
    },
}

impl Fault {
    /// The phase it strikes in; none when the worker does not even start.
    pub const fn phase(&self) -> Option<Phase> {
        match self {
            Self::NotStarted { .. } => None,
            Self::Fails { phase, .. }
            | Self::Crashes { phase, .. }
            | Self::Exits { phase, .. }
            | Self::Hangs { phase }
            | Self::Sticks { phase }
            | Self::Garbles { phase }
            | Self::AgentLost { phase, .. }
            | Self::JobEnded { phase, .. } => Some(*phase),
        }
    }
}
