//! A file tree in memory for tests that read too many trees for a disk: fuzz targets read a million a minute.

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};

#[derive(Debug, Default)]
pub struct Tree {
    entries: BTreeMap<String, TreeEntry>,
    has_links: bool,
}

#[derive(Debug)]
pub(super) enum TreeEntry {
    Folder,
    File(Vec<u8>),
    Link(PathBuf),
}

impl Tree {
    /// Adds a file with its parent directories. Existing entries stay.
    pub fn file(&mut self, path: &str, contents: &[u8]) {
        self.add(path, TreeEntry::File(contents.to_vec()));
    }

    /// Adds a symbolic link with its parent directories. Existing entries stay.
    pub fn link(&mut self, path: &str, target: &str) {
        self.has_links = true;
        self.add(path, TreeEntry::Link(PathBuf::from(target)));
    }

    /// Ignores a path with `..` in it, or below a file.
    fn add(&mut self, path: &str, entry: TreeEntry) {
        let mut at = String::new();
        let mut parts = Path::new(path).components().filter(|part| *part != Component::RootDir).peekable();
        while let Some(part) = parts.next() {
            let Component::Normal(name) = part else { return };
            at = format!("{at}/{}", name.to_string_lossy());
            if parts.peek().is_none() {
                self.entries.entry(at).or_insert(entry);
                return;
            }
            if !matches!(self.entries.entry(at.clone()).or_insert(TreeEntry::Folder), TreeEntry::Folder) {
                return;
            }
        }
    }

    pub(super) fn at(&self, path: &Path) -> io::Result<&TreeEntry> {
        let path = path.to_str().unwrap_or_default();
        let found = if path == "/" { Some(&TreeEntry::Folder) } else { self.entries.get(path) };
        found.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(super) fn is_plain(&self, path: &Path) -> bool {
        !self.has_links || self.at(path).is_ok_and(|entry| !matches!(entry, TreeEntry::Link(_)))
    }

    pub(super) fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        if !matches!(self.at(folder)?, TreeEntry::Folder) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let start = format!("{}/", folder.to_str().unwrap_or_default().trim_end_matches('/'));
        let below = self.entries.range::<str, _>((Bound::Excluded(start.as_str()), Bound::Unbounded));
        let names = below.map_while(|(path, _)| path.strip_prefix(&start));
        Ok(names.filter(|name| !name.contains('/')).map(str::to_owned).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::root::{ReadError, SysRoot};

    use super::*;

    fn root() -> SysRoot {
        let mut tree = Tree::default();
        tree.file("/proc/stat", b"cpu 7\n");
        tree.file("/sys/devices/pci0/net/eth0/mtu", b"1500\n");
        tree.file("/sys/devices/pci0/net/eth0/statistics/rx", b"\xff");
        tree.link("/sys/class/net/eth0", "../../devices/pci0/net/eth0");
        tree.link("/sys/devices/pci0/net/eth0/device", "../..");
        tree.file("/proc/stat/below", b"");
        tree.file("/../out", b"");
        SysRoot::of(tree)
    }

    #[test]
    fn files_folders_and_links_are_found_as_on_a_disk() {
        let root = root();
        assert_eq!(root.text("/proc/stat").as_deref(), Ok("cpu 7"));
        assert_eq!(root.value("/sys/class/net/eth0/mtu"), Ok(1500));
        assert_eq!(
            root.list("/sys/class/net/eth0").map(|names| names.join(" ")).as_deref(),
            Ok("device mtu statistics")
        );
        assert_eq!(root.list("/").map(|names| names.join(" ")).as_deref(), Ok("proc sys"));
        assert_eq!(root.resolve("/sys/class/net/eth0/device").as_deref(), Ok("/sys/devices/pci0"));
        assert_eq!(root.link_name("/sys/class/net/eth0").as_deref(), Ok("eth0"));
        assert!(root.exists("/sys/class/net/eth0/device/net") && !root.exists("/sys/class/net/eth1"));
        assert!(!root.is_live());
    }

    #[test]
    fn what_is_missing_unreadable_and_garbage_is_told_as_of_a_disk() {
        let root = root();
        assert!(root.bytes("/proc/stat/below").unwrap_err().is_missing());
        assert!(root.bytes("/out").unwrap_err().is_missing());
        assert!(root.list("/proc/stat").unwrap_err().is_missing(), "as of a folder that is a file");
        assert!(matches!(root.bytes("/sys"), Err(ReadError::Unreadable { errno: crate::Errno::ISDIR, .. })));
        assert!(matches!(root.text("/sys/class/net/eth0/statistics/rx"), Err(ReadError::Garbage { .. })));
        assert!(root.link_name("/proc/stat").is_err());
    }

    /// Everything here sums or scales numbers of the kernel.
    #[test]
    fn numbers_as_large_as_they_get_are_read_without_an_overflow() {
        let most = u64::MAX.to_string();
        let numbers = vec![most.as_str(); 24].join(" ");
        let mut tree = Tree::default();
        for (path, text) in [
            ("/proc/stat", format!("cpu {numbers}\ncpu0 {numbers}\nprocs_running {most}\n")),
            ("/proc/self/stat", format!("7 (own) S 1 7 7 0 -1 0 {numbers}")),
            ("/proc/8/stat", format!("8 (own) S 1 7 7 0 -1 0 {numbers}")),
            ("/proc/9/stat", format!("9 (other) S 1 7 7 0 -1 0 {numbers}")),
            ("/proc/10/stat", format!("10 (other) S 1 7 7 0 -1 0 {numbers}")),
            (
                "/proc/thread-self/net/snmp",
                format!("Udp: InDatagrams NoPorts InErrors RcvbufErrors\nUdp: {numbers}\n"),
            ),
            ("/proc/thread-self/net/snmp6", format!("Udp6InErrors {most}\nUdp6RcvbufErrors {most}\n")),
            ("/proc/thread-self/net/softnet_stat", format!("{0} {0}\n{0} {0}\n", "ffffffffffffffff")),
            ("/qdisc/eth0", format!("tbf root dropped {most}\nfq root dropped {most}\n")),
            ("/sys/dev/block/8:0/stat", numbers.clone()),
        ] {
            tree.file(path, text.as_bytes());
        }
        let root = SysRoot::of(tree);
        let busy = crate::net::host_time(&root).map(|times| times.busy_ns());
        assert_eq!(busy, Ok(u64::MAX));
        let moved = crate::storage::moved_by_device(&root, crate::storage::Device { major: 8, minor: 0 });
        assert_eq!(moved.map(|moved| (moved.read, moved.written)), Ok((u64::MAX, u64::MAX)));
        let counted = crate::net::datagram::DatagramCounters::read(&root, Some("eth0")).counts;
        assert_eq!(counted["backlog_dropped"], u64::MAX);
        for probe in crate::probe::PROBES {
            probe.watch(&root).end();
        }
        let smaps = format!("1-2 rw-p\nRss: {most} kB\nRss: {most} kB\nPrivate_Hugetlb: {most} kB\n");
        crate::fuzz::texts(smaps.as_bytes());
    }

    #[test]
    fn another_tree_can_take_its_place_between_two_readings() {
        let root = root();
        let other = root.clone();
        root.change(Tree::default());
        assert!(other.bytes("/proc/stat").unwrap_err().is_missing());
    }
}
