//! `seatrial run`, and what it shares with `check`.

use std::path::PathBuf;

use clap::Args;

use super::{NodeArgs, OutputArgs};

/// What measuring commands share.
#[derive(Clone, Debug, Args)]
pub struct MeasureArgs {
    /// Print the cases, the time and what is disturbed, and run nothing
    #[arg(long, conflicts_with = "resume")]
    pub plan: bool,
    /// Continue an interrupted run: only the cases without a result are measured
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last")]
    pub resume: Option<String>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Where it runs.
    #[command(flatten)]
    pub nodes: NodeArgs,
    /// Play a script instead of measuring: simulated nodes with exact numbers
    #[arg(long, hide = true, value_name = "FILE")]
    pub script: Option<PathBuf>,
}

/// Measure without judging.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// Benchmarks, for example mem.bandwidth; `seatrial list` shows all
    #[arg(value_name = "BENCH", required_unless_present = "resume", conflicts_with = "resume")]
    pub benchmarks: Vec<String>,
    /// Give a parameter a value, or several for a sweep: -p kernel=copy,triad
    #[arg(short, long = "param", value_name = "NAME=V1,V2", conflicts_with = "resume")]
    pub params: Vec<String>,
    /// How nodes are paired for benchmarks of two parts: pair (default), ring, all-pairs, matchings, and at the same time
    /// bisection, incast, trunk
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    pub pattern: Option<String>,
    /// Rounds of random pairs of the pattern matchings [default: 3]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "resume")]
    pub rounds: Option<u32>,
    /// How many links there are between the two groups of the pattern trunk, so that a missing one is found
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1024), conflicts_with = "resume")]
    pub links: Option<u32>,
    /// What measuring commands share.
    #[command(flatten)]
    pub measure: MeasureArgs,
}
