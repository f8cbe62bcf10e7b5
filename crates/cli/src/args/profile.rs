//! `seatrial profile`.

use clap::{Args, Subcommand};

/// Create profiles from runs.
#[derive(Clone, Debug, Args)]
pub struct ProfileArgs {
    /// Command.
    #[command(subcommand)]
    pub command: ProfileCommand,
}

/// Commands on profiles.
#[derive(Clone, Debug, Subcommand)]
pub enum ProfileCommand {
    /// Draft a profile from good runs, with the bounds that the spread of their nodes suggests
    Draft(DraftArgs),
}

/// Draft a profile from good runs, with the bounds that the spread of their nodes suggests. Prints TOML; comments
/// explain each bound.
#[derive(Clone, Debug, Args)]
pub struct DraftArgs {
    /// Good runs: an id, a unique start or end of an id, `last`, `last~1`, or a run folder; the first defines what is measured
    #[arg(value_name = "RUN", default_value = "last")]
    pub runs: Vec<String>,
    /// Bound every metric that has a good direction, not only the headline metric of each benchmark
    #[arg(long)]
    pub all_metrics: bool,
}
