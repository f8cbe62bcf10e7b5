//! Commands that Seatrial starts itself.

use std::path::PathBuf;

use clap::Args;

/// Serve a controller over standard input and output.
#[derive(Clone, Debug, Args)]
pub struct AgentArgs {
    /// Read the inventory below this folder instead of below /
    #[arg(long, value_name = "DIR")]
    pub sysroot: Option<PathBuf>,
    /// The name to go by; the host name when not given
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// Call the controller that an invitation on standard input names
    #[arg(long)]
    pub meet: bool,
    /// Remove the own file, a copy for this run alone, once the controller is reached
    #[arg(long)]
    pub remove_self: bool,
    /// Leave when the controller gives no sign of life for this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub silence: Option<u32>,
    /// Be a relay to agents on other nodes, which the controller names
    #[arg(long)]
    pub relay: bool,
}

/// Be one part of a case.
#[derive(Clone, Debug, Args)]
pub struct WorkerArgs {
    /// The inherited descriptor of the channel to the supervisor
    #[arg(long, value_name = "FD")]
    pub fd: i32,
}
