//! CPU time and CPUs that control groups leave to this process.

use super::locate::{Groups, Version, groups};
use crate::cpuset::CpuSet;
use crate::root::{ReadError, SysRoot};

/// A limit on CPU time: `quota_us` of CPU time in every `period_us` of wall time, over all CPUs together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuQuota {
    /// Folder of the group below its mount point; `/` for the mount point itself.
    pub group: String,
    pub quota_us: u64,
    pub period_us: u64,
}

impl CpuQuota {
    pub fn cpus(&self) -> f64 {
        self.quota_us as f64 / self.period_us as f64
    }
}

/// The tightest quota of all groups around this process; `None` without a quota.
pub fn cpu_quota(root: &SysRoot) -> Result<Option<CpuQuota>, ReadError> {
    let hierarchies = match groups(root, "cpu") {
        Err(error) if error.is_missing() => return Ok(None),
        groups => groups?,
    };
    let mut quotas = Vec::new();
    for groups in hierarchies {
        for path in &groups.paths {
            quotas.extend(quota(root, &groups, path)?);
        }
    }
    Ok(quotas.into_iter().min_by(|a, b| a.cpus().total_cmp(&b.cpus())))
}

fn quota(root: &SysRoot, groups: &Groups, path: &str) -> Result<Option<CpuQuota>, ReadError> {
    let (file, text) = match groups.version {
        Version::V1 => {
            let file = groups.file(path, "cpu.cfs_quota_us");
            let period = groups.file(path, "cpu.cfs_period_us");
            let both = root.text(&file).and_then(|quota| Ok(format!("{quota} {}", root.text(period)?)));
            (file, both)
        }
        Version::V2 => {
            let file = groups.file(path, "cpu.max");
            let text = root.text(&file);
            (file, text)
        }
    };
    let text = match text {
        Err(error) if error.is_missing() => return Ok(None),
        text => text?,
    };
    let garbage = || ReadError::garbage(&file, &text, "a quota and a period in microseconds");
    let (quota, period) = text.split_once(' ').ok_or_else(garbage)?;
    if matches!(quota, "max" | "-1") {
        return Ok(None);
    }
    let (quota_us, period_us) =
        (quota.parse().map_err(|_| garbage())?, period.trim().parse().map_err(|_| garbage())?);
    if period_us == 0 {
        return Err(garbage());
    }
    let group = if path.is_empty() { "/".to_owned() } else { path.to_owned() };
    Ok(Some(CpuQuota { group, quota_us, period_us }))
}

/// The CPUs of our cpuset as the kernel grants them; `None` where no cpuset confines this process.
pub fn cpus(root: &SysRoot) -> Result<Option<CpuSet>, ReadError> {
    let hierarchies = match groups(root, "cpuset") {
        Err(error) if error.is_missing() => return Ok(None),
        groups => groups?,
    };
    for groups in hierarchies {
        let own = groups.paths.first().map_or("", String::as_str);
        let name = match groups.version {
            Version::V1 => "cpuset.effective_cpus",
            Version::V2 => "cpuset.cpus.effective",
        };
        let file = groups.file(own, name);
        match root.text(&file) {
            Err(error) if error.is_missing() => {}
            text => {
                let text = text?;
                let set = text.parse().map_err(|_| ReadError::garbage(&file, &text, "a list of CPUs"))?;
                return Ok(Some(set));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cgroup::tests::tree;

    const V2: &str = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
    const V1: &str = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuset";

    #[test]
    fn takes_the_tightest_quota_on_the_way_up() {
        let (_dir, root) = tree(&[
            ("proc/self/cgroup", "0::/a/b"),
            ("proc/self/mountinfo", V2),
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000"),
            ("sys/fs/cgroup/a/cpu.max", "150000 100000"),
        ]);
        let quota = cpu_quota(&root).expect("read").expect("limited");
        assert_eq!((quota.group.as_str(), quota.cpus()), ("/a", 1.5));
    }

    #[test]
    fn reads_version_1_quota_and_cpuset() {
        let (_dir, root) = tree(&[
            ("proc/self/cgroup", "1:cpu,cpuset:/a"),
            ("proc/self/mountinfo", V1),
            ("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000"),
            ("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000"),
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"),
            ("sys/fs/cgroup/cpu/a/cpuset.effective_cpus", "0-3,8"),
        ]);
        assert_eq!(cpu_quota(&root).expect("read").map(|quota| quota.cpus()), Some(0.5));
        assert_eq!(cpus(&root).expect("read").map(|set| set.to_string()), Some("0-3,8".to_owned()));
    }

    #[test]
    fn takes_what_is_mounted_for_its_own_when_its_path_is_not_there() {
        let (_dir, root) = tree(&[
            ("proc/self/cgroup", "0::/host/slice"),
            ("proc/self/mountinfo", V2),
            ("sys/fs/cgroup/cpuset.cpus.effective", "0-1"),
        ]);
        assert_eq!(cpus(&root).expect("read").map(|set| set.to_string()), Some("0-1".to_owned()));
    }

    #[test]
    fn knows_no_limit_where_none_is_set_and_refuses_garbage() {
        let (_dir, root) = tree(&[]);
        assert_eq!((cpu_quota(&root), cpus(&root)), (Ok(None), Ok(None)));
        for garbage in ["5", "5 0", "five 100000", "100000 -1"] {
            let (_dir, root) = tree(&[
                ("proc/self/cgroup", "0::/a"),
                ("proc/self/mountinfo", V2),
                ("sys/fs/cgroup/a/cpu.max", garbage),
                ("sys/fs/cgroup/a/cpuset.cpus.effective", "3-1"),
            ]);
            assert!(cpu_quota(&root).is_err(), "{garbage}");
            assert!(cpus(&root).is_err());
        }
    }
}
