//! A lab that measurements share: made when the first of them needs it, ended with the last.

use std::cell::OnceCell;
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};

use crate::versus::ours::target;
use crate::workspace;

/// A lab of so many nodes.
pub struct Nodes {
    size: u32,
    name: String,
    scratch_mib: Option<u32>,
    is_up: OnceCell<()>,
}

impl Nodes {
    pub fn new(size: u32) -> Self {
        Self::named("versus", size)
    }

    /// One by a name of its own, so that it can be up beside others.
    pub fn named(name: &str, size: u32) -> Self {
        Self { size, name: format!("{name}-{size}"), scratch_mib: None, is_up: OnceCell::new() }
    }

    /// The same with so much room on the file system of each node.
    pub fn with_scratch(mut self, mib: u32) -> Self {
        self.scratch_mib = Some(mib);
        self
    }

    /// Runs a line of shell on a node, or on the head.
    pub fn on(&self, host: &str, line: &str) -> Result<String> {
        self.make()?;
        let mut command = self.lab()?;
        command.arg("run");
        if host != "head" {
            command.args(["--node", host]);
        }
        let output = command.args(["--", "sh", "-c", line]).current_dir("/").stdin(Stdio::null()).output()?;
        ensure!(output.status.success(), "{host}: {line}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Gives a node faults of the lab, if there are any.
    pub fn fault(&self, node: &str, faults: &[String]) -> Result<()> {
        if faults.is_empty() {
            return Ok(());
        }
        self.make()?;
        workspace::run(self.lab()?.args(["fault", node]).args(faults).stdout(Stdio::null()))
    }

    /// Takes the faults of the lab away.
    pub fn heal(&self) -> Result<()> {
        workspace::run(self.lab()?.arg("heal").stdout(Stdio::null()))
    }

    fn make(&self) -> Result<()> {
        if self.is_up.get().is_none() {
            let size = self.size.to_string();
            let mut up = self.lab()?;
            up.args(["up", "--fresh", "--nodes", &size]).stdout(Stdio::null());
            if let Some(mib) = self.scratch_mib {
                up.args(["--scratch", &mib.to_string()]);
            }
            workspace::run(&mut up)?;
            _ = self.is_up.set(());
        }
        Ok(())
    }

    /// Runs a line of shell on a node, or on the head; the seconds from its start to its end there.
    pub fn time(&self, host: &str, line: &str) -> Result<f64> {
        let timed = format!("begin=$(date +%s%N); {{ {line}; }} >&2 && echo $(($(date +%s%N) - begin))");
        Ok(self.on(host, &timed)?.trim().parse::<f64>()? / 1e9)
    }

    /// `words` as a command on the head, which keeps its PID.
    pub fn command(&self, words: &[&str]) -> Result<Command> {
        self.make()?;
        let mut command = self.lab()?;
        command.args(["run", "--"]).args(words).current_dir("/").stdin(Stdio::null());
        Ok(command)
    }

    fn lab(&self) -> Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["lab", "--name", &self.name, "--state"]).arg(target().join("versus-labs"));
        Ok(command)
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        if self.is_up.get().is_some() {
            let _ = self.lab().and_then(|mut lab| Ok(lab.arg("down").stdout(Stdio::null()).status()?));
        }
    }
}
