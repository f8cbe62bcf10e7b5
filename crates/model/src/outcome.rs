//! How a case ended.

use serde::{Deserialize, Serialize};

use crate::{Actor, ParamError, Remedy};

/// How a case ended. Only `failed` speaks against the system under test.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The case ended with numbers.
    Measured,
    /// The system under test failed.
    Failed,
    /// Not measured, for a reason outside of the system under test.
    Unmeasured,
    /// Does not apply to this machine.
    Skipped,
}

macro_rules! causes {
    ($($variant:ident $outcome:ident $doc:literal;)*) => {
        /// Why a case has no numbers. Every cause has exactly one outcome.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Cause { $(#[doc = $doc] $variant,)* }

        impl Cause {
            /// Every cause, in the order of the docs.
            pub const ALL: &'static [Cause] = &[$(Cause::$variant),*];

            /// Outcome of the cause.
            pub const fn outcome(self) -> Outcome {
                match self { $(Cause::$variant => Outcome::$outcome),* }
            }
        }
    };
}

causes! {
    Hang Failed "A phase exceeded its time limit.";
    Crash Failed "The worker was killed by a signal or exited early.";
    IoError Failed "The system under test returned an error.";
    CorruptData Failed "The data read differs from the data written.";
    Vanished Failed "The node was lost during the case.";
    Denied Unmeasured "A privilege is missing.";
    Missing Unmeasured "A tool, library or device that should be there is not.";
    NeverReached Unmeasured "The node could not be reached.";
    PartnerLost Unmeasured "The partner node of the case was lost.";
    NoSpace Unmeasured "Not enough memory or storage for the test.";
    Launcher Unmeasured "The launcher could not start the worker.";
    Protocol Unmeasured "The worker sent something that is not a message.";
    Underloaded Unmeasured "The requested load could not be generated.";
    TooShort Unmeasured "The measurement was too short for the clock, or has too few values.";
    Contradiction Unmeasured "Parameters contradict each other; a usage error when typed.";
    NotTried Unmeasured "Left out, because a smaller load failed already and trying took too long.";
    Interrupted Unmeasured "The run was stopped before or during the case.";
    NoTime Skipped "Left out by a gate, which has less time than the case takes.";
    Inapplicable Skipped "Does not apply to this machine.";
}

impl Cause {
    /// What to do about a case of this cause on `nodes`, folded; `None` where only the reason of the case can tell.
    pub fn remedy(self, nodes: &str) -> Option<Remedy> {
        Some(match self {
            Cause::NeverReached => {
                Remedy::of(Actor::Administrator, format!("check power, network and sshd of {nodes}"))
            }
            Cause::Vanished => Remedy::of(
                Actor::Administrator,
                format!("check power, kernel log and network of {nodes} before using it again"),
            ),
            Cause::Hang | Cause::Crash | Cause::IoError | Cause::CorruptData => {
                Remedy::of(Actor::Root, format!("look at `journalctl -k` of {nodes}"))
            }
            Cause::Interrupted => Remedy::new(Actor::User, "resume the run, or measure again"),
            Cause::Launcher => Remedy::of(
                Actor::User,
                format!("start a command on {nodes} with the same launcher, and mend what it reports"),
            ),
            Cause::TooShort => Remedy::new(Actor::User, "measure longer: raise the parameter time"),
            _ => return None,
        })
    }
}

/// Why a case has no numbers, in one word and in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, thiserror::Error)]
#[error("{text}")]
pub struct Reason {
    /// The cause in one word, which decides the outcome.
    pub cause: Cause,
    /// The sentence: what was tried, on what, what the system answered, what to do.
    pub text: String,
}

impl Reason {
    /// A reason with a sentence that names subject and next step.
    pub fn new(cause: Cause, text: impl Into<String>) -> Self {
        Self { cause, text: text.into() }
    }
}

impl From<ParamError> for Reason {
    /// The plan resolves every parameter, so a missing one means that controller and worker disagree.
    fn from(error: ParamError) -> Self {
        Self::new(Cause::Protocol, error.to_string())
    }
}
