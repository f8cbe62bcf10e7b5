//! The files that settings are written to.

use std::io;

use rustix::io::Errno;
use seatrial_sys::ethtool::Ethtool;
use seatrial_sys::root::{ReadError, SysRoot};

use crate::found::written_form;

/// Files of the kernel. Tests put a kernel of their own, and the end of the process, in between.
pub trait KernelFiles {
    fn root(&self) -> &SysRoot;

    /// The text of a file, without white space at its end.
    fn text(&self, path: &str) -> Result<String, ReadError> {
        match of_driver(path) {
            Some((nic, number)) => {
                Ethtool::of(self.root(), nic).number(number).map(|number| number.to_string())
            }
            None => self.root().text(path),
        }
    }

    /// Writes `text` to a file that exists.
    fn write(&self, path: &str, text: &str) -> Result<(), Errno> {
        match of_driver(path) {
            Some((nic, number)) => {
                let value = text.trim().parse().map_err(|_| Errno::INVAL)?;
                Ethtool::of(self.root(), nic).set_number(number, value)
            }
            None => self.root().write(path, text),
        }
    }

    /// Writes a file that does not exist, and syncs it.
    fn create(&self, path: &str, text: &str) -> io::Result<()> {
        super::durable::create(self.root(), path, text)
    }

    /// Called after each step of the journal that outlives this process.
    fn step(&self) {}
}

/// Interface and name of a number of a network driver, which ethtool sets: `/ethtool/eth0/rx_ring`.
pub(super) fn of_driver(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix("/ethtool/")?.split_once('/')
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
