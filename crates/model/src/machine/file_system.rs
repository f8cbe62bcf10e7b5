//! Mounted file systems.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Known;
use super::facts::Facts;
use crate::param::Params;

/// A file system mounted in this process's mount namespace. File systems without user data (proc, sysfs, cgroups and
/// others) are not listed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FileSystem {
    /// Mount point; the mount that shows the largest part where there are several.
    pub mount: String,
    /// Other mount points of the file system.
    pub also_at: Vec<String>,
    /// Source of the mount: a device, a server's path, a name.
    pub source: String,
    /// File system type in the kernel: `ext4`, `xfs`, `lustre`.
    pub kind: String,
    /// Where the data is stored.
    pub medium: Medium,
    /// Whether the mount is read-only.
    pub read_only: bool,
    /// Mount options that change what a benchmark measures: `sync`, `noatime`, `discard`, `nobarrier` and others.
    pub options: Vec<String>,
    /// Size of the file system in bytes.
    pub size_bytes: Known<u64>,
    /// Used space in bytes.
    pub used_bytes: Known<u64>,
    /// Space available to this user in bytes, without the reserve for root.
    pub available_bytes: Known<u64>,
    /// Used percentage of the space for ordinary users, as df(1) computes it.
    pub fill_percent: Known<f64>,
    /// Used percentage of the inodes; null where the file system does not tell their number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inode_fill_percent: Option<f64>,
    /// Whether it was mounted for writing and is read-only now, as file systems become after an error.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub became_read_only: bool,
    /// IP address of the server, where the mount tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The block device below: a disk, a partition, or a device made of others.
    pub device: Option<String>,
    /// The disks below, through all layers.
    pub disks: Vec<String>,
}

/// Where the data of a file system is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Medium {
    /// On block devices of this machine.
    Disk,
    /// On servers: nfs, lustre, gpfs, beegfs, ceph and others.
    Network,
    /// On the host of this virtual machine: 9p, virtiofs.
    Host,
    /// In memory: tmpfs, ramfs.
    Memory,
    /// In other file systems, or unknown.
    #[default]
    #[serde(other)]
    Other,
}

impl Medium {
    /// Name of the medium.
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
    /// Stable key of the file system: source and mount point.
    pub fn key(&self) -> String {
        format!("mount:{}={}", self.mount, self.source)
    }

    /// The mount point of `path`: the longest of this file system that is a prefix of it, as findmnt(8) names it.
    pub fn mount_of(&self, path: &str) -> Option<&str> {
        let is_below = |mount: &&String| {
            let rest = path.strip_prefix(mount.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let points = std::iter::once(&self.mount).chain(&self.also_at);
        points.filter(is_below).max_by_key(|mount| mount.len()).map(String::as_str)
    }

    /// The same file system with the mount point of `path`.
    #[must_use]
    pub fn seen_from(&self, path: &str) -> Self {
        let mut seen = self.clone();
        if let Some(mount) = self.mount_of(path).filter(|mount| *mount != self.mount) {
            seen.also_at.retain(|point| point != mount);
            seen.also_at.push(std::mem::replace(&mut seen.mount, mount.to_owned()));
        }
        seen
    }

    /// Names of the facts besides `kind`.
    pub const FACTS: &'static [&'static str] =
        &["mount", "source", "type", "medium", "network", "read_only", "size", "available", "fill_percent"];

    /// Facts that a profile may select by.
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

    /// As on a machine where parts of one device are mounted: the first in the alphabet says nothing of the others.
    #[test]
    fn a_path_is_on_the_longest_mount_point_before_it() {
        let fs = FileSystem {
            mount: "/etc".to_owned(),
            also_at: vec!["/var".to_owned(), "/var/lib".to_owned()],
            source: "/dev/vda".to_owned(),
            ..FileSystem::default()
        };
        assert_eq!(fs.mount_of("/var/tmp"), Some("/var"));
        assert_eq!(fs.mount_of("/var/lib/x"), Some("/var/lib"));
        assert_eq!((fs.mount_of("/variable"), fs.mount_of("/etc")), (None, Some("/etc")));
        let seen = fs.seen_from("/var/tmp");
        assert_eq!((seen.mount.as_str(), seen.key().as_str()), ("/var", "mount:/var=/dev/vda"));
        assert_eq!(seen.also_at, ["/var/lib", "/etc"]);
        assert_eq!(fs.seen_from("/home"), fs);
    }

    #[test]
    fn a_profile_can_ask_for_a_full_one() {
        let fs = FileSystem { fill_percent: Known::Known(62.5), ..FileSystem::default() };
        let half = Requirement { at_least: Some("50".parse().expect("a number")), ..Requirement::default() };
        let fill = fs.facts().get("fill_percent").cloned().expect("known");
        assert_eq!(half.met_by(&fill), Ok(true));
    }
}
