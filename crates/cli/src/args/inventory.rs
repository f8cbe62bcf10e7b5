//! `seatrial inventory`.

use std::path::PathBuf;

use clap::Args;
use seatrial_model::record::NodeOptions;

use super::{OutputArgs, TableOrJson};

/// Show what this machine, or each node, is, and the derived limit of every part.
#[derive(Clone, Debug, Args)]
pub struct InventoryArgs {
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
    /// Where it runs.
    #[command(flatten)]
    pub nodes: NodeOptions,
    /// Play a script instead: simulated nodes
    #[arg(long, hide = true, value_name = "FILE")]
    pub script: Option<PathBuf>,
}
