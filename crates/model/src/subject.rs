//! Subjects: what is measured.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// The subject of a case, for example `node`, `numa:0->1`, `gpu:0`, `disk:sda` or `n1/eth0->n2/eth0`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject(String);

impl Subject {
    /// A whole machine.
    pub fn node() -> Self {
        Self("node".to_owned())
    }

    /// One NUMA node: its CPUs with its memory.
    pub fn numa(node: u32) -> Self {
        Self(format!("numa:{node}"))
    }

    /// A device of a kind, for example `disk`, `sda`.
    pub fn device(kind: &str, name: &str) -> Self {
        Self(format!("{kind}:{name}"))
    }

    /// The kind, before the colon: `node`, `numa`, `gpu`, `nic`, `disk`, `fs`, `hca`.
    pub fn kind(&self) -> &str {
        self.0.split(':').next().unwrap_or(&self.0)
    }

    /// The subject as it stands in records.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Subject {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

crate::text_serde!(Subject, "The thing measured, for example node, numa:0->1, gpu:0, disk:sda.");
