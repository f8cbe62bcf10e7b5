//! The hidden commands that Seatrial starts itself.

use std::process::ExitCode;
use std::time::Duration;

use seatrial_cluster::{AgentOptions, agent_main, worker_main};

use crate::args::{AgentArgs, WorkerArgs};
use crate::error::CliError;
use crate::fleet;

/// Serves a controller over standard input and output.
pub fn agent(args: &AgentArgs) -> Result<ExitCode, CliError> {
    // Slurm's name for the node, by which a person and a profile know it, may differ from the host name.
    let by_slurm = || std::env::var("SLURMD_NODENAME").ok().filter(|_| args.meet);
    let options = AgentOptions {
        node: args.node.clone().or_else(by_slurm),
        sysroot: args.sysroot.clone(),
        meet: args.meet,
        remove_self: args.remove_self,
        silence: args.silence.map(|seconds| Duration::from_secs(seconds.into())),
        relay: args.relay,
        build: fleet::build()?,
    };
    Ok(agent_main(&options))
}

/// Is one part of a case.
pub fn worker(args: &WorkerArgs) -> Result<ExitCode, CliError> {
    Ok(worker_main(&seatrial_registry::REGISTRY, args.fd))
}
