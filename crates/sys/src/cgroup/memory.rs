//! The control group memory limit with the least room left for this process.

use super::locate::{Groups, Version, groups};
use crate::root::{ReadError, SysRoot};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    pub version: Version,
    /// Folder of the group below its mount point; `/` for the mount point itself.
    pub group: String,
    pub limit_bytes: u64,
    pub used_bytes: u64,
    /// Bytes that the kernel reclaims under pressure (inactive file pages).
    pub reclaimable_bytes: u64,
}

impl MemoryLimit {
    pub const fn left_bytes(&self) -> u64 {
        self.limit_bytes.saturating_sub(self.used_bytes.saturating_sub(self.reclaimable_bytes))
    }
}

/// The limit with the least room left, of all groups around this process; `None` without a limit or without cgroups.
///
/// Not the smallest limit: a parent with a larger limit and other children can be closer to its limit.
pub fn memory_limit(root: &SysRoot) -> Result<Option<MemoryLimit>, ReadError> {
    let hierarchies = match groups(root, "memory") {
        Err(error) if error.is_missing() => return Ok(None),
        groups => groups?,
    };
    let mut limits = Vec::new();
    for groups in hierarchies {
        for path in &groups.paths {
            limits.extend(limit(root, &groups, path)?);
        }
    }
    Ok(limits.into_iter().min_by_key(MemoryLimit::left_bytes))
}

fn limit(root: &SysRoot, groups: &Groups, path: &str) -> Result<Option<MemoryLimit>, ReadError> {
    let (limit, usage, reclaimable) = match groups.version {
        Version::V1 => ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        Version::V2 => ("memory.max", "memory.current", "inactive_file"),
    };
    // The root group of version 2 has no such file, nor has a hierarchy without the controller.
    let Some(mut limit_bytes) = bytes(root, &groups.file(path, limit))? else { return Ok(None) };
    if groups.version == Version::V2 {
        // Above `memory.high` the kernel throttles allocations, which spoils a measurement as well.
        limit_bytes = limit_bytes.min(bytes(root, &groups.file(path, "memory.high"))?.unwrap_or(u64::MAX));
    }
    let stat = statistics(root, &groups.file(path, "memory.stat"))?;
    // Version 1 reports the limits of ancestors even where they are not mounted here.
    limit_bytes = limit_bytes.min(stat("hierarchical_memory_limit").unwrap_or(u64::MAX));
    if limit_bytes >= UNLIMITED {
        return Ok(None);
    }
    Ok(Some(MemoryLimit {
        version: groups.version,
        group: if path.is_empty() { "/".to_owned() } else { path.to_owned() },
        limit_bytes,
        used_bytes: root.value(groups.file(path, usage))?,
        reclaimable_bytes: stat(reclaimable).unwrap_or(0),
    }))
}

/// Version 1 writes "no limit" as the largest number of whole pages, which depends on the page size.
const UNLIMITED: u64 = 1 << 62;

/// A number of bytes or `max`; `None` where the file is missing.
fn bytes(root: &SysRoot, path: &str) -> Result<Option<u64>, ReadError> {
    match root.text(path) {
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
        Ok(text) if text == "max" => Ok(Some(u64::MAX)),
        Ok(text) => text.parse().map(Some).map_err(|_| ReadError::garbage(path, &text, "bytes or max")),
    }
}

fn statistics(root: &SysRoot, path: &str) -> Result<impl Fn(&str) -> Option<u64> + use<>, ReadError> {
    let text = match root.text(path) {
        Err(error) if error.is_missing() => String::new(),
        text => text?,
    };
    Ok(move |key: &str| {
        text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cgroup::tests::tree;

    const V2: &str = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
    const V1: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory";

    #[test]
    fn takes_the_group_that_leaves_least_not_the_smallest_limit() {
        let (_dir, root) = tree(&[
            ("proc/self/cgroup", "0::/slurm/job/step"),
            ("proc/self/mountinfo", V2),
            ("sys/fs/cgroup/slurm/job/step/memory.max", "1000"),
            ("sys/fs/cgroup/slurm/job/step/memory.current", "100"),
            ("sys/fs/cgroup/slurm/job/memory.max", "4000"),
            ("sys/fs/cgroup/slurm/job/memory.current", "3900"),
            ("sys/fs/cgroup/slurm/job/memory.stat", "anon 3600\ninactive_file 300\n"),
            ("sys/fs/cgroup/slurm/memory.max", "max"),
        ]);
        let limit = memory_limit(&root).expect("read").expect("limited");
        assert_eq!((limit.group.as_str(), limit.limit_bytes, limit.left_bytes()), ("/slurm/job", 4000, 400));
        assert_eq!((limit.version, limit.reclaimable_bytes), (Version::V2, 300));
    }

    #[test]
    fn counts_the_brake_of_version_2_as_a_limit() {
        let (_dir, root) = tree(&[
            ("proc/self/cgroup", "0::/a"),
            ("proc/self/mountinfo", V2),
            ("sys/fs/cgroup/a/memory.max", "max"),
            ("sys/fs/cgroup/a/memory.high", "500"),
            ("sys/fs/cgroup/a/memory.current", "20"),
        ]);
        assert_eq!(memory_limit(&root).expect("read").map(|limit| limit.limit_bytes), Some(500));
    }

    #[test]
    fn reads_version_1_beside_an_empty_version_2() {
        let unlimited = "9223372036854771712";
        let (_dir, root) = tree(&[
            ("proc/self/cgroup", "4:memory:/a/b\n0::/"),
            (
                "proc/self/mountinfo",
                &format!("{V1}\n38 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 none rw"),
            ),
            ("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", unlimited),
            ("sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "70"),
            (
                "sys/fs/cgroup/memory/a/b/memory.stat",
                "cache 5\nhierarchical_memory_limit 800\ntotal_inactive_file 10",
            ),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", unlimited),
            ("sys/fs/cgroup/unified/cgroup.procs", ""),
        ]);
        let limit = memory_limit(&root).expect("read").expect("limited");
        assert_eq!((limit.group.as_str(), limit.limit_bytes, limit.left_bytes()), ("/a/b", 800, 740));
    }

    #[test]
    fn looks_at_the_mount_point_when_the_path_is_of_another_namespace() {
        let (_dir, root) = tree(&[
            ("proc/self/cgroup", "4:memory:/docker/abc"),
            (
                "proc/self/mountinfo",
                "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory",
            ),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "900"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "0"),
        ]);
        let limit = memory_limit(&root).expect("read").expect("limited");
        assert_eq!((limit.group.as_str(), limit.limit_bytes), ("/", 900));
    }

    #[test]
    fn tells_no_limit_from_an_unreadable_one() {
        let (_dir, root) = tree(&[("proc/self/cgroup", "0::/"), ("proc/self/mountinfo", V2)]);
        assert_eq!(memory_limit(&root), Ok(None));
        let (_dir, root) = tree(&[]);
        assert_eq!(memory_limit(&root), Ok(None));
        let (_dir, root) = tree(&[
            ("proc/self/cgroup", "0::/a"),
            ("proc/self/mountinfo", V2),
            ("sys/fs/cgroup/a/memory.max", "plenty"),
        ]);
        assert!(matches!(memory_limit(&root), Err(ReadError::Garbage { .. })));
    }
}
