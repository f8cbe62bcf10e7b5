//! Mounted file systems, their usage, and the disks below.

mod medium;
mod mounts;

use std::collections::BTreeMap;
use std::net::IpAddr;

use seatrial_model::machine::{Disk, FileSystem, Known, Medium};
use seatrial_sys::root::space::Space;

use crate::disk::Stack;
use crate::reading::Reading;
use mounts::Mount;

const OF_INTEREST: [&str; 22] = [
    "sync",
    "dirsync",
    "noatime",
    "nodiratime",
    "strictatime",
    "lazytime",
    "discard",
    "nobarrier",
    "barrier",
    "data",
    "commit",
    "stripe",
    "compress",
    "compress-force",
    "nodatacow",
    "dax",
    "vers",
    "proto",
    "rsize",
    "wsize",
    "nconnect",
    "flock",
];

/// Reads the mounts, and sets for each disk the mount points and the array that it is a member of.
pub(crate) fn read(at: &mut Reading<'_>, disks: &mut Known<Vec<Disk>>) -> Known<Vec<FileSystem>> {
    let mounts = match mounts::read(at) {
        Ok(mounts) => mounts,
        Err(error) => return Known::unknown(error.to_string()),
    };
    let stack = match disks {
        Known::Known(disks) => Stack::read(at.root, disks),
        Known::Unknown(_) => Stack::default(),
    };
    let mut found: Vec<FileSystem> = grouped(mounts).map(|mounts| file_system(mounts, &stack)).collect();
    found.sort_by(|a, b| a.mount.cmp(&b.mount));
    let asked: Vec<String> = found.iter().map(|one| one.mount.clone()).collect();
    for (one, space) in found.iter_mut().zip(at.process.spaces.of(&asked)) {
        fill(at, one, space);
    }
    if let Known::Known(disks) = disks {
        note_use(disks, &found, &stack);
    }
    Known::Known(found)
}

/// The mounts of each file system, widest view first; it may be mounted several times, also in parts.
fn grouped(mounts: Vec<Mount>) -> impl Iterator<Item = Vec<Mount>> {
    let mut groups: BTreeMap<(String, String), Vec<Mount>> = BTreeMap::new();
    for mount in mounts {
        groups.entry((mount.number.clone(), mount.kind.clone())).or_default().push(mount);
    }
    groups.into_values().map(|mut group| {
        group.sort_by(|a, b| {
            (a.subtree.len(), a.point.len(), &a.point).cmp(&(b.subtree.len(), b.point.len(), &b.point))
        });
        group
    })
}

fn file_system(mounts: Vec<Mount>, stack: &Stack) -> FileSystem {
    let mut points = mounts.iter().map(|mount| mount.point.clone());
    let (mount, also_at) = (points.next().unwrap_or_default(), points.collect());
    let Some(first) = mounts.into_iter().next() else { return FileSystem::default() };
    let medium = medium::of(&first.kind, &first.source);
    let device = stack.device(&first.number, &first.source).filter(|_| medium == Medium::Disk);
    let wanted = |option: &&String| OF_INTEREST.contains(&option.split('=').next().unwrap_or_default());
    FileSystem {
        mount,
        also_at,
        medium,
        became_read_only: first.became_read_only,
        read_only: first.options.iter().any(|option| option == "ro"),
        options: first.options.iter().filter(wanted).cloned().collect(),
        server: server(&first).filter(|_| medium == Medium::Network),
        disks: device.as_deref().map(|device| stack.disks(device)).unwrap_or_default(),
        device,
        source: first.source,
        kind: first.kind,
        ..FileSystem::default()
    }
}

/// Address of the server: of the kernel (`addr=`, of NFS and SMB), else at the start of the source where that is an
/// IP address (`10.0.0.1:/home`, `[fd00::1]:/home`, Lustre's `10.0.0.1@tcp:/scratch`). Other networks of Lustre
/// (`@o2ib`) do not use IP packets.
fn server(mount: &Mount) -> Option<String> {
    let is_address = |text: &&str| text.parse::<IpAddr>().is_ok();
    let told = mount.options.iter().find_map(|option| option.strip_prefix("addr="));
    let source = mount.source.trim_start_matches("//");
    let network = source.split([':', ',', '/']).next().and_then(|first| first.split_once('@'));
    let first = match source.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None if network.is_some_and(|(_, network)| !network.starts_with("tcp")) => None,
        None => source.split([':', '@', '/', ',']).next(),
    };
    told.filter(is_address).or(first.filter(is_address)).map(str::to_owned)
}

fn fill(at: &mut Reading<'_>, one: &mut FileSystem, space: Known<Space>) {
    let sane = space.and_then(|space| {
        let Space { size_bytes: size, free_bytes: free, available_bytes: available, .. } = space;
        if size == 0 {
            return Known::unknown("the file system reports no size");
        }
        if available <= free && free <= size {
            return Known::Known(space);
        }
        let text = format!("the file system reports {free} of {size} bytes free and {available} available");
        at.remark(&format!("fs:{}", one.mount), &text);
        Known::Unknown(text)
    });
    one.inode_fill_percent = sane.known().filter(|space| space.inodes > 0).map(|space| {
        let used = space.inodes.saturating_sub(space.free_inodes);
        (used as f64 / space.inodes as f64 * 1000.0).round() / 10.0
    });
    one.size_bytes = sane.as_ref().map(|space| space.size_bytes);
    one.used_bytes = sane.as_ref().map(|space| space.size_bytes - space.free_bytes);
    one.available_bytes = sane.as_ref().map(|space| space.available_bytes);
    one.fill_percent = sane.and_then(|space| {
        let used = space.size_bytes - space.free_bytes;
        match used + space.available_bytes {
            0 => Known::unknown("all of it is reserved for root"),
            whole => Known::Known((used as f64 / whole as f64 * 1000.0).round() / 10.0),
        }
    });
}

fn note_use(disks: &mut [Disk], found: &[FileSystem], stack: &Stack) {
    for disk in disks {
        let is_on = |one: &&FileSystem| {
            one.device.as_ref().is_some_and(|device| stack.is_on_alone(device, &disk.name))
        };
        disk.mounts = found.iter().filter(is_on).map(|one| one.mount.clone()).collect();
        disk.member_of = stack.member_of(&disk.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_told_by_its_number() {
        let told = |source: &str, options: &[&str]| {
            let options = options.iter().map(|option| (*option).to_owned()).collect();
            let (number, subtree, point) = ("0:50".to_owned(), "/".to_owned(), "/home".to_owned());
            let (kind, source) = ("nfs4".to_owned(), source.to_owned());
            server(&Mount { number, subtree, point, kind, source, options, became_read_only: false })
        };
        assert_eq!(told("head:/home", &["rw", "addr=10.1.2.3"]).as_deref(), Some("10.1.2.3"));
        assert_eq!(told("10.1.2.4:/home", &[]).as_deref(), Some("10.1.2.4"));
        assert_eq!(told("[fd00::1]:/home", &[]).as_deref(), Some("fd00::1"));
        assert_eq!(told("10.0.0.9@tcp:10.0.0.10@tcp:/scratch", &[]).as_deref(), Some("10.0.0.9"));
        assert_eq!(told("//10.0.0.7/share", &["addr=10.0.0.8"]).as_deref(), Some("10.0.0.8"));
        assert_eq!((told("head:/home", &[]), told("gpfs1", &["addr=x"])), (None, None));
        assert_eq!(told("10.4.0.1@o2ib:10.4.0.2@o2ib:/scratch", &[]), None);
    }
}
