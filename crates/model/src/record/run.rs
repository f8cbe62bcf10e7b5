//! The record of an invocation as a whole.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::RunOptions;
use crate::units::Nanos;

/// One run of `run` or `check`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RunInfo {
    /// Id and name of the run folder: the start time and a few random letters.
    pub id: String,
    /// Version of Seatrial that measured.
    pub seatrial: String,
    /// The command line as typed.
    pub command: Vec<String>,
    /// Options of the run, also those with which it was resumed; null in records of versions that did not store them.
    pub options: Option<RunOptions>,
    /// The profile judged against, if any.
    pub profile: Option<ProfileRef>,
    /// Names of the measured nodes.
    pub nodes: Vec<String>,
    /// Time at which the run started.
    #[schemars(with = "String")]
    pub started: Timestamp,
    /// Seconds in which a run that was stopped and resumed did not run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub paused_seconds: f64,
    /// When and how the run ended; null while it runs or when it was killed.
    pub ended: Option<RunEnd>,
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

impl RunInfo {
    /// Duration of the run without pauses; `None` while it runs, and when the clock was set back meanwhile.
    pub fn took(&self) -> Option<std::time::Duration> {
        let all = self.ended.as_ref()?.at.duration_since(self.started).as_secs_f64();
        std::time::Duration::try_from_secs_f64(all - self.paused_seconds).ok()
    }
}

/// The profile that a run was judged against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ProfileRef {
    /// Id of the profile.
    pub id: String,
    /// What the profile is for, in a few words.
    pub title: String,
    /// Path of the profile; null for a shipped profile.
    pub file: Option<String>,
}

impl ProfileRef {
    /// The word after `check` that names this profile.
    pub fn typed(&self) -> &str {
        self.file.as_deref().unwrap_or(&self.id)
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RunEnd {
    /// Time at which the run ended.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// Exit code of the process.
    pub exit: u8,
    /// Name of the signal that stopped the run.
    pub signal: Option<String>,
    /// Planned and added time; null for a run that was stopped or resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<RunTime>,
}

/// How long a run was planned to take, and why it took longer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RunTime {
    /// The time that was planned before the first case started.
    pub planned: Nanos,
    /// Time beyond the plan on the node that was busy longest, by cause; the longest first.
    pub added: Vec<AddedTime>,
}

/// Time that one cause added to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AddedTime {
    /// Why the run took longer.
    pub cause: DelayCause,
    /// How much longer.
    pub time: Nanos,
    /// Number of trials or cases that were added; 0 where none was.
    #[serde(default)]
    pub count: u32,
}

/// Why a run took longer than planned.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum DelayCause {
    /// Trials were repeated because other processes disturbed them.
    Repeats,
    /// Trials were added because the interval was wider than `precision`.
    Precision,
    /// Cases were added: retests, and the search for the highest load.
    Cases,
    /// Trials took longer to start, prepare, connect, verify and end.
    Preparing,
    /// Trials went on after the measuring time, to complete what was begun.
    Measuring,
    /// No case ran: agents started, and results were written.
    BetweenCases,
}
