//! Bytes and operations of block devices, to compare with a benchmark's own.

use std::collections::BTreeSet;

use super::{Counters, Counting, Difference};
use crate::root::SysRoot;

const PATH: &str = "/proc/diskstats";

/// Unit of the counters on every disk (Documentation/block/stat.rst).
const SECTOR: u64 = 512;

/// Completed bytes and operations of whole block devices, such as `read_bytes sda`
/// (Documentation/admin-guide/iostats.rst). Idle devices are left out, and partitions, whose disk counts the same.
pub(super) struct DiskStats;

impl Counting for DiskStats {
    fn id(&self) -> &'static str {
        "diskstats"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let empty = "there is no block device, or nothing counts it";
        Counters::of_lines(root, PATH, "a device with 11 numbers or more", empty, |counters, _, line| {
            let device = Device::read(line)?;
            if !device.is_partition(root) {
                device.count(counters);
            }
            Some(())
        })
    }

    fn between(&self, before: &Counters, after: &Counters) -> Difference {
        let mut all = after.since(before);
        let device = |name: &str| name.split_once(' ').map(|(_, device)| device.to_owned());
        let moving = all.counts.iter().filter(|(_, count)| **count > 0);
        let moving: BTreeSet<_> = moving.filter_map(|(name, _)| device(name)).collect();
        all.counts.retain(|name, _| device(name).is_some_and(|device| moving.contains(&device)));
        all
    }
}

struct Device<'a> {
    name: &'a str,
    reads: u64,
    read_sectors: u64,
    writes: u64,
    written_sectors: u64,
}

impl<'a> Device<'a> {
    /// Parses a line: major, minor, name, then requests, merges, sectors and milliseconds of reading, the same of
    /// writing, and more that differs between kernels.
    fn read(line: &'a str) -> Option<Self> {
        let mut fields = line.split_whitespace().skip(2);
        let name = fields.next()?;
        let numbers: Vec<u64> = fields.map(str::parse).collect::<Result<_, _>>().ok()?;
        let [reads, _, read_sectors, _, writes, _, written_sectors, _, _, _, _, ..] = numbers[..] else {
            return None;
        };
        Some(Self { name, reads, read_sectors, writes, written_sectors })
    }

    /// Whether sysfs has the device as a partition. sysfs replaces the slashes of device names.
    fn is_partition(&self, root: &SysRoot) -> bool {
        root.exists(format!("/sys/class/block/{}/partition", self.name.replace('/', "!")))
    }

    fn count(&self, counters: &mut Counters) {
        for (name, value) in [
            ("reads", self.reads),
            ("read_bytes", self.read_sectors.saturating_mul(SECTOR)),
            ("writes", self.writes),
            ("written_bytes", self.written_sectors.saturating_mul(SECTOR)),
        ] {
            counters.count(format!("{name} {}", self.name), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const BEFORE: &str = "\
   8       0 sda 100 5 2000 40 50 1 800 90 0 70 130 0 0 0 0 3 9
   8       1 sda1 90 5 1900 38 50 1 800 90 0 70 130 0 0 0 0 0 0
   7       0 loop0 3 0 24 1 0 0 0 0 0 1 1 0 0 0 0 0 0
 104       0 cciss/c0d0 7 0 56 1 0 0 0 0 0 1 1
";

    fn tree(text: &str) -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("proc")).expect("made");
        fs::create_dir_all(dir.path().join("sys/class/block/sda1")).expect("made");
        fs::write(dir.path().join("sys/class/block/sda1/partition"), "1\n").expect("written");
        fs::write(dir.path().join("proc/diskstats"), text).expect("written");
        let root = SysRoot::at(dir.path());
        (dir, root)
    }

    #[test]
    fn sectors_of_512_bytes_become_bytes_and_partitions_are_not_counted_twice() {
        let (_dir, root) = tree(BEFORE);
        let found = DiskStats.read(&root);
        assert_eq!(found.counts["read_bytes sda"], 2000 * 512);
        assert_eq!((found.counts["reads sda"], found.counts["writes sda"]), (100, 50));
        assert_eq!(found.counts["written_bytes sda"], 800 * 512);
        assert_eq!(found.counts["read_bytes cciss/c0d0"], 56 * 512);
        assert!(!found.counts.keys().any(|name| name.ends_with("sda1")));
        assert!(found.unreadable.is_empty());
    }

    #[test]
    fn devices_that_did_nothing_are_left_out_and_idle_directions_of_others_are_not() {
        let (_dir, root) = tree(BEFORE);
        let before = DiskStats.read(&root);
        let text = BEFORE.replace("sda 100 5 2000", "sda 110 5 4048");
        fs::write(root.locate(PATH), text).expect("written");
        let found = DiskStats.between(&before, &DiskStats.read(&root));
        let counts: Vec<_> = found.counts.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        let wanted =
            [("read_bytes sda", 2048 * 512), ("reads sda", 10), ("writes sda", 0), ("written_bytes sda", 0)];
        assert_eq!(counts, wanted);
    }

    #[test]
    fn a_line_that_is_cut_or_holds_words_is_told() {
        for text in ["", "8 0 sda 1 2 3\n", "8 0 sda 1 2 3 4 5 6 7 8 9 10 many\n"] {
            let (_dir, root) = tree(text);
            let found = DiskStats.read(&root);
            assert!(found.counts.is_empty() && found.unreadable.len() == 1, "{text:?}");
        }
    }
}
