//! The worker, which an agent starts.

use clap::Args;

/// Run one part of a case.
#[derive(Clone, Debug, Args)]
pub struct WorkerArgs {
    /// Inherited file descriptor of the socket to the supervisor
    #[arg(long, value_name = "FD")]
    pub fd: i32,
}
