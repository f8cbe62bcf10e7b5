//! Mounted file systems, how full they are, and the disks under them.

mod medium;
mod mounts;

use std::collections::BTreeMap;

use seatrial_model::machine::{Disk, FileSystem, Known, Medium};
use seatrial_sys::root::space::Space;

use crate::disk::Stack;
use crate::reading::Reading;
use mounts::Mount;

/// Options that change what a benchmark measures; the others are defaults or matters of security.
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

/// Reads the mounts, and writes on each disk where file systems on it are mounted.
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
        note_mounts(disks, &found, &stack);
    }
    Known::Known(found)
}

/// The mounts of one file system together, the widest view first: the same files may be mounted in several places, and
/// parts of them (bind mounts) in many more.
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
        read_only: first.options.iter().any(|option| option == "ro"),
        options: first.options.iter().filter(wanted).cloned().collect(),
        disks: device.as_deref().map(|device| stack.disks(device)).unwrap_or_default(),
        device,
        source: first.source,
        kind: first.kind,
        ..FileSystem::default()
    }
}

fn fill(at: &mut Reading<'_>, one: &mut FileSystem, space: Known<Space>) {
    let sane = space.and_then(|space| {
        let Space { size_bytes: size, free_bytes: free, available_bytes: available } = space;
        if size == 0 {
            return Known::unknown("it tells no size");
        }
        if available <= free && free <= size {
            return Known::Known(space);
        }
        let text = format!("it says that of {size} bytes {free} are free and {available} can be written");
        at.remark(&format!("fs:{}", one.mount), &text);
        Known::Unknown(text)
    });
    one.size_bytes = sane.as_ref().map(|space| space.size_bytes);
    one.used_bytes = sane.as_ref().map(|space| space.size_bytes - space.free_bytes);
    one.available_bytes = sane.as_ref().map(|space| space.available_bytes);
    one.fill_percent = sane.and_then(|space| {
        let used = space.size_bytes - space.free_bytes;
        match used + space.available_bytes {
            0 => Known::unknown("all of it is kept for root"),
            // Tenths are as much as anybody needs, and what a record can show.
            whole => Known::Known((used as f64 / whole as f64 * 1000.0).round() / 10.0),
        }
    });
}

fn note_mounts(disks: &mut [Disk], found: &[FileSystem], stack: &Stack) {
    for one in found {
        let Some(device) = &one.device else { continue };
        let under = stack.under(device);
        for disk in disks.iter_mut().filter(|disk| under.contains(&disk.name)) {
            disk.mounts.push(one.mount.clone());
        }
    }
}
