//! Removing a folder of a test and what a test makes in it, and nothing else.
//!
//! Everything is reached from the open folder above it and never through a link (openat(2), O_NOFOLLOW), so that whoever
//! moves things about meanwhile cannot lead the removal elsewhere.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, open, openat, statat, unlinkat};
use rustix::io::Errno;

use super::MANIFEST;

/// What is in a folder of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// Files, the manifest among them.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What to do with what is met.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aim {
    Look,
    Remove,
}

/// What is in the folder at `path`.
///
/// # Errors
/// What is in it that no test makes, or what the system answers, as a fragment.
pub fn inside(path: &Path) -> Result<Inside, String> {
    walk(path, Aim::Look)
}

/// Removes the folder at `path` with what is in it, the manifest last; what was removed. Looks first: where something is in
/// it that no test makes, nothing is removed.
///
/// # Errors
/// As [`inside`]. What is left then has its manifest still.
pub fn remove(path: &Path) -> Result<Inside, String> {
    inside(path)?;
    let removed = walk(path, Aim::Remove)?;
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or("it has no name")?;
    let above =
        open(above, FOLDER, Mode::empty()).map_err(|errno| failed(&above.display(), "opening", errno))?;
    unlinkat(&above, name, AtFlags::REMOVEDIR).map_err(|errno| failed(&path.display(), "removing", errno))?;
    Ok(removed)
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

fn walk(path: &Path, aim: Aim) -> Result<Inside, String> {
    let shown = path.display();
    let folder = open(path, FOLDER | OFlags::NOFOLLOW, Mode::empty());
    let folder = folder.map_err(|errno| failed(&shown, "opening", errno))?;
    let about = fstat(&folder).map_err(|errno| failed(&shown, "looking at", errno))?;
    let mut found = Inside::default();
    let mut manifest = None;
    for name in names(&folder).map_err(|errno| failed(&shown, "listing", errno))? {
        let text = name.to_string_lossy().into_owned();
        let inner = look(folder.as_fd(), &name, &about)?;
        match FileType::from_raw_mode(inner.st_mode) {
            FileType::RegularFile if text == MANIFEST => manifest = Some((name, inner)),
            FileType::RegularFile if is_numbered(&text, "part", 1) => {
                take(folder.as_fd(), &name, &inner, aim, &mut found)?;
            }
            FileType::Directory if text == "shared" || is_numbered(&text, "thread", 1) => {
                let below = openat(&folder, name.as_c_str(), FOLDER | OFlags::NOFOLLOW, Mode::empty());
                let below = below.map_err(|errno| failed(&text, "opening", errno))?;
                files(&below, &text, &about, aim, &mut found)?;
                if aim == Aim::Remove {
                    let removed = unlinkat(&folder, name.as_c_str(), AtFlags::REMOVEDIR);
                    removed.map_err(|errno| failed(&text, "removing", errno))?;
                }
            }
            _ => return Err(unexpected(&text)),
        }
    }
    if let Some((name, about)) = manifest {
        take(folder.as_fd(), &name, &about, aim, &mut found)?;
    }
    Ok(found)
}

/// The files of a thread.
fn files(folder: &OwnedFd, shown: &str, above: &Stat, aim: Aim, found: &mut Inside) -> Result<(), String> {
    for name in names(folder).map_err(|errno| failed(&shown, "listing", errno))? {
        let text = name.to_string_lossy();
        let about = look(folder.as_fd(), &name, above)?;
        let is_ours = is_numbered(&text, "file", 3) || is_numbered(&text, "renamed", 3);
        if !is_ours || FileType::from_raw_mode(about.st_mode) != FileType::RegularFile {
            return Err(unexpected(&format!("{shown}/{text}")));
        }
        take(folder.as_fd(), &name, &about, aim, found)?;
    }
    Ok(())
}

/// What `name` is; refused when it belongs to somebody else, or is on another file system.
fn look(folder: BorrowedFd<'_>, name: &CStr, above: &Stat) -> Result<Stat, String> {
    let text = name.to_string_lossy();
    let about = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    let about = about.map_err(|errno| failed(&text, "looking at", errno))?;
    if about.st_dev != above.st_dev {
        return Err(format!("{} is on another file system", text.escape_default()));
    }
    if about.st_uid != above.st_uid {
        return Err(format!("{} belongs to another user than the folder", text.escape_default()));
    }
    if FileType::from_raw_mode(about.st_mode) == FileType::RegularFile && about.st_nlink != 1 {
        return Err(format!("{} has another name elsewhere", text.escape_default()));
    }
    Ok(about)
}

fn take(
    folder: BorrowedFd<'_>,
    name: &CStr,
    about: &Stat,
    aim: Aim,
    found: &mut Inside,
) -> Result<(), String> {
    if aim == Aim::Remove {
        let removed = unlinkat(folder, name, AtFlags::empty());
        removed.map_err(|errno| failed(&name.to_string_lossy(), "removing", errno))?;
    }
    found.files += 1;
    found.bytes += about.st_size.cast_unsigned();
    Ok(())
}

/// The names in a folder, read to the end before any of them goes.
fn names(folder: &OwnedFd) -> Result<Vec<std::ffi::CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_owned();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}

/// Whether `text` is `word` and so many numbers, parted by dots.
fn is_numbered(text: &str, word: &str, count: usize) -> bool {
    let mut parts = text.split('.');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.next() == Some(word) && parts.clone().count() == count && parts.all(is_number)
}

fn unexpected(name: &str) -> String {
    format!(
        "it holds {}, which no test makes; look at it and remove the folder by hand",
        name.escape_default()
    )
}

fn failed(what: &dyn std::fmt::Display, tried: &str, errno: Errno) -> String {
    format!("{tried} {what}: {errno}")
}
