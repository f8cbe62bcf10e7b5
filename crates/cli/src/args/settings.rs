//! `seatrial settings`.

use std::path::PathBuf;

use clap::Args;
use seatrial_model::record::NodeOptions;

use super::{OutputArgs, TableOrJson};

/// Show host settings that affect measurements, and compare them with a profile. Changes nothing.
#[derive(Clone, Debug, Args)]
pub struct SettingsArgs {
    /// Name of a shipped profile, or a TOML file [default: none; shows what shipped profiles require]
    #[arg(value_name = "PROFILE")]
    pub profile: Option<String>,
    /// Nodes that have a role of the profile: head=n1
    #[arg(long = "role", value_name = "ROLE=NODES", requires = "profile")]
    pub roles: Vec<String>,
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
    /// Which nodes to use.
    #[command(flatten)]
    pub nodes: NodeOptions,
    /// Use the simulated nodes of this script
    #[arg(long, hide = true, value_name = "FILE")]
    pub script: Option<PathBuf>,
}
