//! `seatrial check`.

use clap::Args;

use super::MeasureArgs;

/// Measure what a profile demands and judge it.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// A shipped profile or a TOML file [default: host, what this machine can do against its own limits]
    #[arg(value_name = "PROFILE", conflicts_with = "resume")]
    pub profile: Option<String>,
    /// Exit 1 on warnings too
    #[arg(long)]
    pub strict: bool,
    /// Give nodes a role of the profile: head=n1
    #[arg(long = "role", value_name = "ROLE=NODES", conflicts_with = "resume")]
    pub roles: Vec<String>,
    /// The run that criteria with `percent_of = "reference"` are held against: an id, the start of one, `last`, a folder
    #[arg(long, value_name = "RUN", conflicts_with = "resume")]
    pub reference: Option<String>,
    /// What measuring commands share.
    #[command(flatten)]
    pub measure: MeasureArgs,
}
