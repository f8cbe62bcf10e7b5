//! Finds the directories of the control groups that this process is in, for each controller.

use crate::root::{ReadError, SysRoot, unescape};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    V1,
    V2,
}

/// The groups around this process in one hierarchy: its own first, the topmost visible one last.
#[derive(Debug, PartialEq, Eq)]
pub struct Groups {
    pub version: Version,
    pub mount: String,
    /// Paths below `mount`: `/a/b`, `/a`, `` (the mount point itself).
    pub paths: Vec<String>,
}

impl Groups {
    pub fn file(&self, path: &str, name: &str) -> String {
        format!("{}{path}/{name}", self.mount)
    }
}

/// The hierarchies that may hold `controller` for this process: version 1 where it is mounted, then version 2.
///
/// A controller belongs to exactly one hierarchy. In a mixed layout the unified hierarchy exists too but lacks the
/// controller's files, so callers take the first hierarchy that has the files.
pub fn groups(root: &SysRoot, controller: &str) -> Result<Vec<Groups>, ReadError> {
    let membership = root.text("/proc/self/cgroup")?;
    let mounts = root.text("/proc/self/mountinfo")?;
    let mut found = Vec::new();
    for version in [Version::V1, Version::V2] {
        let Some(path) = membership.lines().find_map(|line| member(line, version, controller)) else {
            continue;
        };
        for mount in mounts.lines().filter_map(Mount::parse).filter(|m| m.carries(version, controller)) {
            let own = inside(path, &mount.root);
            // Behind a namespace or a bind mount the path may not exist here: then the mount point is our group.
            let own = if root.exists(format!("{}{own}", mount.point)) { own } else { "" };
            found.push(Groups { version, mount: mount.point, paths: upwards(own) });
        }
    }
    Ok(found)
}

/// The path of `4:memory:/a/b` or `0::/a/b`, if the line is of that hierarchy.
fn member<'a>(line: &'a str, version: Version, controller: &str) -> Option<&'a str> {
    let mut fields = line.splitn(3, ':');
    let (id, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let fits = match version {
        Version::V1 => controllers.split(',').any(|name| name == controller),
        Version::V2 => id == "0" && controllers.is_empty(),
    };
    fits.then_some(path)
}

struct Mount<'a> {
    root: String,
    point: String,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    /// A line of proc_pid_mountinfo(5): `36 35 98:0 /root /point rw,noatime optional… - type source options`.
    fn parse(line: &'a str) -> Option<Self> {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (root, point) = (unescape(left.next()?), unescape(left.next()?));
        let mut right = right.split(' ');
        let (kind, options) = (right.next()?, right.nth(1)?);
        Some(Self { root, point, kind, options })
    }

    fn carries(&self, version: Version, controller: &str) -> bool {
        match version {
            Version::V1 => self.kind == "cgroup" && self.options.split(',').any(|name| name == controller),
            Version::V2 => self.kind == "cgroup2",
        }
    }
}

/// `path` relative to a mount of the subtree `mounted`: `` for its top, or where `path` lies outside.
fn inside<'a>(path: &'a str, mounted: &str) -> &'a str {
    let mounted = mounted.trim_end_matches('/');
    let rest = path.strip_prefix(mounted).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    // A cgroup namespace shows groups outside of its root as `/../…`.
    rest.filter(|rest| !rest.split('/').any(|part| part == ".."))
        .map_or("", |rest| rest.trim_end_matches('/'))
}

fn upwards(own: &str) -> Vec<String> {
    let mut paths = vec![own.to_owned()];
    let mut rest = own;
    while let Some(cut) = rest.rfind('/') {
        rest = &rest[..cut];
        paths.push(rest.to_owned());
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_up_to_the_mount_point() {
        assert_eq!(upwards("/a/b"), ["/a/b", "/a", ""]);
        assert_eq!(upwards(""), [""]);
    }

    #[test]
    fn sees_a_path_from_its_mount() {
        assert_eq!(inside("/", "/"), "");
        assert_eq!(inside("/a/b", "/"), "/a/b");
        assert_eq!(inside("/docker/x/job", "/docker/x"), "/job");
        assert_eq!(inside("/docker/xy", "/docker/x"), "");
        assert_eq!(inside("/../../a", "/"), "");
    }

    #[test]
    fn picks_the_line_of_the_controller() {
        assert_eq!(member("4:cpu,cpuacct:/a:b", Version::V1, "cpuacct"), Some("/a:b"));
        assert_eq!(member("4:cpuset:/a", Version::V1, "cpu"), None);
        assert_eq!(member("0::/x", Version::V2, "memory"), Some("/x"));
        assert_eq!(member("garbage", Version::V2, "memory"), None);
    }

    #[test]
    fn reads_mounts_with_blanks_and_optional_fields() {
        let line = r"31 23 0:28 / /a\040b rw shared:1 master:2 - cgroup cgroup rw,memory";
        let mount = Mount::parse(line).expect("a mount");
        assert_eq!((mount.point.as_str(), mount.kind), ("/a b", "cgroup"));
        assert!(mount.carries(Version::V1, "memory") && !mount.carries(Version::V1, "mem"));
        assert!(!mount.carries(Version::V2, "memory"));
        assert!(Mount::parse("31 23").is_none());
    }
}
