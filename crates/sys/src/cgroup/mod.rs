//! Limits that control groups set on this process: memory, CPU time, CPUs.
//!
//! Versions 1 and 2, alone or mixed (Linux Documentation: admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst). Every
//! group from ours up to the mount point counts, since any of them may be the tightest.

mod cpu;
mod locate;
mod memory;

pub use cpu::{CpuQuota, cpu_quota, cpus};
pub use locate::Version;
pub(crate) use locate::groups;
pub use memory::{MemoryLimit, memory_limit};

#[cfg(test)]
mod tests {
    use crate::root::SysRoot;
    use std::fs;

    pub(super) fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, format!("{text}\n")).expect("written");
        }
        let root = SysRoot::at(dir.path());
        (dir, root)
    }

    #[test]
    fn reads_the_groups_of_this_process() {
        let root = SysRoot::live();
        if let Some(limit) = super::memory_limit(&root).expect("memory") {
            assert!(limit.limit_bytes > 0);
        }
        super::cpu_quota(&root).expect("quota");
        super::cpus(&root).expect("cpus");
    }
}
