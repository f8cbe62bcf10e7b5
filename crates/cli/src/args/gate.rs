//! `seatrial gate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seatrial_model::Nanos;

/// Say in one line and within seconds whether this node may take jobs: settings, errors that the kernel counted, and
/// benchmarks as far as they fit into the time. Exit code 0: pass, 1: fail, 3: unknown. Nothing is kept, and neither the
/// network nor the scheduler is used.
#[derive(Clone, Debug, Args)]
pub struct GateArgs {
    /// Name of a shipped profile, or a TOML file
    #[arg(value_name = "PROFILE", default_value = "gate")]
    pub profile: String,
    /// Time until the line and the exit code; what then still runs is ended, and the result is unknown
    #[arg(long, value_name = "DURATION", default_value = "8s")]
    pub within: Nanos,
    /// Exit as if an unknown result were this one
    #[arg(long, value_enum, value_name = "RESULT")]
    pub unknown: Option<Unknown>,
    /// Keep the run beside other runs, for `seatrial report`
    #[arg(long)]
    pub keep: bool,
    /// Use the simulated nodes and exact numbers of this script
    #[arg(long, hide = true, value_name = "FILE")]
    pub script: Option<PathBuf>,
}

/// What an unknown result counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unknown {
    /// The node takes jobs
    Pass,
    /// The node takes none
    Fail,
}
