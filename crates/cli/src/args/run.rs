//! `seatrial run`, and what it shares with `check`.

use std::path::PathBuf;

use clap::Args;
use seatrial_model::Nanos;

use super::{NodeArgs, OutputArgs};

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
    /// Time that the run is to take on each node, for example 90s: repeats of disturbed trials and trials for a narrower interval
    /// stay within it, and what nothing judges makes fewer trials when the plan alone does not fit [default: the profile's
    /// time_budget, if it has one]
    #[arg(long, value_name = "DURATION", conflicts_with = "resume")]
    pub time_budget: Option<Nanos>,
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
    /// Benchmarks, for example mem.bandwidth or net.trunk; `seatrial list` shows all
    #[arg(value_name = "BENCH", required_unless_present = "resume", conflicts_with = "resume")]
    pub benchmarks: Vec<String>,
    /// Give a parameter a value, or several for a sweep: -p kernel=copy,triad
    #[arg(short, long = "param", value_name = "NAME=V1,V2", conflicts_with = "resume")]
    pub params: Vec<String>,
    /// How nodes are paired for benchmarks of two parts: pair (default), ring, all-pairs, matchings, alone (each node
    /// with itself, over its loopback), and at the same time bisection, incast, trunk
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    pub pattern: Option<String>,
    /// Rounds of random pairs of the pattern matchings [default: 3]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "resume")]
    pub rounds: Option<u32>,
    /// How many links there are between the two groups of the pattern trunk, so that a missing one is found
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1024), conflicts_with = "resume")]
    pub links: Option<u32>,
    /// Measure what each of these is worth: a baseline, and in turn the same without one of them. NAME alone takes the least
    /// load, the other side of a switch, each other word, or what the benchmark declares: --factors flows,affinity=none
    #[arg(long, value_name = "NAME[=VALUE],...", value_delimiter = ',', conflicts_with = "resume")]
    pub factors: Vec<String>,
    /// How often a study of factors measures all of it; from 3 on there is an interval [default: 6]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000), requires = "factors")]
    pub repeats: Option<u32>,
    /// What the order of a study of factors is drawn from [default: 1]
    #[arg(long, value_name = "NUMBER", requires = "factors")]
    pub seed: Option<u64>,
    /// What measuring commands share.
    #[command(flatten)]
    pub measure: MeasureArgs,
}
