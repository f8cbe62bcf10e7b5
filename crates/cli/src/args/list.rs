//! `seatrial list`.

use clap::Args;

use super::ColorChoice;

/// Show benchmarks, patterns, settings and profiles, or explain one of them.
#[derive(Clone, Debug, Args)]
pub struct ListArgs {
    /// Benchmark, pattern, setting or profile to explain
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// When to use colour; auto follows NO_COLOR
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,
}
