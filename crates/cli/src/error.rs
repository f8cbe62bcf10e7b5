//! Two sorts of errors: what the user can mend, and defects of Seatrial.

use seatrial_cluster::LaunchError;
use seatrial_engine::{PlanError, RunError};
use seatrial_profile::Diagnostics;
use seatrial_store::StoreError;

use crate::exit::Exit;

/// Why a command ended without its result.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error("{0}")]
    Usage(String),
    /// A request that makes no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A profile with errors; already rendered with places and carets.
    #[error("{0}")]
    Profile(String),
    /// No agent came up.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The run folder cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run had to stop.
    #[error("{0}: {1}")]
    Run(RunError, String),
    /// The result could not be printed.
    #[error("cannot write the result: {0}")]
    Output(#[from] std::io::Error),
    /// Any of them once a run had begun.
    #[error(transparent)]
    Begun(Box<CliError>),
}

impl CliError {
    /// The profile's errors as a person sees them.
    pub fn profile(found: &Diagnostics, color: bool) -> Self {
        Self::Profile(found.render(color))
    }

    /// The error of a run that had begun: something may have been measured, so that it does not count as one of usage.
    pub fn begun(self) -> Self {
        Self::Begun(Box::new(self))
    }

    /// How the process ends.
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
