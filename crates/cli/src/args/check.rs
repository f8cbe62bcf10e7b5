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
    /// Options of measuring commands.
    #[command(flatten)]
    pub measure: MeasureArgs,
}
