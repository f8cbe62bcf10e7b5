//! The directory that a person names: what it is on, and how it is opened.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, fstatfs, open};
use seatrial_model::machine::{FileSystem, Machine};
use seatrial_model::{Cause, Reason};

use super::answer::refused;
use crate::Error;

/// File systems in memory (statfs(2): tmpfs, ramfs).
const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];

/// Where `auto` goes when the current directory is in memory.
const OTHERWISE: &str = "/var/tmp";

/// The file system that a path is on: that of the longest mount point before it.
pub fn file_system_of<'a>(machine: &'a Machine, path: &str) -> Option<&'a FileSystem> {
    let below = |mount: &str| {
        let rest = path.strip_prefix(mount.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let longest = |one: &FileSystem| {
        std::iter::once(&one.mount).chain(&one.also_at).filter(|mount| below(mount)).map(String::len).max()
    };
    let all = machine.file_systems.known()?;
    all.iter().filter_map(|one| Some((longest(one)?, one))).max_by_key(|(len, _)| *len).map(|(_, one)| one)
}

/// Checks what can be known of a named directory before anything starts.
///
/// # Errors
/// A path that is not full, or on a file system that takes no files.
pub fn require_usable(machine: &Machine, name: &str, path: &str) -> Result<(), Reason> {
    if path == "auto" {
        return Ok(());
    }
    if !path.starts_with('/') {
        return Err(Reason::new(
            Cause::Contradiction,
            format!("{name}={path}: it must be a full path, or auto"),
        ));
    }
    match file_system_of(machine, path).filter(|found| found.read_only) {
        Some(found) => {
            let text = format!("{name}={path}: {} is mounted read-only at {}", found.source, found.mount);
            Err(Reason::new(Cause::Denied, text))
        }
        None => Ok(()),
    }
}

/// Opens the directory called `wanted`; `auto` is the current one, unless that is in memory: memory is measured only
/// when somebody names it.
///
/// # Errors
/// When there is no such directory, or none that is not in memory.
pub fn opened(wanted: &str) -> Result<(PathBuf, OwnedFd), Error> {
    if wanted != "auto" {
        let path = PathBuf::from(wanted);
        let at = directory(&path)?;
        return Ok((path, at));
    }
    let current = std::env::current_dir();
    let current = current.map_err(|error| {
        Error::new(
            Cause::Missing,
            format!("there is no current directory: {error}; name one with directory="),
        )
    })?;
    for path in [current, PathBuf::from(OTHERWISE)] {
        let at = directory(&path)?;
        if !is_in_memory(&at)? {
            return Ok((path, at));
        }
    }
    let text =
        format!("the current directory and {OTHERWISE} are in memory; name a directory with directory=");
    Err(Error::new(Cause::Missing, text))
}

fn directory(path: &Path) -> Result<OwnedFd, Error> {
    open(path, OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY, Mode::empty())
        .map_err(|errno| refused(&format!("opening {}", path.display()), errno))
}

fn is_in_memory(at: &OwnedFd) -> Result<bool, Error> {
    let told = fstatfs(at).map_err(|errno| refused("asking for the file system", errno))?;
    // The type's width differs from one architecture to the next; the constants fit all.
    #[expect(clippy::useless_conversion, reason = "another width on other architectures")]
    Ok(IN_MEMORY.contains(&i64::from(told.f_type)))
}
