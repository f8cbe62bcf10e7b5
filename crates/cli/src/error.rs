//! Errors of commands: what the user can mend, and defects of Seatrial.

use seatrial_cluster::LaunchError;
use seatrial_engine::{PlanError, RunError};
use seatrial_profile::Diagnostics;
use seatrial_store::StoreError;

use crate::exit::Exit;

#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Errors of a profile, rendered with positions and carets.
    #[error("{0}")]
    Profile(String),
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}: {1}")]
    Run(RunError, String),
    #[error("cannot write the result: {0}")]
    Output(#[from] std::io::Error),
    /// Any error after a run had begun.
    #[error(transparent)]
    Begun(Box<CliError>),
}

impl CliError {
    pub fn profile(found: &Diagnostics, color: bool) -> Self {
        Self::Profile(found.render(color))
    }

    /// The error of a run that had begun: something may have been measured, so it is not an error of usage.
    pub fn begun(self) -> Self {
        Self::Begun(Box::new(self))
    }

    pub fn exit(&self) -> Exit {
        match self {
            CliError::Usage(_)
            | CliError::Plan(_)
            | CliError::Profile(_)
            | CliError::Store(_)
            | CliError::Output(_) => Exit::USAGE,
            CliError::Launch(_) | CliError::Run(..) | CliError::Begun(_) => Exit::INCOMPLETE,
        }
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        let why = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        CliError::Run(error, why)
    }
}
