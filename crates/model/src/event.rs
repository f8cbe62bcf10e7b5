//! Events of a run, read by progress, journal and report.

use serde::{Deserialize, Serialize};

use crate::case::{Case, CaseId};
use crate::record::CaseRecord;
use crate::sample::PartRecord;
use crate::units::Nanos;

/// One event of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// A round of cases is about to run.
    RoundPlanned {
        /// The cases of the round, in order.
        cases: Vec<Case>,
        /// Estimated time of the round.
        estimate: Nanos,
    },
    /// The first worker of a case is about to start.
    CaseStarted {
        /// Id of the case.
        case: CaseId,
    },
    /// A trial entered a phase.
    PhaseEntered {
        /// Id of the case.
        case: CaseId,
        /// Index of the trial, from 0.
        trial: u32,
        /// The phase.
        phase: Phase,
    },
    /// A trial ended; all parts sent their records.
    TrialEnded {
        /// Id of the case.
        case: CaseId,
        /// Index of the trial, from 0.
        trial: u32,
        /// Records of the parts.
        parts: Vec<PartRecord>,
    },
    /// A message for the user.
    Note {
        /// The case that the message is about.
        case: Option<CaseId>,
        /// Text of the message.
        text: String,
    },
    /// A case ended, with its record.
    CaseEnded {
        /// Record of the case.
        record: Box<CaseRecord>,
    },
}

/// The phases of a trial, in order.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Parts allocate memory, pin threads and listen.
    Prepare,
    /// Parts connect to their peers.
    Connect,
    /// Parts run; samples do not count.
    WarmUp,
    /// Parts run; samples count.
    Measure,
    /// Parts verify the data, after the clock stopped.
    Verify,
}

impl Phase {
    /// Name of the phase, for messages.
    pub const fn word(self) -> &'static str {
        match self {
            Phase::Prepare => "prepare",
            Phase::Connect => "connect",
            Phase::WarmUp => "warm-up",
            Phase::Measure => "measure",
            Phase::Verify => "verify",
        }
    }
}
