//! Hidden commands, which Seatrial starts itself.

use std::process::ExitCode;

use seatrial_cluster::{AgentOptions, agent_main, keep_copy, worker_main};

use crate::args::WorkerArgs;
use crate::error::CliError;
use crate::fleet;

pub fn agent(options: &AgentOptions) -> Result<ExitCode, CliError> {
    if let Some(id) = &options.keep {
        return Ok(match keep_copy(&fleet::build()?, id) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                tracing::error!("{why}");
                ExitCode::FAILURE
            }
        });
    }
    let build = if options.build.is_empty() { fleet::build()? } else { options.build.clone() };
    // Slurm's name of the node, which users and profiles know, may differ from the host name.
    let by_slurm = || std::env::var("SLURMD_NODENAME").ok().filter(|_| options.meet);
    let node = options.node.clone().or_else(by_slurm);
    Ok(agent_main(&AgentOptions { node, build, ..options.clone() }))
}

pub fn worker(args: &WorkerArgs) -> Result<ExitCode, CliError> {
    Ok(worker_main(&seatrial_registry::REGISTRY, args.fd))
}
