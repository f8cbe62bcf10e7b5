//! The groups of tests that need root or Debian packages, and what a person reads where they cannot run.

use crate::packages::{self, Package};

/// Tests that need the same.
struct Group {
    name: &'static str,
    needs_root: bool,
    packages: &'static [&'static [Package]],
}

const GROUPS: &[Group] = &[
    Group {
        name: "clusters of network namespaces, with ssh, Slurm and MPI",
        needs_root: true,
        packages: &[packages::LAB, packages::LAB_TESTS],
    },
    Group {
        name: "networks in namespaces: UDP, lost packets, shapers",
        needs_root: true,
        packages: &[&[packages::IPROUTE2, packages::NFTABLES, packages::UTIL_LINUX]],
    },
    Group {
        name: "file systems that are full, frozen or throttled",
        needs_root: true,
        packages: &[&[packages::E2FSPROGS, packages::MOUNT, packages::UTIL_LINUX]],
    },
    Group {
        name: "settings that systemd restores",
        needs_root: true,
        packages: &[&[packages::SYSTEMD, packages::UTIL_LINUX, packages::PROCPS]],
    },
    Group { name: "real-time priorities and the kernel's log", needs_root: true, packages: &[] },
    Group {
        name: "virtual machines with NUMA nodes, disks and RDMA",
        needs_root: false,
        packages: &[packages::GUEST, &[packages::E2FSPROGS, packages::IPUTILS_PING]],
    },
    Group {
        name: "the HTML report in a browser",
        needs_root: false,
        packages: &[&[packages::CHROMIUM, packages::NPM]],
    },
    Group { name: "MPI libraries", needs_root: false, packages: &[packages::MPI] },
    Group { name: "exports in other programs", needs_root: false, packages: &[&[packages::PIP]] },
    Group {
        name: "machine code, system calls, compression, headers",
        needs_root: false,
        packages: &[&[packages::BINUTILS, packages::STRACE, packages::ZSTD, packages::IBVERBS_DEV]],
    },
];

/// What all groups need, each once.
pub fn packages() -> Vec<Package> {
    let mut all: Vec<Package> = Vec::new();
    for package in GROUPS.iter().flat_map(|group| group.packages.concat()) {
        if !all.contains(&package) {
            all.push(package);
        }
    }
    all
}

/// What the person may do.
#[derive(Clone, Copy)]
pub struct Rights {
    pub is_root: bool,
    /// The system installs packages as Debian does.
    pub has_apt: bool,
}

/// The groups that cannot run, each with what it lacks, and the command that lets them. None when all can.
pub fn not_run(missing: &[Package], rights: Rights) -> Option<String> {
    let rows: Vec<String> = GROUPS.iter().filter_map(|group| row(group, missing, rights.is_root)).collect();
    if rows.is_empty() {
        return None;
    }
    let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
    let by_hand = format!("the programs of these Debian packages: {}", names.join(" "));
    let command = match rights {
        Rights { is_root: false, has_apt: true } => {
            format!("{AS_ROOT}\nruns them too: as root it installs what is missing, and starts no daemon.")
        }
        Rights { is_root: false, has_apt: false } if missing.is_empty() => {
            format!("{AS_ROOT}\nruns them too.")
        }
        Rights { is_root: false, has_apt: false } => {
            format!("{AS_ROOT}\nruns them too, once the system has {by_hand}")
        }
        Rights { is_root: true, has_apt: true } => {
            format!("  apt-get install --no-install-recommends {}\nlets them run.", names.join(" "))
        }
        Rights { is_root: true, has_apt: false } => format!("They run once the system has {by_hand}"),
    };
    Some(format!("These groups of tests cannot run here and are skipped:\n{}\n{command}", rows.join("\n")))
}

/// The search path goes along, because sudo has one of its own, without the Rust toolchain of a person.
const AS_ROOT: &str = r#"  sudo -E env "PATH=$PATH" cargo xtask test"#;

/// A group that cannot run, in a line.
fn row(group: &Group, missing: &[Package], is_root: bool) -> Option<String> {
    let root = (group.needs_root && !is_root).then_some("root");
    let lacks = group.packages.iter().copied().flatten().filter(|package| missing.contains(package));
    let lacks: Vec<&str> = root.into_iter().chain(lacks.map(|package| package.name)).collect();
    (!lacks.is_empty()).then(|| format!("  {:<56}needs {}", group.name, lacks.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: Rights = Rights { is_root: false, has_apt: true };
    const ROOT: Rights = Rights { is_root: true, has_apt: true };

    #[test]
    fn a_plain_user_reads_every_group_once_with_what_it_lacks_and_one_command() {
        let text = not_run(&[packages::PIP, packages::NFTABLES], USER).unwrap();
        let wanted = "\
These groups of tests cannot run here and are skipped:
  clusters of network namespaces, with ssh, Slurm and MPI needs root nftables
  networks in namespaces: UDP, lost packets, shapers      needs root nftables
  file systems that are full, frozen or throttled         needs root
  settings that systemd restores                          needs root
  real-time priorities and the kernel's log               needs root
  MPI libraries                                           needs python3-pip
  exports in other programs                               needs python3-pip
  sudo -E env \"PATH=$PATH\" cargo xtask test
runs them too: as root it installs what is missing, and starts no daemon.";
        assert_eq!(text, wanted);
    }

    #[test]
    fn root_reads_what_could_not_be_installed_and_nothing_where_all_is_there() {
        assert_eq!(not_run(&[], ROOT), None);
        let text = not_run(&[packages::PIP], ROOT).unwrap();
        assert!(text.contains("exports in other programs") && !text.contains("needs root"), "{text}");
        assert!(
            text.ends_with("  apt-get install --no-install-recommends python3-pip\nlets them run."),
            "{text}"
        );
    }

    #[test]
    fn where_there_is_no_apt_nobody_is_told_to_use_it() {
        for is_root in [false, true] {
            let text = not_run(&[packages::PIP], Rights { is_root, has_apt: false }).unwrap();
            assert!(!text.contains("apt-get") && text.contains("Debian packages: python3-pip"), "{text}");
            assert_eq!(text.contains("sudo"), !is_root, "{text}");
        }
        let text = not_run(&[], Rights { is_root: false, has_apt: false }).unwrap();
        assert!(text.ends_with("runs them too."), "{text}");
    }

    #[test]
    fn the_groups_have_every_package_of_lab_and_guests_once() {
        let all = packages();
        let needed = [packages::LAB, packages::LAB_TESTS, packages::GUEST].concat();
        assert!(needed.iter().all(|package| all.contains(package)));
        let mut names: Vec<&str> = all.iter().map(|package| package.name).collect();
        names.sort_unstable();
        let with_twins = names.len();
        names.dedup();
        assert_eq!(names.len(), with_twins);
    }
}
