//! The Debian packages that tests and comparisons need: the one place that lists them.
//!
//! Building Seatrial needs none of them. A package counts as present when its program is found, so that other
//! distributions are served as well; installing is tried only as root and only where there is `apt-get`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::interrupt::Interrupt;
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

/// The disassembler; building brings it along, and guests get programs stripped by it.
pub const BINUTILS: Package = Package {
    name: "binutils",
    program: "objdump",
    reason: "the kernel tests read the disassembly for the vector loads and the non-temporal stores",
};
/// A file system with quotas.
pub const BTRFS_PROGS: Package = Package {
    name: "btrfs-progs",
    program: "mkfs.btrfs",
    reason: "the tests of copies set a quota, which binds root too there",
};
/// The file systems of the fault tests and of the lab's nodes.
pub const E2FSPROGS: Package = Package {
    name: "e2fsprogs",
    program: "mkfs.ext4",
    reason: "the fault tests make a small file system and freeze it under a worker, the lab tests one a node",
};
/// mount(8).
pub const MOUNT: Package = Package {
    name: "mount",
    program: "mount",
    reason: "the fault tests and the lab tests mount file systems",
};
/// Namespaces from the command line, and more.
pub const UTIL_LINUX: Package = Package {
    name: "util-linux",
    program: "fsfreeze",
    reason: "the fault tests freeze a file system, and start processes that leave their group; the lab tests make \
             namespaces",
};
/// ip(8) and tc(8).
pub const IPROUTE2: Package =
    Package { name: "iproute2", program: "tc", reason: "the lab tests make and shape networks" };
/// ping(8).
pub const IPUTILS_PING: Package =
    Package { name: "iputils-ping", program: "ping", reason: "the lab tests count lost packets" };
const MUNGE: Package =
    Package { name: "munge", program: "munged", reason: "the lab tests run Slurm, which trusts it" };
/// nft(8).
pub const NFTABLES: Package =
    Package { name: "nftables", program: "nft", reason: "the lab tests drop an exact share of packets" };
const OPENMPI: Package =
    Package { name: "openmpi-bin", program: "mpirun", reason: "the lab tests start commands with mpirun" };
const OPENSSH_CLIENT: Package =
    Package { name: "openssh-client", program: "ssh", reason: "the lab tests reach nodes over ssh" };
const OPENSSH_SERVER: Package =
    Package { name: "openssh-server", program: "sshd", reason: "the lab tests run one a node" };
/// pkill(1).
pub const PROCPS: Package = Package {
    name: "procps",
    program: "pkill",
    reason: "the lab tests kill daemons by their name inside a node",
};
pub const CHROMIUM: Package =
    Package { name: "chromium", program: "chromium", reason: "tests open the HTML report in a real browser" };
/// Fetches packages of JavaScript.
pub const NPM: Package = Package {
    name: "npm",
    program: "npm",
    reason: "a test fetches the accessibility checker of the HTML report",
};
/// Fetches packages of Python.
pub const PIP: Package = Package {
    name: "python3-pip",
    program: "pip3",
    reason: "the tests of exports read them with readers of JUnit, Prometheus and Parquet, which it fetches",
};
/// systemd-nspawn(1), which starts systemd in a container.
pub const SYSTEMD: Package = Package {
    name: "systemd-container",
    program: "systemd-nspawn",
    reason: "a test starts systemd, whose timers restore settings",
};
/// strace(1).
pub const STRACE: Package = Package {
    name: "strace",
    program: "strace",
    reason: "a test watches that no disk is opened for writing",
};
/// zstd(1).
pub const ZSTD: Package =
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
/// A header without a program: it is looked for beside the folder of programs.
pub const IBVERBS_DEV: Package = Package {
    name: "libibverbs-dev",
    program: "../include/infiniband/verbs.h",
    reason: "a test compares our structures of libibverbs with its header",
};

/// The other MPI library of Debian; its programs have names of their own beside those of Open MPI.
const MPICH: Package = Package {
    name: "mpich",
    program: "mpiexec.mpich",
    reason: "the tests of MPI start ranks with every library",
};
const MPICH_DEV: Package = Package {
    name: "libmpich-dev",
    program: if cfg!(target_arch = "aarch64") {
        "../include/aarch64-linux-gnu/mpich/mpi.h"
    } else {
        "../include/x86_64-linux-gnu/mpich/mpi.h"
    },
    reason: "a test compares our constants of MPICH with its header",
};
const OPENMPI_DEV: Package = Package {
    name: "libopenmpi-dev",
    program: if cfg!(target_arch = "aarch64") {
        "../lib/aarch64-linux-gnu/openmpi/include/mpi.h"
    } else {
        "../lib/x86_64-linux-gnu/openmpi/include/mpi.h"
    },
    reason: "a test compares our constants of Open MPI with its header",
};

/// What the tests of MPI need; further libraries come from PyPI.
pub const MPI: &[Package] = &[OPENMPI, OPENMPI_DEV, MPICH, MPICH_DEV, PIP];

/// What the stage `emulated` of `cargo xtask ci` needs.
pub const EMULATED: &[Package] = &[Package {
    name: "qemu-user",
    program: "qemu-x86_64",
    reason: "unit tests and the binary run on emulated processors",
}];

/// What it needs besides for 64-bit Arm; the compiler itself is unpacked by `emulated`.
pub const EMULATED_ARM: &[Package] = &[
    Package {
        name: "gcc-aarch64-linux-gnu",
        program: "aarch64-linux-gnu-gcc",
        reason: "programs for 64-bit Arm are linked",
    },
    Package {
        name: "libc6-dev-arm64-cross",
        program: "../aarch64-linux-gnu/include/stdio.h",
        reason: "the C library of programs for 64-bit Arm",
    },
];

/// What `cargo xtask instructions` needs.
pub const INSTRUCTIONS: &[Package] = &[Package {
    name: "valgrind",
    program: "valgrind",
    reason: "the instructions of the hot loops are counted",
}];

/// What `cargo xtask fuzz` needs.
pub const FUZZ: &[Package] =
    &[Package { name: "g++", program: "c++", reason: "the engine of the fuzz targets, libFuzzer, is C++" }];

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
pub const LAB_TESTS: &[Package] = &[BTRFS_PROGS, IPUTILS_PING, PROCPS];

/// What makes the bare Debian of `cargo xtask fresh`.
pub const FRESH: &[Package] = &[
    Package { name: "mmdebstrap", program: "mmdebstrap", reason: "a bare Debian is made by it" },
    Package { name: "git", program: "git", reason: "the commit is cloned into the bare Debian" },
    UTIL_LINUX,
    MOUNT,
];

/// The services of packages that Debian starts when it installs them, and from then on with the machine. We do not: a
/// person who runs tests has not asked for a daemon.
const SERVICES: &[(Package, &[&str])] =
    &[(MUNGE, &["munge"]), (OPENSSH_SERVER, &["ssh"]), (SLURM, &["slurmctld", "slurmd"])];

/// Folders of system programs that the search path of a plain user leaves out.
const SYSTEM_FOLDERS: &[&str] = &["/usr/sbin", "/sbin"];

/// Installs what is missing of `packages` where that is possible, and says what is missing still.
///
/// # Errors
/// In continuous integration, when something is missing in the end; elsewhere never: the tests that need it
/// say that they were skipped.
pub fn ensure(packages: &[Package]) -> Result<()> {
    let missing = supplied(packages)?;
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
    let missing = supplied(packages)?;
    if missing.is_empty() {
        return Ok(());
    }
    bail!("{}", describe(&missing));
}

/// Installs what is missing where that is possible, and returns what is missing still.
///
/// # Errors
/// When a person interrupted it.
pub fn supplied(packages: &[Package]) -> Result<Vec<Package>> {
    let missing = missing_now(packages);
    if !missing.is_empty() && is_root() && has_apt() {
        install(&missing)?;
    }
    Ok(missing_now(&missing))
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

/// Whether we may do what only root may.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether packages are installed as on Debian.
pub fn has_apt() -> bool {
    Path::new("/usr/bin/apt-get").is_file()
}

/// Tries with the package lists at hand first: refreshing them is slow and often not needed. No daemon of theirs runs
/// afterwards, nor starts with the machine.
fn install(packages: &[Package]) -> Result<()> {
    let names: Vec<&str> = packages.iter().map(|package| package.name).collect();
    eprintln!("installing Debian packages, without starting their daemons: {}", names.join(" "));
    let interrupt = Interrupt::hold_back()?;
    let quiet = NoDaemons::forbid(Path::new("/usr/sbin/policy-rc.d"));
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive").args(["--quiet", "--yes"]).args(args);
        command
    };
    let mut get = apt(&["install", "--no-install-recommends"]);
    get.args(names);
    let mut done = workspace::run(&mut get);
    if done.is_err() && !interrupt.came() {
        done = workspace::run(&mut apt(&["update"])).and_then(|()| workspace::run(&mut get));
    }
    // Also of those that were installed before another one failed.
    let missing = missing_now(packages);
    for service in services(packages.iter().filter(|package| !missing.contains(package))) {
        done = done.and(workspace::run(&mut disable(service, Init::of_machine())));
    }
    if let Err(error) = done {
        // What is missing still is told by whoever asked.
        eprintln!("{error:#}");
    }
    drop(quiet);
    interrupt.check()
}

/// The services that came with `installed`.
fn services<'a>(installed: impl Iterator<Item = &'a Package>) -> Vec<&'static str> {
    let of = |package: &Package| SERVICES.iter().find(|(other, _)| other == package);
    installed.filter_map(of).flat_map(|(_, services)| services.iter().copied()).collect()
}

/// What starts services here.
#[derive(Clone, Copy)]
enum Init {
    Systemd,
    /// Systemd is installed and did not start this system: a container, or a root folder.
    SystemdAsleep,
    Scripts,
}

impl Init {
    fn of_machine() -> Self {
        // sd_booted(3).
        if Path::new("/run/systemd/system").is_dir() {
            Self::Systemd
        } else if Path::new("/usr/bin/systemctl").is_file() {
            Self::SystemdAsleep
        } else {
            Self::Scripts
        }
    }
}

/// Takes a service out of what starts with the machine, and stops it should a policy of the machine have let it start.
fn disable(service: &str, init: Init) -> Command {
    let (program, args): (_, &[&str]) = match init {
        Init::Systemd => ("systemctl", &["--quiet", "disable", "--now", service]),
        Init::SystemdAsleep => ("systemctl", &["--quiet", "disable", service]),
        Init::Scripts => ("update-rc.d", &[service, "disable"]),
    };
    let mut command = Command::new(program);
    command.args(args);
    command
}

/// Debian asks this script before a package starts its daemon; 101 is "forbidden" (its policy manual, and
/// invoke-rc.d(8)). Ours is there for as long as we install; one that is there already decides.
struct NoDaemons<'a> {
    script: Option<&'a Path>,
}

/// Says whose it is to a person who finds it after we were killed.
const FORBID: &[u8] = b"#!/bin/sh\n# By `cargo xtask`, while it installs packages.\nexit 101\n";

impl<'a> NoDaemons<'a> {
    fn forbid(script: &'a Path) -> Self {
        use std::os::unix::fs::OpenOptionsExt;
        let made = OpenOptions::new().write(true).create_new(true).mode(0o755).open(script);
        let written = made.and_then(|mut file| file.write_all(FORBID));
        let is_ours = written.is_ok() || std::fs::read(script).is_ok_and(|text| text == FORBID);
        Self { script: is_ours.then_some(script) }
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
    fn the_services_of_what_was_installed_are_kept_from_starting_and_no_others() {
        assert_eq!(services([OPENMPI, OPENSSH_SERVER, MUNGE].iter()), ["ssh", "munge"]);
        let shown = |init| workspace::show(&disable("ssh", init));
        assert_eq!(shown(Init::Systemd), "systemctl --quiet disable --now ssh");
        assert_eq!(shown(Init::SystemdAsleep), "systemctl --quiet disable ssh");
        assert_eq!(shown(Init::Scripts), "update-rc.d ssh disable");
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
    fn a_rule_of_ours_that_a_kill_left_behind_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("policy-rc.d");
        std::mem::forget(NoDaemons::forbid(&script));
        assert!(script.exists());
        drop(NoDaemons::forbid(&script));
        assert!(!script.exists());
    }
}
