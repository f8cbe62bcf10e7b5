//! The Debian packages that tests and comparisons need: the one place that lists them.
//!
//! Building Seatrial needs none of them. A package counts as present when its program is found, so that other
//! distributions are served as well; installing is tried only as root and only where there is `apt-get`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::workspace;

/// A Debian package and what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    /// The name in Debian.
    pub name: &'static str,
    /// A program of it; where it is found, the package is taken as present.
    pub program: &'static str,
    /// Who needs it and what for.
    pub reason: &'static str,
}

/// What `cargo xtask test` needs.
pub const TESTS: &[Package] = &[
    Package {
        name: "binutils",
        program: "objdump",
        reason: "the kernel tests read the disassembly for the vector loads and the non-temporal stores",
    },
    Package {
        name: "e2fsprogs",
        program: "mkfs.ext4",
        reason: "the fault tests make a small file system and freeze it under a worker",
    },
    Package { name: "mount", program: "mount", reason: "the fault tests mount that file system" },
    Package {
        name: "util-linux",
        program: "fsfreeze",
        reason: "the fault tests freeze that file system, and start processes that leave their group",
    },
];

/// Folders of system programs that the search path of a plain user leaves out.
const SYSTEM_FOLDERS: &[&str] = &["/usr/sbin", "/sbin"];

/// Installs what is missing of `packages` where that is possible, and says what is missing still.
///
/// # Errors
/// In continuous integration, when something is missing in the end; elsewhere never: the tests that need it
/// say that they were skipped.
pub fn ensure(packages: &[Package]) -> Result<()> {
    let mut missing = missing(packages, &search_path());
    if !missing.is_empty() && may_install() {
        install(&missing);
        missing = self::missing(&missing, &search_path());
    }
    if missing.is_empty() {
        return Ok(());
    }
    let text = describe(&missing);
    if workspace::is_ci() {
        bail!("{text}");
    }
    eprintln!("{text}");
    Ok(())
}

/// Those of `packages` whose program is in none of `folders`.
fn missing(packages: &[Package], folders: &[PathBuf]) -> Vec<Package> {
    let present = |package: &Package| folders.iter().any(|folder| folder.join(package.program).is_file());
    packages.iter().copied().filter(|package| !present(package)).collect()
}

fn search_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain(SYSTEM_FOLDERS.iter().map(PathBuf::from)).collect()
}

/// `/proc/self` belongs to the effective user.
fn may_install() -> bool {
    use std::os::unix::fs::MetadataExt;
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|status| status.uid() == 0);
    is_root && Path::new("/usr/bin/apt-get").is_file()
}

/// Tries with the package lists at hand first: refreshing them is slow and often not needed.
fn install(packages: &[Package]) {
    let names = packages.iter().map(|package| package.name);
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive").args(["--quiet", "--yes"]).args(args);
        command
    };
    let mut get = apt(&["install", "--no-install-recommends"]);
    get.args(names);
    if workspace::run(&mut get).is_err() {
        let refreshed = workspace::run(&mut apt(&["update"])).and_then(|()| workspace::run(&mut get));
        if let Err(error) = refreshed {
            eprintln!("{error:#}");
        }
    }
}

fn describe(missing: &[Package]) -> String {
    let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
    let reasons: String =
        missing.iter().map(|package| format!("\n  {:<12} {}", package.name, package.reason)).collect();
    format!("missing Debian packages; `apt-get install {}` as root supplies them:{reasons}", names.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[Package] = &[
        Package { name: "one", program: "first", reason: "to see" },
        Package { name: "two", program: "second", reason: "to hear" },
    ];

    #[test]
    fn a_package_is_missing_when_no_folder_has_its_program() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("first"), "").unwrap();
        let empty = tempfile::tempdir().unwrap();
        let folders = [empty.path().to_path_buf(), folder.path().to_path_buf()];
        assert_eq!(missing(TWO, &folders), &TWO[1..]);
        assert_eq!(missing(TWO, &folders[..1]), TWO);
    }

    #[test]
    fn the_remark_names_the_command_and_every_reason() {
        let text = describe(TWO);
        assert!(text.contains("`apt-get install one two`"), "{text}");
        assert!(text.contains("to see") && text.contains("to hear"), "{text}");
    }
}
