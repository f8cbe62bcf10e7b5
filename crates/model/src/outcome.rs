//! How a case ended.

use serde::{Deserialize, Serialize};

use crate::ParamError;

/// How a case ended. Only `failed` speaks against the system under test.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The case ended with numbers.
    Measured,
    /// The system under test did not deliver.
    Failed,
    /// We could not look.
    Unmeasured,
    /// It does not apply here.
    Skipped,
}

macro_rules! causes {
    ($($variant:ident $outcome:ident $doc:literal;)*) => {
        /// Why a case has no numbers. Every cause belongs to exactly one outcome.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Cause { $(#[doc = $doc] $variant,)* }

        impl Cause {
            /// Every cause, in the order of the documentation.
            pub const ALL: &'static [Cause] = &[$(Cause::$variant),*];

            /// The outcome it makes.
            pub const fn outcome(self) -> Outcome {
                match self { $(Cause::$variant => Outcome::$outcome),* }
            }
        }
    };
}

causes! {
    Hang Failed "A phase went past its deadline.";
    Crash Failed "The worker ended by a signal or before it was done.";
    IoError Failed "The system under test returned an error.";
    CorruptData Failed "The data was not what was written.";
    Vanished Failed "The node disappeared inside its own case.";
    Denied Unmeasured "A privilege is missing.";
    Missing Unmeasured "A tool, library or device that should be there is not.";
    NeverReached Unmeasured "The node could not be reached.";
    PartnerLost Unmeasured "The other side of the case is gone.";
    NoSpace Unmeasured "Memory or storage for the test is known to be lacking.";
    Launcher Unmeasured "The launcher could not start the worker.";
    Protocol Unmeasured "The worker said something that is not a message.";
    Underloaded Unmeasured "The load that was asked for could not be offered.";
    TooShort Unmeasured "Too short against the clock to be trusted, or too few values.";
    Contradiction Unmeasured "Parameters that cannot hold together; a usage error when typed.";
    NotTried Unmeasured "Left out, because less of the same failed already and trying took too long.";
    Interrupted Unmeasured "The run was stopped before or during the case.";
    Inapplicable Skipped "Does not apply to this machine.";
}

/// Why a case has no numbers, in one word and in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, thiserror::Error)]
#[error("{text}")]
pub struct Reason {
    /// The cause in one word, which decides the outcome.
    pub cause: Cause,
    /// The sentence: what was tried, on what, what the system answered, the next step.
    pub text: String,
}

impl Reason {
    /// A reason of this cause with a sentence that names subject and next step.
    pub fn new(cause: Cause, text: impl Into<String>) -> Self {
        Self { cause, text: text.into() }
    }
}

impl From<ParamError> for Reason {
    /// The plan resolves every parameter, so a missing one means that the two sides disagree.
    fn from(error: ParamError) -> Self {
        Self::new(Cause::Protocol, error.to_string())
    }
}
