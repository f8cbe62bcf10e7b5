//! Where a file system stores data, by type.

use seatrial_model::machine::Medium;

/// File systems without user data: kernel interfaces (Linux Documentation: filesystems/) and autofs.
const PSEUDO: [&str; 31] = [
    "proc",
    "sysfs",
    "devtmpfs",
    "devpts",
    "cgroup",
    "cgroup2",
    "securityfs",
    "debugfs",
    "tracefs",
    "configfs",
    "fusectl",
    "pstore",
    "efivarfs",
    "bpf",
    "mqueue",
    "hugetlbfs",
    "autofs",
    "binfmt_misc",
    "rpc_pipefs",
    "nsfs",
    "selinuxfs",
    "smackfs",
    "resctrl",
    "binder",
    "nfsd",
    "openpromfs",
    "spufs",
    "xenfs",
    "fuse.lxcfs",
    "fuse.gvfsd-fuse",
    "fuse.portal",
];

const NETWORK: [&str; 22] = [
    "nfs",
    "nfs4",
    "lustre",
    "gpfs",
    "beegfs",
    "ceph",
    "cifs",
    "smb3",
    "afs",
    "glusterfs",
    "fuse.glusterfs",
    "fuse.sshfs",
    "fuse.s3fs",
    "fuse.ceph-fuse",
    "fuse.juicefs",
    "orangefs",
    "pvfs2",
    "panfs",
    "wekafs",
    "daos",
    "fuse.daos",
    "fuse.dfuse",
];

const MEMORY: [&str; 2] = ["tmpfs", "ramfs"];
const HOST: [&str; 4] = ["9p", "virtiofs", "vboxsf", "fuse.vmhgfs-fuse"];

/// File systems on block devices that have no block device number, or no source in `/dev`.
const DISK: [&str; 3] = ["btrfs", "zfs", "bcachefs"];

pub(super) fn is_pseudo(kind: &str) -> bool {
    PSEUDO.contains(&kind)
}

pub(super) fn of(kind: &str, source: &str) -> Medium {
    match kind {
        _ if NETWORK.contains(&kind) => Medium::Network,
        _ if HOST.contains(&kind) => Medium::Host,
        _ if MEMORY.contains(&kind) => Medium::Memory,
        _ if DISK.contains(&kind) || source.starts_with("/dev/") => Medium::Disk,
        _ => Medium::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_servers_hosts_memory_and_disks_apart() {
        assert_eq!(of("lustre", "10.0.0.1@o2ib:/scratch"), Medium::Network);
        assert_eq!(of("virtiofs", "share"), Medium::Host);
        assert_eq!(of("tmpfs", "tmpfs"), Medium::Memory);
        assert_eq!(of("ext4", "/dev/root"), Medium::Disk);
        assert_eq!(of("zfs", "tank/home"), Medium::Disk);
        assert_eq!(of("overlay", "overlay"), Medium::Other);
    }
}
