//! The Debian packages that tests and comparisons need: the one place that lists them.
//!
//! Building Seatrial needs none of them. A package counts as present when its program is found, so that other
//! distributions are served as well; installing is tried only as root and only where there is `apt-get`.

use std::fs::OpenOptions;
use std::io::Write;
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

/// The file systems of the fault tests and of the lab's nodes.
const E2FSPROGS: Package = Package {
    name: "e2fsprogs",
    program: "mkfs.ext4",
    reason: "the fault tests make a small file system and freeze it under a worker, the lab tests one a node",
};
const MOUNT: Package = Package {
    name: "mount",
    program: "mount",
    reason: "the fault tests and the lab tests mount file systems",
};
const UTIL_LINUX: Package = Package {
    name: "util-linux",
    program: "fsfreeze",
    reason: "the fault tests freeze a file system, and start processes that leave their group; the lab tests make \
             namespaces",
};
const IPROUTE2: Package =
    Package { name: "iproute2", program: "tc", reason: "the lab tests make and shape networks" };
const IPUTILS_PING: Package =
    Package { name: "iputils-ping", program: "ping", reason: "the lab tests count lost packets" };
const MUNGE: Package =
    Package { name: "munge", program: "munged", reason: "the lab tests run Slurm, which trusts it" };
const NFTABLES: Package =
    Package { name: "nftables", program: "nft", reason: "the lab tests drop an exact share of packets" };
const OPENMPI: Package =
    Package { name: "openmpi-bin", program: "mpirun", reason: "the lab tests start commands with mpirun" };
const OPENSSH_CLIENT: Package =
    Package { name: "openssh-client", program: "ssh", reason: "the lab tests reach nodes over ssh" };
const OPENSSH_SERVER: Package =
    Package { name: "openssh-server", program: "sshd", reason: "the lab tests run one a node" };
const PROCPS: Package = Package {
    name: "procps",
    program: "pkill",
    reason: "the lab tests kill daemons by their name inside a node",
};
const CHROMIUM: Package =
    Package { name: "chromium", program: "chromium", reason: "tests open the HTML report in a real browser" };
const NPM: Package = Package {
    name: "npm",
    program: "npm",
    reason: "a test fetches the accessibility checker of the HTML report",
};
const PIP: Package = Package {
    name: "python3-pip",
    program: "pip3",
    reason: "the tests of exports read them with readers of JUnit, Prometheus and Parquet, which it fetches",
};
const STRACE: Package = Package {
    name: "strace",
    program: "strace",
    reason: "a test watches that no disk is opened for writing",
};
const ZSTD: Package =
    Package { name: "zstd", program: "zstd", reason: "a test tries to compress what files are filled with" };
const SLURM: Package =
    Package { name: "slurm-wlm", program: "slurmctld", reason: "the lab tests run a real Slurm" };

const QEMU: Package = Package {
    name: "qemu-system-x86",
    program: "qemu-system-x86_64",
    reason: "guests with NUMA nodes, disks and soft-RoCE are emulated",
};
const BUSYBOX: Package =
    Package { name: "busybox-static", program: "busybox", reason: "the first program of a guest" };
const CPIO: Package =
    Package { name: "cpio", program: "cpio", reason: "the first files of a guest are packed" };
const KMOD: Package =
    Package { name: "kmod", program: "depmod", reason: "guests load modules of their kernel" };
const IBVERBS: Package = Package {
    name: "ibverbs-utils",
    program: "ibv_devinfo",
    reason: "guests have soft-RoCE, for which it brings libibverbs and the providers",
};
/// It has no program: its header is looked for beside the folder of programs.
const IBVERBS_DEV: Package = Package {
    name: "libibverbs-dev",
    program: "../include/infiniband/verbs.h",
    reason: "a test compares our structures of libibverbs with its header",
};

/// What the stage `emulated` of `cargo xtask ci` needs.
pub const EMULATED: &[Package] = &[Package {
    name: "qemu-user",
    program: "qemu-x86_64",
    reason: "unit tests and the binary run on emulated processors",
}];

/// What `cargo xtask test` needs.
pub const TESTS: &[Package] = &[
    Package {
        name: "binutils",
        program: "objdump",
        reason: "the kernel tests read the disassembly for the vector loads and the non-temporal stores",
    },
    E2FSPROGS,
    MOUNT,
    UTIL_LINUX,
    IPROUTE2,
    IPUTILS_PING,
    MUNGE,
    NFTABLES,
    OPENMPI,
    OPENSSH_CLIENT,
    OPENSSH_SERVER,
    PIP,
    PROCPS,
    SLURM,
    STRACE,
    ZSTD,
    CHROMIUM,
    NPM,
    QEMU,
    BUSYBOX,
    CPIO,
    KMOD,
    IBVERBS,
    IBVERBS_DEV,
];

/// What `cargo xtask lab` needs.
pub const LAB: &[Package] = &[
    E2FSPROGS,
    MOUNT,
    UTIL_LINUX,
    IPROUTE2,
    MUNGE,
    NFTABLES,
    OPENMPI,
    OPENSSH_CLIENT,
    OPENSSH_SERVER,
    SLURM,
];

/// What `cargo xtask guest` needs.
pub const GUEST: &[Package] =
    &[QEMU, BUSYBOX, CPIO, KMOD, IBVERBS, IPROUTE2, MOUNT, UTIL_LINUX, OPENSSH_CLIENT, OPENSSH_SERVER];

/// What the tests of the lab need besides.
pub const LAB_TESTS: &[Package] = &[IPUTILS_PING, PROCPS];

/// Packages with a daemon that Debian starts when it installs them, and from then on with the machine. That is not ours
/// to decide on a person's machine: there they are named, and installed in continuous integration only.
const WITH_DAEMONS: &[Package] = &[MUNGE, OPENSSH_SERVER, SLURM];

/// Folders of system programs that the search path of a plain user leaves out.
const SYSTEM_FOLDERS: &[&str] = &["/usr/sbin", "/sbin"];

/// Installs what is missing of `packages` where that is possible, and says what is missing still.
///
/// # Errors
/// In continuous integration, when something is missing in the end; elsewhere never: the tests that need it
/// say that they were skipped.
pub fn ensure(packages: &[Package]) -> Result<()> {
    let missing = supplied(packages);
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

/// As [`ensure`], for a task that can do nothing without.
///
/// # Errors
/// When something is missing in the end.
pub fn require(packages: &[Package]) -> Result<()> {
    let missing = supplied(packages);
    if missing.is_empty() {
        return Ok(());
    }
    bail!("{}", describe(&missing));
}

/// Installs what is missing where that is possible, and returns what is missing still.
fn supplied(packages: &[Package]) -> Vec<Package> {
    let missing = missing_now(packages);
    let wanted = installable(&missing, workspace::is_ci());
    if !wanted.is_empty() && may_install() {
        install(&wanted);
    }
    missing_now(&missing)
}

/// Those of `missing` that are installed without asking.
fn installable(missing: &[Package], is_ci: bool) -> Vec<Package> {
    missing.iter().copied().filter(|package| is_ci || !WITH_DAEMONS.contains(package)).collect()
}

/// Those of `packages` whose program is not found.
pub fn missing_now(packages: &[Package]) -> Vec<Package> {
    missing(packages, &search_path())
}

/// Those of `packages` whose program is in none of `folders`.
fn missing(packages: &[Package], folders: &[PathBuf]) -> Vec<Package> {
    let present = |package: &Package| folders.iter().any(|folder| folder.join(package.program).is_file());
    packages.iter().copied().filter(|package| !present(package)).collect()
}

/// The person's search path, and the folders of system programs.
pub fn search_path() -> Vec<PathBuf> {
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
    let _quiet = NoDaemons::forbid(Path::new("/usr/sbin/policy-rc.d"));
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

/// Debian asks this script before a package starts its daemon; 101 is "forbidden" (its policy manual, and
/// invoke-rc.d(8)). Ours is there for as long as we install; one that is there already decides.
struct NoDaemons<'a> {
    script: Option<&'a Path>,
}

impl<'a> NoDaemons<'a> {
    fn forbid(script: &'a Path) -> Self {
        use std::os::unix::fs::OpenOptionsExt;
        let made = OpenOptions::new().write(true).create_new(true).mode(0o755).open(script);
        let written = made.and_then(|mut file| file.write_all(b"#!/bin/sh\nexit 101\n"));
        Self { script: written.is_ok().then_some(script) }
    }
}

impl Drop for NoDaemons<'_> {
    fn drop(&mut self) {
        if let Some(script) = self.script {
            let _ = std::fs::remove_file(script);
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

    #[test]
    fn packages_with_daemons_are_installed_in_continuous_integration_only() {
        let missing = [OPENMPI, OPENSSH_SERVER];
        assert_eq!(installable(&missing, true), missing);
        assert_eq!(installable(&missing, false), [OPENMPI]);
    }

    #[test]
    fn daemons_are_forbidden_while_we_install_and_a_rule_that_is_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("policy-rc.d");
        let quiet = NoDaemons::forbid(&script);
        assert_eq!(Command::new(&script).status().unwrap().code(), Some(101));
        drop(quiet);
        assert!(!script.exists());
        std::fs::write(&script, "theirs").unwrap();
        drop(NoDaemons::forbid(&script));
        assert_eq!(std::fs::read_to_string(&script).unwrap(), "theirs");
    }

    #[test]
    fn the_tests_have_all_that_lab_and_guests_need() {
        assert!(LAB.iter().chain(LAB_TESTS).chain(GUEST).all(|package| TESTS.contains(package)));
    }
}
