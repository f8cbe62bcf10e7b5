//! This machine as a fleet of one agent, a child process of the controller with the protocol of remote agents: a
//! crashed worker cannot reach the controller.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::startup::{AgentStartup, Start};
use crate::fleet::{Fleet, LaunchError, Launcher};
use crate::own_program::{RUNNING, own_program, wrapper};

/// Time to read the inventory of a machine with slow drivers.
const HELLO_WITHIN: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub struct LocalLauncher {
    build: String,
    program: PathBuf,
    args: Vec<OsString>,
    node: Option<String>,
    sysroot: Option<PathBuf>,
    hello_within: Duration,
}

impl LocalLauncher {
    /// A launcher of `agent` from the running binary, whose id is `build`. The agent takes the id over where it is certainly the
    /// same file; a wrapper starts what the path leads to.
    pub fn new(build: impl Into<String>) -> Self {
        let build = build.into();
        let mut args: Vec<OsString> = vec!["agent".into()];
        if wrapper().is_none() {
            args.extend(["--build".into(), build.clone().into()]);
        }
        Self {
            args,
            build,
            program: PathBuf::from(RUNNING),
            node: None,
            sysroot: None,
            hello_within: HELLO_WITHIN,
        }
    }

    /// Starts another command instead of `agent` of the running binary.
    #[must_use]
    pub fn command(
        mut self,
        program: impl Into<PathBuf>,
        args: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        self.program = program.into();
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Name of the node, given to the agent as `--node` [default: the host name].
    #[must_use]
    pub fn node(mut self, name: impl Into<String>) -> Self {
        self.node = Some(name.into());
        self
    }

    /// A directory in place of `/` for the kernel's files, passed to the agent as `--sysroot`.
    #[must_use]
    pub fn sysroot(mut self, tree: impl Into<PathBuf>) -> Self {
        self.sysroot = Some(tree.into());
        self
    }

    #[must_use]
    pub fn hello_within(mut self, limit: Duration) -> Self {
        self.hello_within = limit;
        self
    }

    pub(super) fn agent(&self) -> Command {
        let is_own = self.program.as_os_str() == RUNNING;
        let mut command = if is_own { own_program() } else { Command::new(&self.program) };
        command.args(&self.args);
        for (option, value) in [
            ("--node", self.node.as_ref().map(OsString::from)),
            ("--sysroot", self.sysroot.as_ref().map(OsString::from)),
        ] {
            if let Some(value) = value {
                command.arg(option).arg(value);
            }
        }
        command
    }
}

impl Launcher for LocalLauncher {
    fn launch(&self) -> Result<Box<dyn Fleet>, LaunchError> {
        let label = self.node.clone().unwrap_or_else(|| "this machine".to_owned());
        let mut gathering = AgentStartup::new(&self.build, self.hello_within);
        gathering.start_all(vec![Start::of(label, self.agent())]);
        Ok(Box::new(gathering.finish()?))
    }
}
