//! `seatrial settings`.

use std::path::PathBuf;

use clap::Args;
use seatrial_model::record::NodeOptions;

use super::{OutputArgs, TableOrJson};

/// Show the settings of hosts that measurements depend on, and hold them against a profile. Nothing is changed.
#[derive(Clone, Debug, Args)]
pub struct SettingsArgs {
    /// A shipped profile or a TOML file to judge by [default: none, only what shipped profiles want is shown]
    #[arg(value_name = "PROFILE")]
    pub profile: Option<String>,
    /// Give nodes a role of the profile: head=n1
    #[arg(long = "role", value_name = "ROLE=NODES", requires = "profile")]
    pub roles: Vec<String>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
    /// Where it runs.
    #[command(flatten)]
    pub nodes: NodeOptions,
    /// Play a script instead of looking: simulated nodes
    #[arg(long, hide = true, value_name = "FILE")]
    pub script: Option<PathBuf>,
}
