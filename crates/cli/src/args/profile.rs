//! `seatrial profile`.

use clap::{Args, Subcommand};

/// Make profiles from runs.
#[derive(Clone, Debug, Args)]
pub struct ProfileArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ProfileCommand,
}

/// What to do with profiles.
#[derive(Clone, Debug, Subcommand)]
pub enum ProfileCommand {
    /// Draft a profile from good runs: what they measured, bounded by the spread of their nodes
    Draft(DraftArgs),
}

/// Draft a profile from good runs: what they measured, bounded by the spread of their nodes. It is printed as TOML, with
/// what each bound was made of in comments.
#[derive(Clone, Debug, Args)]
pub struct DraftArgs {
    /// Runs that were good: an id, the start of one, `last`, `last~1`, or a run folder; the first says what is measured
    #[arg(value_name = "RUN", default_value = "last")]
    pub runs: Vec<String>,
    /// Bound every metric that has a good direction, and not only the first one of each benchmark
    #[arg(long)]
    pub all_metrics: bool,
}
