//! `seatrial compare`, `history` and `report`: commands on runs of the past.

use clap::Args;

use super::OutputArgs;

/// Show two or more runs side by side.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// Runs: an id, the start of one, `last`, `last~1`, or a run folder; the first is what the others are held against
    #[arg(value_name = "RUN", num_args = 2.., required = true)]
    pub runs: Vec<String>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Show the runs so far.
#[derive(Clone, Debug, Args)]
pub struct HistoryArgs {
    /// Only runs that measured this benchmark
    #[arg(value_name = "BENCH")]
    pub benchmark: Option<String>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Show a run again.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// An id, the start of one, `last`, `last~1`, or a run folder
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs,
}
