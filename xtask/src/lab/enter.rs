//! `lab run`: a command on the head, or on a node, with everything set so that Slurm, ssh and mpirun just work.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow};

use super::state::{Host, Lab};
use super::{config, space};
use crate::workspace;

/// Run a command on the head, or on a node.
///
/// On the head it keeps the PID of this command and takes its signals. A node has PIDs of its own: to signal a
/// command there, use `lab run --node n1 -- pkill`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The node; without it, the head, from where srun, ssh and mpirun reach the nodes.
    #[arg(long)]
    pub node: Option<String>,
    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub line: Vec<OsString>,
}

/// Becomes the command.
///
/// # Errors
/// When there is no such lab or host, or the command cannot be started. Otherwise it does not return.
pub fn run(folder: &Path, args: &Args) -> Result<()> {
    let lab = Lab::existing(folder)?;
    let host = lab.host(args.node.as_deref().unwrap_or("head"))?;
    let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
    let (program, rest) = args.line.split_first().context("there is no command")?;
    let mut command = command(&lab, host, &here, program)?;
    command.args(rest).stdin(Stdio::inherit());
    // The language of the tools that we read is none of the person's command.
    match std::env::var_os("LC_ALL") {
        Some(value) => command.env("LC_ALL", value),
        None => command.env_remove("LC_ALL"),
    };
    let error = command.exec();
    Err(anyhow!(error).context(format!("cannot start `{}`", workspace::show(&command))))
}

/// `program` on the head, to be given arguments.
///
/// # Errors
/// When the head is gone.
pub fn on_head(lab: &Lab, program: &str) -> Result<Command> {
    command(lab, &lab.head, Path::new("/"), program)
}

/// `program` on `host`, to be given arguments, in the folder `at` where the host has it.
///
/// # Errors
/// When the host is gone.
pub fn command(lab: &Lab, host: &Host, at: &Path, program: impl AsRef<OsStr>) -> Result<Command> {
    let mut command = space::enter(host, at, program)?;
    command.env("SLURM_CONF", lab.folder.join(config::SLURM_CONF));
    // Everything here is root; Open MPI wants to be told twice that this is meant.
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    // The person's agent and temporary folder are no part of the lab, and nodes do not have the latter.
    command.env_remove("SSH_AUTH_SOCK").env_remove("TMPDIR");
    Ok(command)
}
