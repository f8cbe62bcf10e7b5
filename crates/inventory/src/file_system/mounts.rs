//! Mounts of this process, from `/proc/self/mountinfo` (proc_pid_mountinfo(5)).

use std::collections::BTreeMap;

use seatrial_sys::root::{ReadError, unescape};

use super::medium;
use crate::reading::Reading;

const MOUNTS: &str = "/proc/self/mountinfo";

/// Folders with mounts of the system; except /dev/shm, where programs put data.
const SYSTEM: [&str; 4] = ["/proc", "/sys", "/dev", "/run"];
const SHARED_MEMORY: &str = "/dev/shm";

/// Files that container engines bind-mount; not a place for data.
const OF_CONTAINERS: [&str; 3] = ["/etc/hosts", "/etc/hostname", "/etc/resolv.conf"];

pub(super) struct Mount {
    /// Device number, `8:2`; a virtual one for file systems without block device.
    pub number: String,
    /// The mounted part of the file system; `/` for all of it.
    pub subtree: String,
    pub point: String,
    pub kind: String,
    pub source: String,
    /// Options of the mount and of the file system, each once.
    pub options: Vec<String>,
    /// Whether the mount is for writing, and the file system is not.
    pub became_read_only: bool,
}

/// Mounts with user data; of several on one mount point the last, which hides the others.
pub(super) fn read(at: &mut Reading<'_>) -> Result<Vec<Mount>, ReadError> {
    // Mount points may be any bytes; one that is not UTF-8 must not hide the others.
    let bytes = at.root.bytes(MOUNTS)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut by_point: BTreeMap<String, Mount> = BTreeMap::new();
    let mut garbled = 0u32;
    for line in text.lines() {
        match parse(line) {
            Some(mount) => _ = by_point.insert(mount.point.clone(), mount),
            None => garbled += 1,
        }
    }
    if garbled > 0 {
        at.remark("fs", format!("{garbled} lines of {MOUNTS} are malformed"));
    }
    Ok(by_point.into_values().filter(|mount| !is_business_of_the_system(mount)).collect())
}

fn is_business_of_the_system(mount: &Mount) -> bool {
    let below = |folder: &&str| {
        mount.point.strip_prefix(*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    medium::is_pseudo(&mount.kind)
        || OF_CONTAINERS.contains(&mount.point.as_str())
        || (SYSTEM.iter().any(below) && mount.point != SHARED_MEMORY)
}

/// `36 35 98:0 / /mnt rw,noatime shared:1 - ext3 /dev/root rw,errors=continue`
fn parse(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(2);
    let (number, subtree, point, own) = (left.next()?, left.next()?, left.next()?, left.next()?);
    let mut right = right.split(' ');
    let (kind, source) = (right.next()?, right.next()?);
    let mut options: Vec<String> = Vec::new();
    let of_system = right.next().unwrap_or_default();
    let has = |options: &str, wanted| options.split(',').any(|option| option == wanted);
    let became_read_only = has(own, "rw") && has(of_system, "ro");
    for option in own.split(',').chain(of_system.split(',')) {
        if !option.is_empty() && !options.iter().any(|known| known == option) {
            options.push(option.to_owned());
        }
    }
    // Mount or file system may be read-only, independently.
    let is_number = number.split_once(':').is_some_and(|(major, minor)| {
        [major, minor].iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    });
    (is_number && point.starts_with('/')).then(|| Mount {
        number: number.to_owned(),
        subtree: unescape(subtree),
        point: unescape(point),
        kind: kind.to_owned(),
        source: unescape(source),
        options,
        became_read_only,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_line_with_blanks_and_optional_fields() {
        let line = r"36 35 8:2 /home /mnt/my\040disk ro,noatime shared:1 master:2 - xfs /dev/sda2 rw,noatime,swalloc";
        let mount = parse(line).expect("a mount");
        assert_eq!((mount.number.as_str(), mount.subtree.as_str()), ("8:2", "/home"));
        assert_eq!((mount.point.as_str(), mount.source.as_str()), ("/mnt/my disk", "/dev/sda2"));
        assert_eq!(mount.options, ["ro", "noatime", "rw", "swalloc"]);
        assert!(!mount.became_read_only);
        let lost = parse("36 35 8:2 / / rw,noatime - ext4 /dev/sda2 ro,errors=remount-ro").expect("a mount");
        assert!(lost.became_read_only);
    }

    #[test]
    fn refuses_lines_that_make_no_sense() {
        for line in ["", "36 35 8:2 /", "36 35 8:x / /mnt rw - xfs a", "36 35 8:2 / mnt rw - xfs a", "a - b"]
        {
            assert!(parse(line).is_none(), "{line:?}");
        }
    }

    #[test]
    fn leaves_the_system_its_own_mounts() {
        let at = |point: &str, kind: &str| {
            is_business_of_the_system(
                &parse(&format!("1 2 0:3 / {point} rw - {kind} none rw")).expect("a mount"),
            )
        };
        assert!(at("/run/user/0", "tmpfs") && at("/sys/fs/cgroup", "cgroup2") && at("/mnt/x", "autofs"));
        assert!(at("/etc/hosts", "ext4"));
        assert!(!at("/dev/shm", "tmpfs") && !at("/runs", "tmpfs") && !at("/", "overlay"));
    }
}
