//! Removes a test's directory with the files that a test creates, and nothing else.
//!
//! All paths are relative to the open parent directory and links are never followed (openat(2), O_NOFOLLOW), so that
//! a concurrent rename cannot redirect the removal.

use std::ffi::{CStr, OsStr};
use std::fmt::Display;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, open, openat, statat, unlinkat};
use rustix::io::Errno;

use super::{MANIFEST, SHARED, prefix};
use crate::Stop;

/// What is in a folder of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// Files, the manifest among them.
    pub files: u64,
    pub bytes: u64,
}

/// Action and time limit of a walk.
#[derive(Clone, Copy)]
struct Walk<'a> {
    removes: bool,
    until: Option<&'a Stop>,
}

/// What is in the folder at `path`.
///
/// # Errors
/// What is in it that no test makes, or what the system answers, as a fragment.
pub fn inside(path: &Path) -> Result<Inside, String> {
    let (above, name) = parts(path)?;
    Walk { removes: false, until: None }.folder(above.as_fd(), name)
}

/// Removes the folder at `path` with what is in it, the manifest last; what was removed. Looks first: where something
/// is in it that no test makes, nothing is removed. What somebody else removes meanwhile is as good as removed.
///
/// # Errors
/// As [`inside`], or that `until` came first. What is left then has its manifest still.
pub fn remove(path: &Path, until: Option<&Stop>) -> Result<Inside, String> {
    let (above, name) = parts(path)?;
    remove_in(above.as_fd(), name, until)
}

/// As [`remove`], for `name` in the directory `above`.
pub(super) fn remove_in(above: BorrowedFd<'_>, name: &OsStr, until: Option<&Stop>) -> Result<Inside, String> {
    Walk { removes: false, until }.folder(above, name)?;
    let removed = Walk { removes: true, until }.folder(above, name)?;
    gone(unlinkat(above, name, AtFlags::REMOVEDIR), &name.display(), "removing")?;
    Ok(removed)
}

/// The parent directory, and the name in it.
fn parts(path: &Path) -> Result<(OwnedFd, &OsStr), String> {
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or("it has no name")?;
    let opened = open(above, FOLDER, Mode::empty());
    Ok((opened.map_err(|errno| failed(&above.display(), "opening", errno))?, name))
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Walk<'_> {
    /// A folder of a test.
    fn folder(self, above: BorrowedFd<'_>, name: &OsStr) -> Result<Inside, String> {
        let shown = name.display();
        let mut found = Inside::default();
        let folder = openat(above, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
        let Some(folder) = there(folder, &shown, "opening")? else { return Ok(found) };
        let about = fstat(&folder).map_err(|errno| failed(&shown, "looking at", errno))?;
        let mut manifest = None;
        let holds_sets = WITH_SETS.iter().any(|bench| name.as_bytes().starts_with(prefix(bench).as_bytes()));
        for name in there(names(&folder), &shown, "listing")?.unwrap_or_default() {
            let text = name.to_string_lossy().into_owned();
            let Some(inner) = inspect(folder.as_fd(), &name, &about)? else { continue };
            match FileType::from_raw_mode(inner.st_mode) {
                FileType::RegularFile if text == MANIFEST => manifest = Some((name, inner)),
                FileType::RegularFile if is_numbered(&text, "part", 1) => {
                    self.take(folder.as_fd(), &name, &inner, &mut found)?;
                }
                FileType::Directory if text == SHARED || is_numbered(&text, "thread", 1) => {
                    let below = openat(&folder, name.as_c_str(), FOLDER | OFlags::NOFOLLOW, Mode::empty());
                    let Some(below) = there(below, &text, "opening")? else { continue };
                    self.files(&below, &text, &about, &mut found)?;
                    if self.removes {
                        let removed = unlinkat(&folder, name.as_c_str(), AtFlags::REMOVEDIR);
                        gone(removed, &text, "removing")?;
                    }
                }
                FileType::Directory if holds_sets && is_set(&text) => {
                    self.tree(folder.as_fd(), &name, (&text, MOST_LEVELS), &about, &mut found)?;
                }
                _ => return Err(unexpected(&text)),
            }
        }
        if let Some((name, about)) = manifest {
            self.take(folder.as_fd(), &name, &about, &mut found)?;
        }
        Ok(found)
    }

    /// The files of a thread, or of all.
    fn files(self, folder: &OwnedFd, shown: &str, above: &Stat, found: &mut Inside) -> Result<(), String> {
        for name in there(names(folder), &shown, "listing")?.unwrap_or_default() {
            let text = name.to_string_lossy();
            let Some(about) = inspect(folder.as_fd(), &name, above)? else { continue };
            let of_names = |word| is_numbered(&text, word, 3);
            let is_ours = of_names("file") || of_names("renamed") || is_numbered(&text, "part", 1);
            if !is_ours || FileType::from_raw_mode(about.st_mode) != FileType::RegularFile {
                return Err(unexpected(&format!("{shown}/{text}")));
            }
            self.take(folder.as_fd(), &name, &about, found)?;
        }
        Ok(())
    }

    /// A data set or a copy of one: files, links and directories of any name, since tools give theirs to what is unfinished. Files
    /// may have a second name, as sets hold hard links.
    fn tree(
        self,
        above: BorrowedFd<'_>,
        name: &CStr,
        (shown, levels): (&str, u32),
        owner: &Stat,
        found: &mut Inside,
    ) -> Result<(), String> {
        let folder = openat(above, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
        let Some(folder) = there(folder, &shown, "opening")? else { return Ok(()) };
        for name in there(names(&folder), &shown, "listing")?.unwrap_or_default() {
            let inner = format!("{shown}/{}", name.to_string_lossy());
            let Some(about) = owned(folder.as_fd(), &name, owner)? else { continue };
            match FileType::from_raw_mode(about.st_mode) {
                FileType::Directory if levels > 0 => {
                    self.tree(folder.as_fd(), &name, (&inner, levels - 1), owner, found)?;
                }
                FileType::RegularFile | FileType::Symlink => {
                    self.take(folder.as_fd(), &name, &about, found)?;
                }
                _ => return Err(unexpected(&inner)),
            }
        }
        if self.removes {
            gone(unlinkat(above, name, AtFlags::REMOVEDIR), &shown, "removing")?;
        }
        Ok(())
    }

    fn take(
        self,
        folder: BorrowedFd<'_>,
        name: &CStr,
        about: &Stat,
        found: &mut Inside,
    ) -> Result<(), String> {
        if self.until.is_some_and(Stop::is_over) {
            return Err("the time for it is over".to_owned());
        }
        if self.removes {
            gone(unlinkat(folder, name, AtFlags::empty()), &name.to_string_lossy(), "removing")?;
        }
        found.files += 1;
        found.bytes += about.st_size.cast_unsigned();
        Ok(())
    }
}

/// The benchmarks whose folders hold data sets and copies of them.
const WITH_SETS: [&str; 2] = ["transfer.move", "transfer.dataset"];

/// Levels of directories below a set: more than it has (`depth`).
const MOST_LEVELS: u32 = 32;

/// Whether `text` is the name of a data set, `set` and perhaps a number, or of a copy of one, `copy0`.
fn is_set(text: &str) -> bool {
    let number = ["set", "copy"].iter().find_map(|word| text.strip_prefix(word));
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What `name` is, if it still exists; an error when it has another owner or file system, or is a file with a second name.
fn inspect(folder: BorrowedFd<'_>, name: &CStr, above: &Stat) -> Result<Option<Stat>, String> {
    let about = owned(folder, name, above)?;
    if about.is_some_and(|about| {
        FileType::from_raw_mode(about.st_mode) == FileType::RegularFile && about.st_nlink != 1
    }) {
        return Err(format!("{} has another name elsewhere", name.to_string_lossy().escape_default()));
    }
    Ok(about)
}

/// The same for files that may have a second name.
fn owned(folder: BorrowedFd<'_>, name: &CStr, above: &Stat) -> Result<Option<Stat>, String> {
    let text = name.to_string_lossy();
    let about = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    let Some(about) = there(about, &text, "looking at")? else { return Ok(None) };
    if about.st_dev != above.st_dev {
        return Err(format!("{} is on another file system", text.escape_default()));
    }
    if about.st_uid != above.st_uid {
        return Err(format!("{} belongs to another user than the folder", text.escape_default()));
    }
    Ok(Some(about))
}

/// The names in a directory, read completely before any is removed.
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

/// Whether `text` is `word` and `count` numbers, separated by dots.
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

/// `None` for a missing file.
fn there<T>(answer: Result<T, Errno>, what: &dyn Display, tried: &str) -> Result<Option<T>, String> {
    match answer {
        Err(Errno::NOENT) => Ok(None),
        other => other.map(Some).map_err(|errno| failed(what, tried, errno)),
    }
}

fn gone(answer: Result<(), Errno>, what: &dyn Display, tried: &str) -> Result<(), String> {
    there(answer, what, tried).map(drop)
}

fn failed(what: &dyn Display, tried: &str, errno: Errno) -> String {
    format!("{tried} {what}: {errno}")
}
