//! What is planted, and what a right report says of it.

use std::fmt;

use super::{network, storage};

/// A fault in a lab of nodes, of which n3 has it unless its name says otherwise.
pub struct Planted {
    pub name: &'static str,
    pub strength: Strength,
    /// The fault in words.
    pub what: String,
    /// Lines of shell that make it, each with its host.
    pub plant: Vec<(&'static str, String)>,
    /// Lines that undo it.
    pub heal: Vec<(&'static str, String)>,
    /// The command that measures; NODES stands for all nodes.
    pub run: &'static [&'static str],
    pub who: Who,
    /// The cause is named where a finding or a reason has one of these.
    pub cause: &'static [&'static str],
}

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
    Node(&'static str),
    Nobody,
}

pub fn all() -> Vec<Planted> {
    let mut all = network::faults();
    all.extend(storage::faults());
    all
}
