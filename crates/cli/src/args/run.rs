//! `seatrial run`, and what it shares with `check`.

use std::path::PathBuf;

use clap::Args;
use seatrial_model::record::{BenchmarkOptions, RunOptions};

use super::OutputArgs;

/// What measuring commands share.
#[derive(Clone, Debug, Args)]
pub struct MeasureArgs {
    /// Print the cases, the time and what is disturbed, and run nothing
    #[arg(long, conflicts_with = "resume")]
    pub plan: bool,
    /// Continue an interrupted run on its nodes and with its options: only the cases without a result are measured. How
    /// its nodes are reached may be said anew, each option by itself
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last")]
    pub resume: Option<String>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs,
    /// What is kept in the record.
    #[command(flatten)]
    pub options: RunOptions,
    /// Play a script instead of measuring: simulated nodes with exact numbers
    #[arg(long, hide = true, value_name = "FILE")]
    pub script: Option<PathBuf>,
}

/// Measure without judging.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// Give a parameter a value, or several for a sweep: -p kernel=copy,triad
    #[arg(short, long = "param", value_name = "NAME=V1,V2", conflicts_with = "resume")]
    pub params: Vec<String>,
    /// What is measured.
    #[command(flatten)]
    pub bench: BenchmarkOptions,
    /// What measuring commands share.
    #[command(flatten)]
    pub measure: MeasureArgs,
}
