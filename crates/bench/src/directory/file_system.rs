//! The file system of a directory that a person names, and those of a disk.

use seatrial_model::machine::{Disk, FileSystem, Machine, Medium};
use seatrial_model::{Cause, Reason};

/// The file system of a path: the one with the longest mount point that is a prefix of the path.
pub fn file_system_of<'a>(machine: &'a Machine, path: &str) -> Option<&'a FileSystem> {
    let all = machine.file_systems.known()?;
    let longest = all.iter().filter_map(|one| Some((one.mount_of(path)?.len(), one)));
    longest.max_by_key(|(len, _)| *len).map(|(_, one)| one)
}

/// The file systems that are on this disk alone.
pub fn on_disk<'a>(machine: &'a Machine, disk: &'a Disk) -> impl Iterator<Item = &'a FileSystem> {
    let all = machine.file_systems.listed().iter();
    all.filter(|one| one.medium == Medium::Disk && disk.mounts.contains(&one.mount))
}

/// Fill level of the file systems of a disk together, in percent of the space for ordinary users, as df(1) computes the
/// level of one. One unknown size makes the level unknown.
pub fn disk_fill_percent(machine: &Machine, disk: &Disk) -> Option<f64> {
    let space = |one: &FileSystem| Some((*one.used_bytes.known()?, *one.available_bytes.known()?));
    let spaces: Vec<(u64, u64)> = on_disk(machine, disk).map(space).collect::<Option<_>>()?;
    let (used, available) = spaces.iter().fold((0, 0), |sum, space| (sum.0 + space.0, sum.1 + space.1));
    let whole = used + available;
    (whole > 0).then(|| (used as f64 / whole as f64 * 1000.0).round() / 10.0)
}

pub fn require_usable(machine: &Machine, name: &str, path: &str) -> Result<(), Reason> {
    if path == "auto" {
        return Ok(());
    }
    if !path.starts_with('/') {
        return Err(Reason::new(
            Cause::Contradiction,
            format!("{name}={path}: must be a full path, or auto"),
        ));
    }
    match file_system_of(machine, path).filter(|found| found.read_only) {
        Some(found) => {
            Err(Reason::new(Cause::Denied, format!("{name}={path}: {}", mounted_read_only(found, path))))
        }
        None => Ok(()),
    }
}

/// That the file system of `path` is mounted read-only, and what to do.
pub fn mounted_read_only(found: &FileSystem, path: &str) -> String {
    let mount = found.mount_of(path).unwrap_or(&found.mount);
    format!(
        "{} is mounted read-only at {mount}; repair its error if `dmesg` shows one, then `mount -o remount,rw \
         {mount}`, or name another directory",
        found.source
    )
}
