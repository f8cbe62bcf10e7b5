//! The worker, which an agent starts.

use clap::Args;

/// Be one part of a case.
#[derive(Clone, Debug, Args)]
pub struct WorkerArgs {
    /// The inherited descriptor of the channel to the supervisor
    #[arg(long, value_name = "FD")]
    pub fd: i32,
}
