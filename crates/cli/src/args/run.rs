//! `seatrial run`, and the options that it shares with `check`.

use std::path::PathBuf;

use clap::Args;
use seatrial_model::record::{BenchmarkOptions, RunOptions};

use super::OutputArgs;

/// Options of measuring commands.
#[derive(Clone, Debug, Args)]
pub struct MeasureArgs {
    /// Print cases, duration and disturbed resources, and measure nothing
    #[arg(long, conflicts_with = "resume")]
    pub plan: bool,
    /// Resume an interrupted run on its nodes and with its options, and measure only cases without a result. Options
    /// that say how to reach the nodes may be given again
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last")]
    pub resume: Option<String>,
    /// Print all tables and findings instead of the first screen
    #[arg(long)]
    pub details: bool,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Options that the record stores.
    #[command(flatten)]
    pub options: RunOptions,
    /// Use the simulated nodes and exact numbers of this script
    #[arg(long, hide = true, value_name = "FILE")]
    pub script: Option<PathBuf>,
}

/// Measure without judging.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// Values of a parameter; several values make a sweep: -p kernel=copy,triad
    #[arg(short, long = "param", value_name = "NAME=V1,V2", conflicts_with = "resume")]
    pub params: Vec<String>,
    /// What to measure.
    #[command(flatten)]
    pub bench: BenchmarkOptions,
    /// Options of measuring commands.
    #[command(flatten)]
    pub measure: MeasureArgs,
}
