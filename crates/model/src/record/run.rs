//! The record of an invocation as a whole.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::RunOptions;

/// One invocation of `run` or `check`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RunInfo {
    /// Names the run folder: the start time and a few random letters.
    pub id: String,
    /// Version of Seatrial that measured.
    pub seatrial: String,
    /// The command as typed.
    pub command: Vec<String>,
    /// The options that it was given or went on with; null in the records of versions that did not keep them.
    pub options: Option<RunOptions>,
    /// The profile judged against, if any.
    pub profile: Option<ProfileRef>,
    /// Names of the nodes that were measured.
    pub nodes: Vec<String>,
    /// Time at which the run started.
    #[schemars(with = "String")]
    pub started: Timestamp,
    /// Seconds between parts of a run that was stopped and gone on with, in which nothing ran.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub paused_seconds: f64,
    /// When and how it ended; null while it runs or when it was killed.
    pub ended: Option<RunEnd>,
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

impl RunInfo {
    /// How long it ran, without the time between its parts; none while it runs, and when the clock was set back meanwhile.
    pub fn took(&self) -> Option<std::time::Duration> {
        let all = self.ended.as_ref()?.at.duration_since(self.started).as_secs_f64();
        std::time::Duration::try_from_secs_f64(all - self.paused_seconds).ok()
    }
}

/// Which profile a run was judged against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ProfileRef {
    /// Id of the profile, as typed after `check`.
    pub id: String,
    /// What the profile is for, in a few words.
    pub title: String,
    /// The file, when it is not a shipped one.
    pub file: Option<String>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RunEnd {
    /// Time at which the run ended.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// Exit code of the process.
    pub exit: u8,
    /// The signal that ended it early, by name.
    pub signal: Option<String>,
}
