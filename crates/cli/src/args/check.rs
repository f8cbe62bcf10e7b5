//! `seatrial check`.

use clap::Args;
use seatrial_model::record::CheckOptions;

use super::MeasureArgs;

/// Measure what a profile demands and judge it.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// A shipped profile or a TOML file [default: host, what this machine can do against its own limits]
    #[arg(value_name = "PROFILE", conflicts_with = "resume")]
    pub profile: Option<String>,
    /// How it is judged.
    #[command(flatten)]
    pub check: CheckOptions,
    /// What measuring commands share.
    #[command(flatten)]
    pub measure: MeasureArgs,
}
