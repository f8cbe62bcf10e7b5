//! Faults of a simulated worker.

use seatrial_model::{Phase, Reason};
use serde::{Deserialize, Serialize};

/// A fault, at the start of a phase. In a file, for example `{"hangs": {"phase": "measure"}}`; phases are `prepare`,
/// `connect`, `warm_up`, `measure`, `verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    NotStarted {
        why: String,
    },
    /// The part reports a failure, and the worker exits.
    Fails {
        phase: Phase,
        reason: Reason,
    },
    /// A signal kills the worker.
    Crashes {
        phase: Phase,
        signal: i32,
    },
    /// The worker exits without a message.
    Exits {
        phase: Phase,
        code: i32,
    },
    /// The worker never answers; SIGTERM ends it.
    Hangs {
        phase: Phase,
    },
    /// The worker never answers and no signal ends it: uninterruptible sleep.
    Sticks {
        phase: Phase,
    },
    /// The worker sends something that is not a message.
    Garbles {
        phase: Phase,
    },
    AgentLost {
        phase: Phase,
        why: String,
    },
    JobEnded {
        phase: Phase,
        why: String,
    },
}

impl Fault {
    /// Phase of the fault; `None` when the worker does not start.
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
