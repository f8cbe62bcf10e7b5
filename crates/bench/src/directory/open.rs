//! Opens the directory that a person names, or finds one.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, fstatfs, open};
use seatrial_model::{Cause, Reason};
use seatrial_sys::storage::scratch;

use super::error::{When, error};

/// Magic numbers of tmpfs and ramfs in statfs(2).
const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];

/// Directory for files when the current directory is in memory: files in it survive a reboot (Filesystem Hierarchy
/// Standard 5.15).
const OTHERWISE: &str = "/var/tmp";

/// Path, descriptor, and why it is not the current directory.
pub type Place = (PathBuf, OwnedFd, Option<String>);

/// Opens the directory `wanted`; `auto` is the current directory, unless it is in memory or takes no files.
///
/// # Errors
/// As [`place`].
pub fn opened(wanted: &str) -> Result<(PathBuf, OwnedFd), Reason> {
    let (path, at, _) = place(wanted)?;
    Ok((path, at))
}

/// Opens the directory `wanted`, and says why it is not the current one.
///
/// # Errors
/// When it cannot be opened, or with `auto` when no directory takes files.
pub fn place(wanted: &str) -> Result<Place, Reason> {
    if wanted == "auto" { automatic() } else { named(Path::new(wanted)) }
}

fn directory(path: &Path) -> Result<OwnedFd, Reason> {
    open(path, OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::PATH, Mode::empty())
        .map_err(|errno| error(When::Making, &format!("opening {}", path.display()), errno))
}

/// Opens the directory at `path`.
///
/// # Errors
/// When it cannot be opened.
pub fn named(path: &Path) -> Result<Place, Reason> {
    Ok((path.to_owned(), directory(path)?, None))
}

/// The current directory, unless it is in memory or takes no files: nobody asked for a memory test.
fn automatic() -> Result<Place, Reason> {
    let current = std::env::current_dir().map_err(|error| {
        Reason::new(
            Cause::Missing,
            format!("there is no current directory: {error}; name one with directory="),
        )
    })?;
    let why = match directory(&current).and_then(|at| usable(&at).map(|()| at)) {
        Ok(at) => return Ok((current, at, None)),
        Err(why) => format!("{}: {}", current.display(), why.text),
    };
    let other = PathBuf::from(OTHERWISE);
    match directory(&other).and_then(|at| usable(&at).map(|()| at)) {
        Ok(at) => Ok((other, at, Some(why))),
        Err(second) => {
            let text = format!(
                "no directory to make files in: {why}; {OTHERWISE}: {}; name one with directory=",
                second.text
            );
            Err(Reason::new(second.cause, text))
        }
    }
}

fn usable(at: &OwnedFd) -> Result<(), Reason> {
    let told = fstatfs(at).map_err(|errno| error(When::Making, "reading the file system type", errno))?;
    // The width of the type differs between architectures; the constants fit all.
    #[expect(clippy::useless_conversion, reason = "another width on other architectures")]
    if IN_MEMORY.contains(&i64::from(told.f_type)) {
        return Err(Reason::new(Cause::Missing, "the directory is in memory"));
    }
    scratch(at.as_fd(), false).map(drop).map_err(|errno| error(When::Making, "making a file", errno))
}
