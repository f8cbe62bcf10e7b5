//! The file system of a directory that a person names.

use seatrial_model::machine::{FileSystem, Machine};
use seatrial_model::{Cause, Reason};

/// The file system of a path: the one with the longest mount point that is a prefix of the path.
pub fn file_system_of<'a>(machine: &'a Machine, path: &str) -> Option<&'a FileSystem> {
    let all = machine.file_systems.known()?;
    let longest = all.iter().filter_map(|one| Some((one.mount_of(path)?.len(), one)));
    longest.max_by_key(|(len, _)| *len).map(|(_, one)| one)
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
            let mount = found.mount_of(path).unwrap_or(&found.mount);
            let text = format!("{name}={path}: {} is mounted read-only at {mount}", found.source);
            Err(Reason::new(Cause::Denied, text))
        }
        None => Ok(()),
    }
}
