//! Why a copy as a whole ended.

use std::io;

use seatrial_model::Reason;

/// A copy that did not come to its end. What is complete in the target stays, and the next copy continues.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The sources or the target do not fit.
    #[error("{0}")]
    Refused(String),
    /// The receiver cannot be reached.
    #[error("the data connections to the target: {}", .0.text)]
    Connect(Reason),
    /// A connection failed.
    #[error("{doing}: {source}")]
    Stream { doing: &'static str, source: io::Error },
    /// The caller asked for the end.
    #[error("stopped")]
    Stopped,
}

impl CopyError {
    /// For `map_err`.
    pub fn stream(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Stream { doing, source }
    }
}
