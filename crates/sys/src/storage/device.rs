//! The block device below a file, and its counters.

use std::fmt;
use std::os::fd::AsFd;

use rustix::fs::{FileType, fstat, major, minor};
use rustix::io::Errno;

use crate::root::{ReadError, SysRoot};

/// Unit of the counters on every disk (Documentation/block/stat.rst).
const SECTOR: u64 = 512;

/// Block device number. File systems on several devices, in memory or on servers have anonymous numbers without a
/// device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    pub major: u32,
    pub minor: u32,
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl Device {
    fn folder(self) -> String {
        format!("/sys/dev/block/{self}")
    }

    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// The kernel's device name; `None` when no such device exists.
    pub fn name(self, root: &SysRoot) -> Option<String> {
        root.link_name(self.folder()).ok()
    }

    pub fn whole(self, root: &SysRoot) -> Option<Self> {
        let folder = root.resolve(self.folder()).ok()?;
        if !root.exists(format!("{folder}/partition")) {
            return Some(self);
        }
        let above = folder.rsplit_once('/')?.0;
        let number = root.text(format!("{above}/dev")).ok()?;
        Self::parse(&number)
    }

    pub(super) fn logical_sector(self, root: &SysRoot) -> Option<u32> {
        root.value(format!("{}/queue/logical_block_size", self.whole(root)?.folder())).ok()
    }
}

/// The device that `file` is, or that its file system is on.
pub fn device_of(file: impl AsFd) -> Result<Device, Errno> {
    let told = fstat(file)?;
    let is_device = FileType::from_raw_mode(told.st_mode) == FileType::BlockDevice;
    let number = if is_device { told.st_rdev } else { told.st_dev };
    Ok(Device { major: major(number), minor: minor(number) })
}

pub fn polls(root: &SysRoot, device: Device) -> Result<bool, ReadError> {
    let whole = device.whole(root).unwrap_or(device);
    root.value::<u32>(format!("{}/queue/io_poll", whole.folder())).map(|flag| flag == 1)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    pub read: u64,
    pub written: u64,
    /// Milliseconds with a request in flight; 0 of a process.
    pub busy_ms: u64,
    /// Milliseconds of all requests in flight together; 0 of a process.
    pub queued_ms: u64,
}

impl Moved {
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            read: self.read.saturating_sub(earlier.read),
            written: self.written.saturating_sub(earlier.written),
            busy_ms: self.busy_ms.saturating_sub(earlier.busy_ms),
            queued_ms: self.queued_ms.saturating_sub(earlier.queued_ms),
        }
    }
}

/// Bytes of the device or partition since it appeared, of all processes.
pub fn moved_by_device(root: &SysRoot, device: Device) -> Result<Moved, ReadError> {
    let path = format!("{}/stat", device.folder());
    let text = root.text(&path)?;
    // Requests, merges, sectors, ms; the same for writing; then in flight, io_ticks, time_in_queue
    // (Documentation/block/stat.rst).
    let field = |number: usize| text.split_whitespace().nth(number)?.parse::<u64>().ok();
    match (field(2), field(6)) {
        (Some(read), Some(written)) => Ok(Moved {
            read: read.saturating_mul(SECTOR),
            written: written.saturating_mul(SECTOR),
            busy_ms: field(9).unwrap_or(0),
            queued_ms: field(10).unwrap_or(0),
        }),
        _ => Err(ReadError::garbage(&path, &text, "the counters of a block device")),
    }
}

/// Storage traffic caused by this process (proc_pid_io(5)).
pub fn moved_by_process(root: &SysRoot) -> Result<Moved, ReadError> {
    const PATH: &str = "/proc/self/io";
    let text = root.text(PATH)?;
    let value = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")?.parse::<u64>().ok())
    };
    match (value("read_bytes"), value("write_bytes")) {
        (Some(read), Some(written)) => Ok(Moved { read, written, ..Moved::default() }),
        _ => Err(ReadError::garbage(PATH, &text, "read_bytes and write_bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn tree() -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a folder");
        let disk = dir.path().join("sys/devices/pci/block/sda");
        fs::create_dir_all(disk.join("sda1")).expect("made");
        fs::create_dir_all(disk.join("queue")).expect("made");
        fs::create_dir_all(dir.path().join("sys/dev/block")).expect("made");
        let write = |path: &str, text: &str| fs::write(disk.join(path), text).expect("written");
        write("dev", "8:0\n");
        write("queue/logical_block_size", "4096\n");
        write("queue/io_poll", "0\n");
        write("sda1/partition", "1\n");
        write("sda1/stat", "  10 0 80 5 20 0 160 7 0 12 14 0 0 0 0\n");
        for (number, place) in [("8:0", "sda"), ("8:1", "sda/sda1")] {
            let target = format!("../../devices/pci/block/{place}");
            symlink(target, dir.path().join("sys/dev/block").join(number)).expect("linked");
        }
        let root = SysRoot::at(dir.path());
        (dir, root)
    }

    #[test]
    fn a_partition_has_counters_of_its_own_and_the_sector_of_its_disk() {
        let (_dir, root) = tree();
        let partition = Device { major: 8, minor: 1 };
        assert_eq!(partition.whole(&root), Some(Device { major: 8, minor: 0 }));
        assert_eq!(partition.logical_sector(&root), Some(4096));
        assert_eq!(partition.name(&root).as_deref(), Some("sda1"));
        let moved = Moved { read: 40_960, written: 81_920, busy_ms: 12, queued_ms: 14 };
        assert_eq!(moved_by_device(&root, partition), Ok(moved));
        assert_eq!(polls(&root, partition), Ok(false));
        let absent = Device { major: 0, minor: 42 };
        assert!(moved_by_device(&root, absent).expect_err("no such device").is_missing());
        assert_eq!((absent.name(&root), absent.whole(&root)), (None, None));
    }

    #[test]
    fn counts_of_a_process_are_read_by_their_names() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("proc/self")).expect("made");
        let text = "rchar: 9\nwchar: 8\nread_bytes: 4096\nwrite_bytes: 512\ncancelled_write_bytes: 3\n";
        fs::write(dir.path().join("proc/self/io"), text).expect("written");
        let root = SysRoot::at(dir.path());
        assert_eq!(moved_by_process(&root), Ok(Moved { read: 4096, written: 512, ..Moved::default() }));
        fs::write(dir.path().join("proc/self/io"), "rchar: 9\n").expect("written");
        assert!(matches!(moved_by_process(&root), Err(ReadError::Garbage { .. })));
    }
}
