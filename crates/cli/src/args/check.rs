//! `seatrial check`.

use clap::Args;
use seatrial_model::record::CheckOptions;

use super::MeasureArgs;

/// Measure what a profile demands and judge it.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// Name of a shipped profile, or a TOML file [default: host, which compares this machine with its own limits]
    #[arg(value_name = "PROFILE", conflicts_with = "resume")]
    pub profile: Option<String>,
    /// How results are judged.
    #[command(flatten)]
    pub check: CheckOptions,
    /// Print the tables of the document that the profile was made from, each cell beside the result and their ratio
    #[arg(long, conflicts_with_all = ["details", "output", "plan"])]
    pub source_tables: bool,
    /// Options of measuring commands.
    #[command(flatten)]
    pub measure: MeasureArgs,
}
