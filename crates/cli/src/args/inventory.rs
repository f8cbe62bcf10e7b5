//! `seatrial inventory`.

use std::path::PathBuf;

use clap::Args;
use seatrial_model::record::NodeOptions;

use super::{OutputArgs, TableOrJson};

/// Show the hardware of this machine or of each node, with the limit of every part.
#[derive(Clone, Debug, Args)]
pub struct InventoryArgs {
    /// How the result is shown.
    #[command(flatten)]
    pub output: OutputArgs<TableOrJson>,
    /// Which nodes to use.
    #[command(flatten)]
    pub nodes: NodeOptions,
    /// Also write the map of the machine to this SVG file: sockets, NUMA nodes, caches, cores and devices with their
    /// limits; of several nodes, one map for each kind of machine
    #[arg(long, value_name = "FILE.svg")]
    pub map: Option<PathBuf>,
    /// Use the simulated nodes of this script
    #[arg(long, hide = true, value_name = "FILE")]
    pub script: Option<PathBuf>,
}
