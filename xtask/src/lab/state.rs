//! What a lab consists of, as it stands in its `lab.json`: written before each step, so that whatever was begun can
//! be ended, also by somebody else and much later.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::Fault;
use super::process::Process;

/// The version of `lab.json`.
const VERSION: u32 = 1;

/// The record while it is being written.
const UNFINISHED: &str = "lab.json.new";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lab {
    /// The version of this record.
    pub version: u32,
    /// What the person calls it.
    pub name: String,
    /// Where everything of it lies.
    pub folder: PathBuf,
    /// The machine's boot that it lives in: after another one nothing of it is left but the folder.
    pub boot_id: String,
    /// Whether `up` came to its end.
    pub is_complete: bool,
    /// Where people and tests start their commands.
    pub head: Host,
    /// The nodes, `n1` first.
    pub nodes: Vec<Host>,
    /// Links of each node, each in a network of its own.
    #[serde(default = "one")]
    pub rails: u32,
}

/// The links of a node in a record that does not tell.
const fn one() -> u32 {
    1
}

/// The head or a node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Host {
    pub name: String,
    /// Its address in the lab's network.
    pub address: String,
    /// How far its monotonic clock is ahead of the machine's, in seconds.
    pub clock_ahead_s: u32,
    /// The process that holds its namespaces; of a node, the first of its PID namespace. Nothing else is needed to
    /// end it: with this process goes the PID namespace, with its last process go network and mounts.
    pub init: Option<Process>,
    /// Its namespaces by kind, such as `net:[4026532000]`.
    pub namespaces: BTreeMap<String, String>,
    /// Its own file system; the head has none.
    pub scratch: Option<Scratch>,
    /// What runs on it from the start.
    pub daemons: Vec<Daemon>,
    /// The faults that it has now.
    pub faults: Vec<Applied>,
}

/// A node's file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scratch {
    /// The file that holds it.
    pub image: PathBuf,
    /// The loop device on the file, once it is there.
    pub device: Option<PathBuf>,
    /// Where it is mounted, in the node.
    pub mount: PathBuf,
}

/// A daemon of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Daemon {
    pub program: String,
    pub process: Process,
}

/// A fault, and what has to be ended when it is healed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    pub fault: Fault,
    /// The process that is the fault.
    pub process: Option<Process>,
}

impl Lab {
    /// A lab of which nothing is there yet.
    pub fn new(name: &str, folder: &Path, nodes: u32, rails: u32) -> Result<Self> {
        let host = |name: String, number: u32, clock_ahead_s: u32| Host {
            name,
            address: format!("10.77.0.{number}"),
            clock_ahead_s,
            init: None,
            namespaces: BTreeMap::new(),
            scratch: None,
            daemons: Vec::new(),
            faults: Vec::new(),
        };
        // Far apart, so that no confusion of two clocks can pass for a small error.
        let node = |number| host(format!("n{number}"), number, number * 4321);
        let mut lab = Self {
            version: VERSION,
            name: name.to_owned(),
            folder: folder.to_owned(),
            boot_id: boot_id()?,
            is_complete: false,
            head: host("head".to_owned(), 254, 0),
            nodes: (1..=nodes).map(node).collect(),
            rails,
        };
        for node in &mut lab.nodes {
            let image = folder.join(&node.name).join("scratch.img");
            node.scratch = Some(Scratch { image, device: None, mount: "/scratch".into() });
        }
        Ok(lab)
    }

    /// The lab in `folder`; none when there is none.
    ///
    /// # Errors
    /// When its record cannot be read or is of another version.
    pub fn load(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join("lab.json");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let read = || -> Result<Self> {
            let value: serde_json::Value = serde_json::from_str(&text)?;
            let version = &value["version"];
            ensure!(*version == VERSION, "it has version {version}, and this xtask knows {VERSION} only");
            Ok(serde_json::from_value(value)?)
        };
        read().with_context(|| format!("{} is not the record of a lab", path.display())).map(Some)
    }

    /// The lab in `folder`.
    ///
    /// # Errors
    /// When there is none, or its record cannot be read.
    pub fn existing(folder: &Path) -> Result<Self> {
        match Self::load(folder)? {
            Some(lab) => Ok(lab),
            None => bail!("there is no lab in {}; `cargo xtask lab up` makes one", folder.display()),
        }
    }

    /// Writes the record; a reader finds the old or the new one, never half of it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self) -> Result<()> {
        let (path, new) = (self.folder.join("lab.json"), self.folder.join(UNFINISHED));
        let write = || -> Result<()> {
            fs::write(&new, serde_json::to_string_pretty(self)? + "\n")?;
            Ok(fs::rename(&new, &path)?)
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }

    /// The head and the nodes.
    pub fn hosts(&self) -> impl Iterator<Item = &Host> {
        std::iter::once(&self.head).chain(&self.nodes)
    }

    /// The host of that name.
    ///
    /// # Errors
    /// When there is none.
    pub fn host(&self, name: &str) -> Result<&Host> {
        self.hosts().find(|host| host.name == name).with_context(|| self.no_host(name))
    }

    /// The host of that name, to change it.
    ///
    /// # Errors
    /// When there is none.
    pub fn host_mut(&mut self, name: &str) -> Result<&mut Host> {
        if name == self.head.name { Ok(&mut self.head) } else { self.node_mut(name) }
    }

    /// The node of that name, to change it.
    ///
    /// # Errors
    /// When there is none.
    pub fn node_mut(&mut self, name: &str) -> Result<&mut Host> {
        let complaint = self.no_host(name);
        self.nodes.iter_mut().find(|node| node.name == name).context(complaint)
    }

    fn no_host(&self, name: &str) -> String {
        format!("the lab '{}' has no node '{name}'; it has n1 to n{}", self.name, self.nodes.len())
    }

    /// Whether the machine was started anew since the lab was made.
    pub fn is_of_an_earlier_boot(&self) -> bool {
        boot_id().is_ok_and(|now| now != self.boot_id)
    }

    /// What should run and does not, in words; empty when the lab is whole.
    pub fn gone(&self) -> Vec<String> {
        if !self.is_complete {
            return vec!["it was never complete".to_owned()];
        }
        let hosts = self.hosts().filter(|host| !host.is_alive());
        let mut gone: Vec<String> = hosts.map(|host| format!("{} is gone", host.name)).collect();
        let dead = self.dead_daemons();
        gone.extend(dead.iter().map(|(host, program)| format!("{program} of {} is gone", host.name)));
        gone
    }

    /// Daemons that were started and do not run, of hosts that are there.
    pub fn dead_daemons(&self) -> Vec<(&Host, &str)> {
        let mut dead = Vec::new();
        for host in self.hosts().filter(|host| host.is_alive()) {
            let daemons = host.daemons.iter().filter(|daemon| !daemon.process.is_alive());
            dead.extend(daemons.map(|daemon| (host, daemon.program.as_str())));
        }
        dead
    }
}

impl Host {
    /// Whether it is a node, not the head.
    pub fn is_node(&self) -> bool {
        self.scratch.is_some()
    }

    /// Whether its namespaces are there.
    pub fn is_alive(&self) -> bool {
        self.init.is_some_and(Process::is_alive)
    }

    /// The process that holds its namespaces.
    ///
    /// # Errors
    /// When it is gone.
    pub fn holder(&self) -> Result<Process> {
        let alive = self.init.filter(|init| init.is_alive());
        alive.with_context(|| {
            format!("{} is gone; `cargo xtask lab up --fresh` makes the lab anew", self.name)
        })
    }
}

/// The folder of a lab, held by one command at a time.
#[derive(Debug)]
pub struct Lock {
    _folder: File,
}

impl Lock {
    /// Takes the folder, making it where it is not; waits while another command has it.
    ///
    /// # Errors
    /// When it cannot be made or locked.
    pub fn take(folder: &Path) -> Result<Self> {
        let attempt = || -> Result<Option<Self>> {
            fs::create_dir_all(folder)?;
            let open = File::open(folder)?;
            if open.try_lock().is_err() {
                eprintln!("another command has {}; waiting for it", folder.display());
                open.lock()?;
            }
            // `down` may have removed it in the meantime.
            let same = fs::metadata(folder)
                .is_ok_and(|now| open.metadata().is_ok_and(|held| held.ino() == now.ino()));
            Ok(same.then_some(Self { _folder: open }))
        };
        loop {
            let held = attempt().with_context(|| format!("cannot take {} for us", folder.display()))?;
            if let Some(lock) = held {
                // What a command that was killed had not finished writing.
                let _ = fs::remove_file(folder.join(UNFINISHED));
                return Ok(lock);
            }
        }
    }
}

fn boot_id() -> Result<String> {
    let path = "/proc/sys/kernel/random/boot_id";
    Ok(fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?.trim().to_owned())
}
