//! The files that settings are written to.

use std::io;

use rustix::io::Errno;
use seatrial_sys::ethtool::Ethtool;
use seatrial_sys::gpu::nvml::Nvml;
use seatrial_sys::queueing;
use seatrial_sys::root::{ReadError, SysRoot};

use crate::found::written_form;

/// Files of the kernel. Tests put a kernel of their own, and the end of the process, in between.
pub trait KernelFiles {
    fn root(&self) -> &SysRoot;

    /// The text of a file, without white space at its end.
    fn text(&self, path: &str) -> Result<String, ReadError> {
        let root = self.root();
        match Place::of(path) {
            Place::File => root.text(path),
            Place::Driver { nic, number } => {
                Ethtool::of(root, nic).number(number).map(|number| number.to_string())
            }
            Place::Qdisc { nic } => queueing::read(root, nic),
            Place::Gpu { address, value } => Nvml::value(root, address, value),
        }
    }

    /// Writes `text` to a file that exists.
    fn write(&self, path: &str, text: &str) -> Result<(), Errno> {
        let (root, word) = (self.root(), text.trim());
        match Place::of(path) {
            Place::File => root.write(path, text),
            Place::Driver { nic, number } => {
                let value = word.parse().map_err(|_| Errno::INVAL)?;
                Ethtool::of(root, nic).set_number(number, value)
            }
            Place::Qdisc { nic } => queueing::set(root, nic, word),
            Place::Gpu { address, value } => Nvml::set_value(root, address, value, word),
        }
    }

    /// Writes a file that does not exist, and syncs it.
    fn create(&self, path: &str, text: &str) -> io::Result<()> {
        super::durable::create(self.root(), path, text)
    }

    /// Called after each step of the journal that outlives this process.
    fn step(&self) {}
}

/// What a path stands for. The kernel has no files for some values, which are read and written by calls.
#[derive(Debug, PartialEq)]
pub(super) enum Place<'p> {
    File,
    /// A number of a network driver, which ethtool sets: `/ethtool/eth0/rx_ring`.
    Driver {
        nic: &'p str,
        number: &'p str,
    },
    /// The root queueing discipline of an interface: `/qdisc/eth0`.
    Qdisc {
        nic: &'p str,
    },
    /// A value that the library of NVIDIA sets: `/gpu/0000:3b:00.0/persistence`.
    Gpu {
        address: &'p str,
        value: &'p str,
    },
}

impl<'p> Place<'p> {
    pub(super) fn of(path: &'p str) -> Self {
        let pair = |folder| path.strip_prefix(folder)?.split_once('/');
        if let Some((nic, number)) = pair("/ethtool/") {
            return Self::Driver { nic, number };
        }
        if let Some((address, value)) = pair("/gpu/") {
            return Self::Gpu { address, value };
        }
        path.strip_prefix("/qdisc/").map_or(Self::File, |nic| Self::Qdisc { nic })
    }
}

impl KernelFiles for SysRoot {
    fn root(&self) -> &SysRoot {
        self
    }
}

/// The paths that `path` stands for: `*` is a number in the name of a folder.
pub(super) fn expand(root: &SysRoot, path: &str) -> Result<Vec<String>, String> {
    let Some((start, end)) = path.split_once('*') else { return Ok(vec![path.to_owned()]) };
    let (folder, stem) = start.rsplit_once('/').unwrap_or_default();
    let numbers = root.numbered(folder, stem).map_err(|error| error.to_string())?;
    Ok(numbers.into_iter().map(|number| format!("{start}{number}{end}")).collect())
}

/// Whether two texts of a file set the same. The kernel separates numbers by tabs.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    written_form(one).split_whitespace().eq(written_form(other).split_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_holds_is_compared_in_the_form_in_which_it_is_written() {
        assert!(is_same("always [madvise] never\n", "madvise"));
        assert!(is_same("4096\t131072\t6291456\n", "4096 131072 6291456"));
        assert!(!is_same("always [madvise] never", "never"));
        assert_eq!(written_form(" 1\t2\n"), "1\t2");
    }

    #[test]
    fn what_is_no_file_is_known_by_its_first_folder() {
        let driver = Place::Driver { nic: "eth0", number: "rx_ring" };
        assert_eq!(Place::of("/ethtool/eth0/rx_ring"), driver);
        assert_eq!(Place::of("/qdisc/eth0"), Place::Qdisc { nic: "eth0" });
        let gpu = Place::Gpu { address: "0000:3b:00.0", value: "persistence" };
        assert_eq!(Place::of("/gpu/0000:3b:00.0/persistence"), gpu);
        assert_eq!(Place::of("/sys/class/net/eth0/mtu"), Place::File);
    }

    #[test]
    fn a_star_stands_for_each_number_that_is_there() {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["policy10", "policy2", "boost"] {
            std::fs::create_dir_all(dir.path().join("cpufreq").join(name)).expect("made");
        }
        let root = SysRoot::at(dir.path());
        let found = expand(&root, "/cpufreq/policy*/governor").expect("read");
        assert_eq!(found, ["/cpufreq/policy2/governor", "/cpufreq/policy10/governor"]);
        assert_eq!(expand(&root, "/n").expect("one"), ["/n"]);
        assert!(expand(&root, "/none/policy*/n").unwrap_err().contains("does not exist"));
    }
}
