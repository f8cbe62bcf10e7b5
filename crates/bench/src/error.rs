//! Why a part could not go on, with the cause that the record will show.

use seatrial_model::{Cause, ParamError, Reason};

/// An error of a part: what was tried, what the system answered, the next step.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{text}")]
pub struct Error {
    /// Whether it speaks against the system under test or only says that we could not look.
    pub cause: Cause,
    /// What could not be done and why, as a sentence for the user.
    pub text: String,
}

impl Error {
    /// An error of `cause`.
    pub fn new(cause: Cause, text: impl Into<String>) -> Self {
        Self { cause, text: text.into() }
    }
}

impl From<Error> for Reason {
    fn from(error: Error) -> Self {
        Reason::new(error.cause, error.text)
    }
}

impl From<ParamError> for Error {
    /// The plan resolves every parameter, so a missing one means that the two sides disagree.
    fn from(error: ParamError) -> Self {
        Self::new(Cause::Protocol, error.to_string())
    }
}
