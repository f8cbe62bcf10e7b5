//! Hidden commands, which Seatrial starts itself.

use std::process::ExitCode;

use seatrial_cluster::{AgentOptions, agent_main, worker_main};

use crate::args::WorkerArgs;
use crate::error::CliError;
use crate::fleet;

pub fn agent(options: &AgentOptions) -> Result<ExitCode, CliError> {
    // Slurm's name of the node, which users and profiles know, may differ from the host name.
    let by_slurm = || std::env::var("SLURMD_NODENAME").ok().filter(|_| options.meet);
    let node = options.node.clone().or_else(by_slurm);
    Ok(agent_main(&AgentOptions { node, build: fleet::build()?, ..options.clone() }))
}

pub fn worker(args: &WorkerArgs) -> Result<ExitCode, CliError> {
    Ok(worker_main(&seatrial_registry::REGISTRY, args.fd))
}
