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
    /// Other directories that the file system is mounted at.
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
    /// Size of the file system in bytes.
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

    /// The mount point that `path` is below: the longest of all that the same file system has, as findmnt(8) names it.
    pub fn mount_of(&self, path: &str) -> Option<&str> {
        let is_below = |mount: &&String| {
            let rest = path.strip_prefix(mount.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let points = std::iter::once(&self.mount).chain(&self.also_at);
        points.filter(is_below).max_by_key(|mount| mount.len()).map(String::as_str)
    }

    /// The same file system as somebody sees it who works in `path`: mounted where that is.
    #[must_use]
    pub fn seen_from(&self, path: &str) -> Self {
        let mut seen = self.clone();
        if let Some(mount) = self.mount_of(path).filter(|mount| *mount != self.mount) {
            seen.also_at.retain(|point| point != mount);
            seen.also_at.push(std::mem::replace(&mut seen.mount, mount.to_owned()));
        }
        seen
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
