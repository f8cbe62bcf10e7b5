//! What is planted, and what a right report says of it.

use std::fmt;

use serde_json::Value;

use super::{hardware, network, nfs, order, storage};

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
    /// Lines of shell that make it, each with its host.
    pub plant: Vec<(&'static str, String)>,
    /// Lines that undo it.
    pub heal: Vec<(&'static str, String)>,
    /// Simulated nodes that have it instead of a lab, as the option `--script` reads them.
    pub script: Option<Value>,
    /// The command that measures; NODES stands for all nodes.
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
        let what = what.to_owned();
        let (of_lab, plant, heal) = (Vec::new(), Vec::new(), Vec::new());
        let who = Who::Node("n3");
        Self { name, strength, what, of_lab, plant, heal, script: None, run, who, cause, certain: false }
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

    /// The programs of n3 run in a control group of version 1 that `line` limits. `$G` stands for the folder of the controller.
    pub fn in_group(self, controller: &str, line: &str) -> Self {
        let programs = "for pid in $(pgrep -x sshd); do echo $pid > $G/planted/cgroup.procs; done";
        let plant = format!("G=/sys/fs/cgroup/{controller}; mkdir -p $G/planted; {line}; {programs}");
        let back = "for pid in $(cat $G/planted/cgroup.procs); do echo $pid > $G/cgroup.procs; done";
        let heal = format!("G=/sys/fs/cgroup/{controller}; {back}; sleep 0.2; rmdir $G/planted");
        self.by_line(&plant, &heal)
    }

    /// The same by a line of shell on n3, and one that undoes it.
    pub fn by_line(mut self, plant: &str, heal: &str) -> Self {
        self.plant.push(("n3", plant.to_owned()));
        self.heal.push(("n3", heal.to_owned()));
        self
    }
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
