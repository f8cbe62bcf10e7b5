//! `seatrial compare`, `history` and `report`: commands on runs of the past.

use std::path::PathBuf;

use clap::Args;
use seatrial_model::{Quantity, Unit};

use super::{OutputArgs, TableOrJson};

/// Show two or more runs side by side.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// Runs: an id, the start of one, `last`, `last~1`, or a run folder; the first is what the others are held against
    #[arg(value_name = "RUN", num_args = 2.., required = true)]
    pub runs: Vec<String>,
    /// Differences that are shown to be smaller than this count as the same; 0: only equal ones do
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    pub same_within: f64,
    /// Exit 1 when a metric is worse or a case fails that did not; 3 when one could not be measured again or nothing could
    /// be compared
    #[arg(long)]
    pub fail_on_worse: bool,
    /// Write the comparison as one HTML page that needs no network, instead of printing it; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub html: Option<PathBuf>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
}

impl CompareArgs {
    /// The share within which differences count as the same.
    pub fn same_within(&self) -> Option<f64> {
        (self.same_within > 0.0).then_some(self.same_within / 100.0)
    }
}

/// Show the runs so far, and with a benchmark how its numbers went from run to run.
#[derive(Clone, Debug, Args)]
pub struct HistoryArgs {
    /// Only runs that measured this benchmark, and the trend of its metrics
    #[arg(value_name = "BENCH")]
    pub benchmark: Option<String>,
    /// Only the trend of this metric
    #[arg(long, value_name = "NAME", requires = "benchmark")]
    pub metric: Option<String>,
    /// Only the last so many runs
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub last: Option<u32>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
}

/// Show a run again.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// An id, the start of one, `last`, `last~1`, or a run folder
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Write the run as one HTML page that needs no network, instead of printing it; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub html: Option<PathBuf>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A percentage from 0 to below 100: `2`, `2%`, `0.5 %`.
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
