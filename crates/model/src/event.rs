//! What happens during a run, in one stream: progress, journal and report all consume it.

use serde::{Deserialize, Serialize};

use crate::case::{Case, CaseId};
use crate::record::CaseRecord;
use crate::sample::PartRecord;
use crate::units::Nanos;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// A round of cases is about to run.
    RoundPlanned {
        /// The cases of the round, in their order.
        cases: Vec<Case>,
        /// The estimated time of all of them.
        estimate: Nanos,
    },
    /// A case's first worker is about to start.
    CaseStarted {
        /// Id of the case that started.
        case: CaseId,
    },
    /// A trial entered a phase.
    PhaseEntered {
        /// Id of the case whose phase began.
        case: CaseId,
        /// Which trial, from 0.
        trial: u32,
        /// The phase that began.
        phase: Phase,
    },
    /// A trial ended with records of its parts.
    TrialEnded {
        /// Id of the case whose trial ended.
        case: CaseId,
        /// Which trial, from 0.
        trial: u32,
        /// What the parts said.
        parts: Vec<PartRecord>,
    },
    /// Something a person should read now.
    Note {
        /// The case it is about.
        case: Option<CaseId>,
        /// The sentence that the person is told.
        text: String,
    },
    /// A case ended, with its record.
    CaseEnded {
        /// The record of the case that ended.
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
    /// Run, but the samples do not count.
    WarmUp,
    /// Run, and they do.
    Measure,
    /// Check the data, after the clock stopped.
    Verify,
}

impl Phase {
    /// What the worker is doing, for messages.
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
