//! The site's ssh client, as a controller and its relays call it.

use std::ffi::OsString;
use std::io;
use std::process::Command;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::boot::{self, Boot, Role};
use crate::launch::copying::Copying;
use crate::launch::link::Manner;
use crate::launch::startup::{Opening, Start};

/// Seconds for the connection to come up.
const CONNECT_WITHIN: u32 = 15;

/// Seconds between two signs of life, and how many may be missed.
const ALIVE: (u32, u32) = (10, 3);

/// A node that is reached by ssh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::launch) struct Child {
    /// The name that ssh knows it by.
    pub(in crate::launch) node: String,
    /// A tree that stands in for the kernel's files there.
    pub(in crate::launch) sysroot: Option<String>,
}

/// The nodes of a relay, and how it reaches them. No part of it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::launch) struct Share {
    /// The client with its first arguments.
    pub(in crate::launch) client: Vec<OsString>,
    /// The nodes; the first is the relay's own.
    pub(in crate::launch) children: Vec<Child>,
}

/// The client, and the binary that it takes along.
#[derive(Clone, Debug)]
pub(in crate::launch) struct Client {
    words: Vec<OsString>,
    build: String,
    size: u64,
}

impl Client {
    /// A client called with `words` first. The binary is the running one, of `build`.
    pub(in crate::launch) fn new(words: Vec<OsString>, build: &str) -> io::Result<Self> {
        Ok(Self { words, build: build.to_owned(), size: boot::size()? })
    }

    /// An agent on `child`.
    pub(in crate::launch) fn start(&self, child: &Child) -> Start {
        let opening = |is_fresh| self.open(child, Role::Agent, is_fresh);
        Start { node: child.node.clone(), opening: opening(false), renewed: Some(opening(true)) }
    }

    /// What starts a relay on `child`, from the cache and with a fresh copy of the binary.
    pub(super) fn relay(&self, child: &Child) -> [Opening; 2] {
        [false, true].map(|is_fresh| self.open(child, Role::Relay, is_fresh))
    }

    fn open(&self, child: &Child, role: Role, is_fresh: bool) -> Opening {
        let copying = Arc::<Copying>::default();
        let noted = Arc::clone(&copying);
        let exchange =
            move |from: &mut dyn io::Read, to: &mut dyn io::Write| boot::exchange(from, to, &noted);
        let manner = Manner { preamble: Some(Box::new(exchange)), signs_of_life: true };
        Opening { command: self.command(child, role, is_fresh), manner, copying }
    }

    fn command(&self, child: &Child, role: Role, is_fresh: bool) -> Command {
        let (program, args) = self
            .words
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
        let sysroot = child.sysroot.as_deref();
        let boot = Boot { build: &self.build, size: self.size, node: &child.node, sysroot, role, is_fresh };
        // No terminal, whatever the configuration says: it would translate line ends in the frames.
        command.arg("-T").arg("--").arg(&child.node).arg(boot.script());
        command
    }
}
