//! The hidden commands that Seatrial starts itself.

use std::process::ExitCode;

use seatrial_cluster::{AgentOptions, agent_main, worker_main};

use crate::args::WorkerArgs;
use crate::error::CliError;
use crate::fleet;

/// Serves a controller over standard input and output.
pub fn agent(options: &AgentOptions) -> Result<ExitCode, CliError> {
    // Slurm's name for the node, by which a person and a profile know it, may differ from the host name.
    let by_slurm = || std::env::var("SLURMD_NODENAME").ok().filter(|_| options.meet);
    let node = options.node.clone().or_else(by_slurm);
    Ok(agent_main(&AgentOptions { node, build: fleet::build()?, ..options.clone() }))
}

/// Is one part of a case.
pub fn worker(args: &WorkerArgs) -> Result<ExitCode, CliError> {
    Ok(worker_main(&seatrial_registry::REGISTRY, args.fd))
}
