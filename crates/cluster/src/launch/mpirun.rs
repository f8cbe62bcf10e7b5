//! Starts agents with mpirun, used only to start processes: no agent calls MPI.
//!
//! For sites where only mpirun starts processes everywhere, and for resource managers that only mpirun knows. Agents
//! connect back (see [`meet`](super::meet)). The binary must have the same path on every node.

use std::ffi::OsString;
use std::process::Command;

use super::bulk::{self, Expected};
use crate::fleet::{Fleet, LaunchError, Launcher};

#[derive(Clone, Debug)]
pub struct MpirunLauncher {
    build: String,
    nodes: Vec<String>,
    client: Vec<OsString>,
}

impl MpirunLauncher {
    /// Agents of `build` on `nodes`; without names, on the nodes of mpirun's resource manager or host file.
    pub fn new(build: impl Into<String>, nodes: Vec<String>) -> Self {
        Self { build: build.into(), nodes, client: vec!["mpirun".into()] }
    }

    /// Another command than `mpirun`, with first arguments: `mpirun --mca plm_rsh_args '-F lab/ssh_config'`.
    #[must_use]
    pub fn client(mut self, client: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.client = client.into_iter().map(Into::into).collect();
        self
    }

    fn command(&self) -> Result<Command, std::io::Error> {
        let (program, args) = self
            .client
            .split_first()
            .map_or((OsString::from("mpirun"), &[][..]), |(first, rest)| (first.clone(), rest));
        let mut command = Command::new(program);
        command.args(args);
        if !self.nodes.is_empty() {
            command.arg("--host").arg(self.nodes.join(","));
        }
        // One agent per node, not bound. The ticket goes to all agents, not only to rank 0.
        command.args(["--map-by", "ppr:1:node", "--bind-to", "none", "--stdin", "all"]);
        // Not with --preload-binary: Open MPI 4 looks for the copy in the wrong place.
        command.arg(std::env::current_exe()?).args(["agent", "--meet"]);
        Ok(command)
    }
}

impl Launcher for MpirunLauncher {
    fn launch(&self) -> Result<Box<dyn Fleet>, LaunchError> {
        let mut command = self.command().map_err(|error| LaunchError::Launcher {
            launcher: "mpirun".to_owned(),
            why: format!("finding our own binary: {error}"),
        })?;
        let count = (!self.nodes.is_empty()).then_some(self.nodes.len());
        let expected = Expected { count, names: self.nodes.clone(), recalls: |_| false };
        Ok(Box::new(bulk::gather("mpirun", &mut command, &self.build, &expected, None)?))
    }
}
