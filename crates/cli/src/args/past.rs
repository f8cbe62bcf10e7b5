//! `seatrial compare`, `history` and `report`: commands on stored runs.

use std::path::PathBuf;

use clap::Args;
use seatrial_model::{Quantity, Unit};

use super::{OutputArgs, TableOrJson};

/// Compare two or more runs.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// Runs: an id, the start of an id, `last`, `last~1`, or a run folder; the others are compared with the first
    #[arg(value_name = "RUN", num_args = 2.., required = true)]
    pub runs: Vec<String>,
    /// Differences proven smaller than this count as the same; with 0 only equal values do
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    pub same_within: f64,
    /// Exit with 1 when a metric is worse or a case newly fails; with 3 when a case could not be measured again or
    /// nothing could be compared
    #[arg(long)]
    pub fail_on_worse: bool,
    /// Write the comparison as one self-contained HTML page instead of printing it; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub html: Option<PathBuf>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
}

impl CompareArgs {
    /// The share below which differences count as the same.
    pub fn same_within(&self) -> Option<f64> {
        (self.same_within > 0.0).then_some(self.same_within / 100.0)
    }
}

/// List stored runs, and show the trend of a benchmark from run to run.
#[derive(Clone, Debug, Args)]
pub struct HistoryArgs {
    /// Only runs that measured this benchmark, with the trend of its metrics
    #[arg(value_name = "BENCH")]
    pub benchmark: Option<String>,
    /// Only the trend of this metric
    #[arg(long, value_name = "NAME", requires = "benchmark")]
    pub metric: Option<String>,
    /// Only the last COUNT runs
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub last: Option<u32>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
}

/// Show the results of a run.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// Run: an id, the start of an id, `last`, `last~1`, or a run folder
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Write the run as one self-contained HTML page instead of printing it; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub html: Option<PathBuf>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Parses a percentage from 0 to below 100: `2`, `2%`, `0.5 %`.
fn percent(typed: &str) -> Result<f64, String> {
    let quantity: Quantity = typed.parse().map_err(|error| format!("{error}"))?;
    if quantity.unit() != Unit::Count && quantity.unit() != Unit::Percent {
        return Err(format!("a percentage is a plain number, not one in {}", quantity.unit()));
    }
    let value = quantity.value();
    if (0.0..100.0).contains(&value) {
        Ok(value)
    } else {
        Err(format!("{value} % is not from 0 to below 100"))
    }
}
