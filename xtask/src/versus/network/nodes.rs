//! The lab of two nodes: made when the first row needs it, ended with the last.

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use seatrial_sys::cpuset::CpuSet;

use crate::lab::Lab;
use crate::versus::cores::{cores, ends};
use crate::versus::ours::{binary, target};
use crate::workspace;

/// The congestion control of all connections in the lab.
pub const CONGESTION: &str = "cubic";

/// A server and a client that do not end are ended after so many seconds.
const LIMIT_SECONDS: &str = "120";

const NAME: &str = "versus-net";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the first node to the second.
    Veth,
    /// Inside the first node.
    Loopback,
}

impl Way {
    /// Where the servers listen.
    pub fn address(self) -> &'static str {
        match self {
            Way::Veth => "10.77.0.2",
            Way::Loopback => "127.0.0.1",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Way::Veth => "veth",
            Way::Loopback => "loopback",
        })
    }
}

pub struct Nodes {
    lab: OnceCell<Lab>,
    port: Cell<u16>,
}

impl Nodes {
    /// Nothing is made yet.
    pub fn new() -> Self {
        Self { lab: OnceCell::new(), port: Cell::new(20000) }
    }

    /// Two ports, the second one above the first, that no turn had before: the last one's may still be waiting to close.
    pub fn ports(&self) -> u16 {
        let port = self.port.get();
        self.port.set(if port > 30000 { 20000 } else { port + 2 });
        port
    }

    /// `program` as a server, to be given arguments, on the CPUs that so many threads of ours have at that end; of none, on
    /// all. It is the process itself that is started, no shell around it.
    pub fn server(&self, way: Way, threads: usize, program: &str) -> Result<Command> {
        let node = if way == Way::Veth { "n2" } else { "n1" };
        let mut command = self.pinned(node, threads, 1)?;
        command.arg(program).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    }

    /// `program` as a client, the same.
    pub fn client(&self, threads: usize, program: &str) -> Result<Command> {
        let mut command = self.pinned("n1", threads, 0)?;
        command.args(["timeout", "--kill-after=5", LIMIT_SECONDS, program]).stdin(Stdio::null());
        Ok(command)
    }

    fn pinned(&self, node: &str, threads: usize, end: usize) -> Result<Command> {
        let mut command = self.in_network(node)?;
        if threads > 0 {
            let cpus = ends(&cores(&CpuSet::default())?, threads)[end].to_string();
            command.args(["taskset", "-c", &cpus]);
        }
        Ok(command)
    }

    /// `seatrial run`, to be given arguments, with its nodes.
    pub fn seatrial(&self, way: Way) -> Result<Command> {
        let binary = binary();
        let mut command = match way {
            Way::Veth => {
                self.lab()?;
                let mut command = call()?;
                command.args(["run", "--"]).arg(binary).args(["run", "-w", "n[1-2]"]);
                command
            }
            Way::Loopback => {
                let mut command = self.in_network("n1")?;
                command.arg(binary).args(["run", "--pattern", "alone"]);
                command
            }
        };
        command.current_dir("/").stdin(Stdio::null());
        Ok(command)
    }

    /// With the files and the PIDs of the machine, so that nsenter(1) becomes the program and keeps its PID, as taskset(1) does.
    fn in_network(&self, node: &str) -> Result<Command> {
        let pid = self.lab()?.host(node)?.holder()?.pid.to_string();
        let mut command = Command::new("nsenter");
        command.args(["--target", &pid, "--net", "--"]).env("LC_ALL", "C");
        Ok(command)
    }

    fn lab(&self) -> Result<&Lab> {
        if let Some(lab) = self.lab.get() {
            return Ok(lab);
        }
        workspace::run(call()?.args(["up", "--fresh", "--nodes", "2"]).stdout(Stdio::null()))?;
        // The kernel remembers the windows and round trips of connections for the next one to the same peer
        // (tcp_no_metrics_save of ip-sysctl.rst): each turn would begin with what the one before it came to.
        //
        // A namespace may make only the unrestricted algorithms its default, and cubic need not be one of them; a route
        // may name any (congctl of ip-route(8)).
        for (node, address) in [("n1", "10.77.0.1"), ("n2", "10.77.0.2")] {
            let line = format!(
                "echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save \
                 && ip route replace 10.77.0.0/24 dev eth0 proto kernel scope link src {address} congctl {CONGESTION} \
                 && ip route replace local 127.0.0.1 dev lo table local proto kernel src 127.0.0.1 congctl {CONGESTION}"
            );
            let mut command = call()?;
            command.args(["run", "--node", node, "--", "sh", "-c", &line]).stdout(Stdio::null());
            workspace::run(&mut command)
                .with_context(|| format!("cannot set up TCP with {CONGESTION} on {node}"))?;
        }
        let lab = self.lab.get_or_init(|| Lab::existing(&state().join(NAME)).expect("it was just made"));
        Ok(lab)
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        if self.lab.get().is_some() {
            let _ = call().and_then(|mut lab| Ok(lab.arg("down").stdout(Stdio::null()).status()?));
        }
    }
}

fn state() -> PathBuf {
    target().join("versus-labs")
}

fn call() -> Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    command.args(["lab", "--name", NAME, "--state"]).arg(state());
    Ok(command)
}
