//! The ssh client, as the controller and its relays call it.

use std::ffi::OsString;
use std::io;
use std::process::Command;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::boot::{self, Boot, Role};
use crate::launch::cache;
use crate::launch::copying::Copying;
use crate::launch::link::Manner;
use crate::launch::startup::{Opening, Start};

/// ConnectTimeout in seconds.
const CONNECT_WITHIN: u32 = 15;

/// ServerAliveInterval in seconds, and ServerAliveCountMax.
const ALIVE: (u32, u32) = (10, 3);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::launch) struct Child {
    pub(in crate::launch) node: String,
    /// A directory on the node in place of `/` for the kernel's files.
    pub(in crate::launch) sysroot: Option<String>,
}

/// The nodes of a relay, and how the relay reaches them; contains no secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::launch) struct Share {
    pub(in crate::launch) client: Vec<OsString>,
    /// The nodes; the first is the relay's own.
    pub(in crate::launch) children: Vec<Child>,
}

#[derive(Clone, Debug)]
pub(in crate::launch) struct Client {
    words: Vec<OsString>,
    build: String,
    size: u64,
}

impl Client {
    /// The command `words`, and the running binary, whose id is `build`.
    pub(in crate::launch) fn new(words: Vec<OsString>, build: &str) -> io::Result<Self> {
        Ok(Self { words, build: build.to_owned(), size: cache::size()? })
    }

    pub(in crate::launch) fn start(&self, child: &Child) -> Start {
        let opening = |is_fresh| self.open(child, Role::Agent, is_fresh);
        Start { node: child.node.clone(), opening: opening(false), renewed: Some(opening(true)) }
    }

    /// How to start a relay on `child`: from the cache, and with a fresh copy of the binary.
    pub(super) fn relay(&self, child: &Child) -> [Opening; 2] {
        [false, true].map(|is_fresh| self.open(child, Role::Relay, is_fresh))
    }

    /// How to start the receiver of a copy on `host`.
    pub(super) fn receiver(&self, host: &str, is_fresh: bool) -> Command {
        self.command(&Child { node: host.to_owned(), sysroot: None }, Role::Receiver, is_fresh)
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
        // No terminal, whatever the configuration says: a terminal would translate line ends in frames.
        command.arg("-T").arg("--").arg(&child.node).arg(boot.script());
        command
    }
}
