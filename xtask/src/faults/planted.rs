//! What is planted, and what a right report says of it.

use std::fmt;

use serde_json::Value;

use super::{hardware, network, nfs, order, storage};

/// Stands for all nodes, as host of a line and in the command that measures.
pub const NODES: &str = "NODES";

/// A fault in a lab of nodes, of which n3 has it unless its name says otherwise.
pub struct Planted {
    /// Its name on the command line; faults of several strengths share it.
    pub name: &'static str,
    /// How much of it there is.
    pub strength: Strength,
    /// The fault in words.
    pub what: String,
    /// Faults that the lab knows, in its words.
    pub of_lab: Vec<String>,
    /// The same of every node: what is at all of them is nobody's fault, and shows that of n3.
    pub of_all_by_lab: Vec<String>,
    /// Lines of shell that make it, each with its host, or `NODES`.
    pub plant: Vec<(&'static str, String)>,
    /// Lines that undo it.
    pub heal: Vec<(&'static str, String)>,
    /// Lines for every node, which hold all of them to one level and undo that, where the gain of healing is measured.
    pub level: Option<[String; 2]>,
    /// Simulated nodes that have it instead of a lab, as the option `--script` reads them.
    pub script: Option<Value>,
    /// The command that measures; `NODES` stands for all nodes.
    pub run: &'static [&'static str],
    /// Who is to be named.
    pub who: Who,
    /// The cause is named where a finding or a reason has one of these.
    pub cause: &'static [&'static str],
    /// Whether a report tells it whatever the rates on a busy machine are, and soon.
    pub certain: bool,
}

impl Planted {
    /// A fault of n3 that nothing makes yet.
    pub fn new(
        name: &'static str,
        strength: Strength,
        what: &str,
        run: &'static [&'static str],
        cause: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            strength,
            what: what.to_owned(),
            of_lab: Vec::new(),
            of_all_by_lab: Vec::new(),
            plant: Vec::new(),
            heal: Vec::new(),
            level: None,
            script: None,
            run,
            who: Who::Node("n3"),
            cause,
            certain: false,
        }
    }

    /// Whether nothing is at fault.
    pub fn is_sound(&self) -> bool {
        self.who == Who::Nobody
    }

    /// The same, of a kind that a report tells whatever the rates are.
    pub fn certain(self) -> Self {
        Self { certain: true, ..self }
    }

    /// The same by a fault of `cargo xtask lab fault`.
    pub fn by_lab(mut self, fault: &str) -> Self {
        self.of_lab.push(fault.to_owned());
        self
    }

    /// The programs of n3 run in a control group of version 1 that `line` limits. `$G` stands for its folder.
    pub fn in_group(self, controller: &str, line: &str) -> Self {
        let [plant, heal] = group(controller, "planted", line);
        self.by_line(&plant, &heal)
    }

    /// The same by a line of shell on n3, and one that undoes it.
    pub fn by_line(self, plant: &str, heal: &str) -> Self {
        self.by_lines_on("n3", plant, heal)
    }

    /// The same by lines on another host, or on `NODES`.
    pub fn by_lines_on(mut self, host: &'static str, plant: &str, heal: &str) -> Self {
        self.plant.push((host, plant.to_owned()));
        self.heal.push((host, heal.to_owned()));
        self
    }
}

/// Lines of shell that move the programs of a node to a control group of version 1, whose folder is `$G`, and back.
pub fn group(controller: &str, name: &str, line: &str) -> [String; 2] {
    let top = format!("T=/sys/fs/cgroup/{controller}; G=$T/{name}-$(hostname)");
    let programs = "for pid in $(pgrep -x sshd); do echo $pid > $G/cgroup.procs; done";
    let back = "for pid in $(cat $G/cgroup.procs); do echo $pid > $T/cgroup.procs; done";
    [
        format!("{top}; mkdir -p $G; {line}; {programs}"),
        // It may have been left for another one, and be gone.
        format!("{top}; [ ! -d $G ] || {{ {back}; sleep 0.2; rmdir $G; }}"),
    ]
}

/// How much of a fault there is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Strength {
    /// Far more than what matters.
    Plain,
    /// Enough to matter.
    Weak,
    /// Just above what matters.
    Just,
}

impl fmt::Display for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain",
            Self::Weak => "weak",
            Self::Just => "just",
        })
    }
}

/// Who is to be named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// This node.
    Node(&'static str),
    /// Several nodes or a link between them, by a finding of this kind.
    Finding(&'static str),
    /// No node: nothing is planted.
    Nobody,
}

pub fn all() -> Vec<Planted> {
    let mut all = network::faults();
    all.extend(order::duplicates());
    all.extend(order::reordering());
    all.extend(storage::faults());
    all.extend(nfs::faults());
    all.extend(hardware::faults());
    all
}
