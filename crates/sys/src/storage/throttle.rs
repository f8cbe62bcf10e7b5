//! I/O limits of the control groups around this process.
//!
//! Version 1 has `blkio.throttle.*` (cgroup-v1/blkio-controller.rst), version 2 `io.max` (cgroup-v2.rst); both
//! identify devices by number, mostly whole disks.

use super::Device;
use crate::cgroup::{Version, groups};
use crate::root::{ReadError, SysRoot};

/// Limits in bytes and requests (IOPS) per second; `None` without a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoThrottle {
    pub read_bytes: Option<u64>,
    pub written_bytes: Option<u64>,
    pub reads: Option<u64>,
    pub writes: Option<u64>,
}

impl IoThrottle {
    pub fn is_any(&self) -> bool {
        *self != Self::default()
    }

    fn tighten(&mut self, field: fn(&mut Self) -> &mut Option<u64>, limit: Option<u64>) {
        let own = field(self);
        *own = match (*own, limit) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
}

/// The limits on `device` and on its disk, from all groups around this process; none without cgroups.
pub fn throttle(root: &SysRoot, device: Device) -> Result<IoThrottle, ReadError> {
    let mut found = IoThrottle::default();
    let whole = device.whole(root).unwrap_or(device);
    let names = [device.to_string(), whole.to_string()];
    let of_us = |line: &str| names.iter().any(|name| line.split_whitespace().next() == Some(name));
    for (controller, version) in [("blkio", Version::V1), ("io", Version::V2)] {
        let hierarchies = match groups(root, controller) {
            Err(error) if error.is_missing() => continue,
            found => found?,
        };
        for groups in hierarchies.iter().filter(|groups| groups.version == version) {
            for path in &groups.paths {
                let read = |name: &str| match root.text(groups.file(path, name)) {
                    Err(error) if error.is_missing() => Ok(String::new()),
                    text => text,
                };
                if version == Version::V1 {
                    for (name, field) in V1 {
                        let text = read(name)?;
                        for line in text.lines().filter(|line| of_us(line)) {
                            found.tighten(*field, line.split_whitespace().nth(1).and_then(number));
                        }
                    }
                } else {
                    let text = read("io.max")?;
                    for word in text.lines().filter(|line| of_us(line)).flat_map(str::split_whitespace) {
                        let Some((key, value)) = word.split_once('=') else { continue };
                        if let Some((_, field)) = V2.iter().find(|(name, _)| *name == key) {
                            found.tighten(*field, number(value));
                        }
                    }
                }
            }
        }
    }
    Ok(found)
}

type Field = fn(&mut IoThrottle) -> &mut Option<u64>;

const V1: &[(&str, Field)] = &[
    ("blkio.throttle.read_bps_device", |throttle| &mut throttle.read_bytes),
    ("blkio.throttle.write_bps_device", |throttle| &mut throttle.written_bytes),
    ("blkio.throttle.read_iops_device", |throttle| &mut throttle.reads),
    ("blkio.throttle.write_iops_device", |throttle| &mut throttle.writes),
];

const V2: &[(&str, Field)] = &[
    ("rbps", |throttle| &mut throttle.read_bytes),
    ("wbps", |throttle| &mut throttle.written_bytes),
    ("riops", |throttle| &mut throttle.reads),
    ("wiops", |throttle| &mut throttle.writes),
];

fn number(word: &str) -> Option<u64> {
    word.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        let root = SysRoot::at(dir.path());
        (dir, root)
    }

    const DEVICE: Device = Device { major: 7, minor: 1 };

    #[test]
    fn the_tightest_of_all_groups_holds() {
        let (_dir, root) = tree(&[
            ("proc/self/cgroup", "3:blkio:/a/b\n"),
            ("proc/self/mountinfo", "31 23 0:28 / /cg rw - cgroup cgroup rw,blkio\n"),
            ("cg/a/b/blkio.throttle.read_bps_device", "8:0 5\n7:1 20971520\n"),
            ("cg/a/blkio.throttle.read_bps_device", "7:1 10485760\n"),
            ("cg/a/blkio.throttle.write_iops_device", "7:1 100\n"),
        ]);
        let found = throttle(&root, DEVICE).expect("read");
        let wanted = IoThrottle { read_bytes: Some(10_485_760), writes: Some(100), ..IoThrottle::default() };
        assert_eq!(found, wanted);
        assert!(!throttle(&root, Device { major: 9, minor: 9 }).expect("read").is_any());
    }

    #[test]
    fn the_second_version_has_one_line_a_device() {
        let (_dir, root) = tree(&[
            ("proc/self/cgroup", "0::/job\n"),
            ("proc/self/mountinfo", "31 23 0:28 / /cg rw - cgroup2 cgroup2 rw\n"),
            ("cg/job/io.max", "7:1 rbps=2097152 wbps=max riops=max wiops=120\n"),
        ]);
        let found = throttle(&root, DEVICE).expect("read");
        let wanted = IoThrottle { read_bytes: Some(2_097_152), writes: Some(120), ..IoThrottle::default() };
        assert_eq!(found, wanted);
    }

    #[test]
    fn without_control_groups_there_is_no_limit() {
        let (_dir, root) = tree(&[("proc/stat", "")]);
        assert_eq!(throttle(&root, DEVICE), Ok(IoThrottle::default()));
    }
}
