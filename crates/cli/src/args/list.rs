//! `seatrial list`.

use clap::Args;

use super::{OutputArgs, TableOrJson};

/// Show benchmarks, patterns, settings and profiles, or explain one of them.
#[derive(Clone, Debug, Args)]
pub struct ListArgs {
    /// Benchmark, pattern, setting or profile to explain
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
}
