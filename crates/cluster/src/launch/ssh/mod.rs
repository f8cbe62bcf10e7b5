//! Agents over the site's own ssh, one connection a node.
//!
//! The client and its configuration are the site's: jump hosts, shared connections, certificates and host keys work as
//! they do for a person. What Seatrial adds is that nobody is asked (BatchMode), that a node which does not answer is
//! given up (ConnectTimeout), and that a dead connection is noticed (ServerAliveInterval); a link that is cut for a few
//! seconds is not one. Options given with the client (`ssh -o ...`) come before these.
//!
//! The binary travels by itself: see [`boot`].

mod boot;

use std::ffi::OsString;
use std::process::Command;
use std::time::Duration;

use super::gathering::{Gathering, Start};
use crate::fleet::{Fleet, LaunchError, Launcher};

/// Time for a connection, for the binary to be copied where it is missing, and for sick drivers to be looked at.
const HELLO_WITHIN: Duration = Duration::from_secs(90);

/// Seconds for the connection to come up.
const CONNECT_WITHIN: u32 = 15;

/// Seconds between two signs of life, and how many may be missed.
const ALIVE: (u32, u32) = (10, 3);

/// Starts agents over ssh.
#[derive(Clone, Debug)]
pub struct SshLauncher {
    build: String,
    nodes: Vec<String>,
    client: Vec<OsString>,
    sysroots: Vec<(String, String)>,
}

impl SshLauncher {
    /// Agents of `build` on `nodes`, each under the name that ssh knows it by.
    pub fn new(build: impl Into<String>, nodes: Vec<String>) -> Self {
        Self { build: build.into(), nodes, client: vec!["ssh".into()], sysroots: Vec::new() }
    }

    /// Another client than `ssh`, with its first arguments: `ssh -F lab/ssh_config`.
    #[must_use]
    pub fn client(mut self, client: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.client = client.into_iter().map(Into::into).collect();
        self
    }

    /// A tree that stands in for the kernel's files on one node.
    #[must_use]
    pub fn sysroot(mut self, node: impl Into<String>, tree: impl Into<String>) -> Self {
        self.sysroots.push((node.into(), tree.into()));
        self
    }

    fn command(&self, node: &str, size: u64) -> Command {
        let (program, args) = self
            .client
            .split_first()
            .map_or((OsString::from("ssh"), &[][..]), |(first, rest)| (first.clone(), rest));
        let mut command = Command::new(program);
        command.args(args);
        let options = [
            "BatchMode=yes".to_owned(),
            format!("ConnectTimeout={CONNECT_WITHIN}"),
            format!("ServerAliveInterval={}", ALIVE.0),
            format!("ServerAliveCountMax={}", ALIVE.1),
        ];
        for option in options {
            command.arg("-o").arg(option);
        }
        let sysroot = self.sysroots.iter().find(|(name, _)| name == node).map(|(_, tree)| tree.as_str());
        // No terminal, whatever the configuration says: it would translate line ends in the frames.
        command.arg("-T").arg("--").arg(node).arg(boot::script(&self.build, size, node, sysroot));
        command
    }
}

impl Launcher for SshLauncher {
    fn launch(&self) -> Result<Box<dyn Fleet>, LaunchError> {
        let size = boot::size().map_err(|error| LaunchError::Launcher {
            launcher: "ssh".to_owned(),
            why: format!("reading our own binary, which is to be copied: {error}"),
        })?;
        let start = |node: &String| Start {
            node: node.clone(),
            command: self.command(node, size),
            preamble: Some(Box::new(boot::exchange)),
        };
        let mut gathering = Gathering::new(&self.build, HELLO_WITHIN);
        gathering.start_all(self.nodes.iter().map(start).collect());
        Ok(Box::new(gathering.finish()?))
    }
}
