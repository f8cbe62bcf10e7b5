//! Mounted file systems.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Known;
use super::facts::Facts;
use crate::param::Params;

/// A file system mounted in this process's mount namespace. Those that hold no data of anybody (proc, sysfs, control
/// groups and their like) are not listed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FileSystem {
    /// Where it is mounted; the widest view of it where there are several.
    pub mount: String,
    /// Where else.
    pub also_at: Vec<String>,
    /// What is mounted: a device, a server's path, a name.
    pub source: String,
    /// Type, as the kernel names it: `ext4`, `xfs`, `lustre`.
    pub kind: String,
    /// Where its data lie.
    pub medium: Medium,
    /// Whether it refuses to be written here.
    pub read_only: bool,
    /// Options that change what a benchmark measures: `sync`, `noatime`, `discard`, `nobarrier` and others.
    pub options: Vec<String>,
    /// Size in bytes.
    pub size_bytes: Known<u64>,
    /// In use, in bytes.
    pub used_bytes: Known<u64>,
    /// What this user may still write, in bytes; the part kept for root is not in it.
    pub available_bytes: Known<u64>,
    /// Use in percent of what ordinary users have, as df(1) computes it.
    pub fill_percent: Known<f64>,
    /// The address of the server, where the mount tells one that is a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The block device it is on: a disk, a partition, or a device made of others.
    pub device: Option<String>,
    /// The disks under it, whatever stands between.
    pub disks: Vec<String>,
}

/// Where the data of a file system lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Medium {
    /// On block devices of this machine.
    Disk,
    /// On servers: nfs, lustre, gpfs, beegfs, ceph and others.
    Network,
    /// At the host of this virtual machine: 9p, virtiofs.
    Host,
    /// In memory: tmpfs, ramfs.
    Memory,
    /// In other file systems, or where this version does not know.
    #[default]
    #[serde(other)]
    Other,
}

impl Medium {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Network => "network",
            Self::Host => "host",
            Self::Memory => "memory",
            Self::Other => "other",
        }
    }
}

impl FileSystem {
    /// What stays the same over restarts: what is mounted, and where.
    pub fn key(&self) -> String {
        format!("mount:{}={}", self.mount, self.source)
    }

    /// What a profile may select by.
    pub fn facts(&self) -> Params {
        Facts::of("fs")
            .text("mount", Some(&self.mount))
            .text("source", Some(&self.source))
            .text("type", Some(&self.kind))
            .text("medium", Some(self.medium.word()))
            .flag("network", Some(self.medium == Medium::Network))
            .flag("read_only", Some(self.read_only))
            .size("size", self.size_bytes.known().copied())
            .size("available", self.available_bytes.known().copied())
            .number("fill_percent", self.fill_percent.known().copied())
            .done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Requirement;

    #[test]
    fn a_profile_can_ask_for_a_full_one() {
        let fs = FileSystem { fill_percent: Known::Known(62.5), ..FileSystem::default() };
        let half = Requirement { at_least: Some("50".parse().expect("a number")), ..Requirement::default() };
        let fill = fs.facts().get("fill_percent").cloned().expect("known");
        assert_eq!(half.met_by(&fill), Ok(true));
    }
}
