//! Walks the sources and finds what to copy.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirEntryExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::{AtFlags, CWD, FileType, Stat, statat};

use crate::entry::{Entry, Root, Stamp};
use crate::error::CopyError;
use crate::failure::{Failure, explained};
use crate::progress::Progress;
use crate::temporary_name::is_temporary;

/// Entries that are handed over at once.
const BATCH: usize = 64;

/// The sources as typed. As with rsync, `DIR/` stands for what is in the directory, and `DIR` for the directory itself.
///
/// # Errors
/// When a source is not there, or two of them would get the same name.
pub fn roots(sources: &[PathBuf]) -> Result<Vec<Arc<Root>>, CopyError> {
    let mut roots: Vec<Arc<Root>> = Vec::new();
    for source in sources {
        let refused = |text: String| CopyError::Refused(format!("{}: {text}", source.display()));
        fs::symlink_metadata(source).map_err(|error| refused(explained("cannot be read", &error)))?;
        let bytes = source.as_os_str().as_bytes();
        let name = match source.file_name() {
            Some(name) if !bytes.ends_with(b"/") && !bytes.ends_with(b"/.") => name.as_bytes().to_vec(),
            _ => Vec::new(),
        };
        if name.is_empty() && !source.is_dir() {
            return Err(refused("is no directory; leave out the slash at the end".to_owned()));
        }
        if let Some(other) = roots.iter().find(|other| other.name == name && !name.is_empty()) {
            let text =
                format!("has the same name in the target as {}; copy them apart", other.base.display());
            return Err(refused(text));
        }
        roots.push(Arc::new(Root { base: source.clone(), name }));
    }
    Ok(roots)
}

/// The sources, of which an only file gets the name `renamed`.
pub fn renamed_roots(roots: &[Arc<Root>], renamed: Option<Vec<u8>>) -> Vec<Arc<Root>> {
    match (renamed, roots) {
        (Some(name), [root]) => vec![Arc::new(Root { base: root.base.clone(), name })],
        _ => roots.to_vec(),
    }
}

/// Whether the target is the copy of one of them: of the content of a directory.
pub fn is_target_copied(roots: &[Arc<Root>]) -> bool {
    roots.iter().any(|root| root.name.is_empty())
}

/// The name of the only source, if that is not a directory.
pub fn only_file(roots: &[Arc<Root>]) -> Option<Vec<u8>> {
    match roots {
        [root] => {
            let about = fs::symlink_metadata(&root.base).ok()?;
            (!about.is_dir()).then(|| root.name.clone())
        }
        _ => None,
    }
}

/// Hands every entry of `roots` to `found`, directories before what is in them, until `found` returns false. What cannot be
/// read is a failure. Only one directory at a time is in memory, beside the paths of those still to be read.
fn scan(roots: &[Arc<Root>], progress: &Progress, mut found: impl FnMut(Vec<Entry>) -> bool) {
    let mut batch = Vec::with_capacity(BATCH);
    let mut open: Vec<(Arc<Root>, Vec<u8>)> = Vec::new();
    for root in roots {
        match entry(root, Vec::new()) {
            Ok(Some(entry)) => {
                if entry.stamp.file_type() == FileType::Directory {
                    open.push((Arc::clone(root), Vec::new()));
                }
                batch.push(entry);
            }
            Ok(None) => {}
            Err(failure) => progress.fail(failure),
        }
        while let Some((root, path)) = open.pop() {
            let names = match names(&root, &path) {
                Ok(names) => names,
                Err(failure) => {
                    progress.fail(failure);
                    continue;
                }
            };
            for name in names {
                let below = if path.is_empty() { name } else { [&path[..], b"/", &name].concat() };
                match entry(&root, below) {
                    Ok(Some(entry)) => {
                        if entry.stamp.file_type() == FileType::Directory {
                            open.push((Arc::clone(&root), entry.path.clone()));
                        }
                        batch.push(entry);
                    }
                    Ok(None) => {}
                    Err(failure) => progress.fail(failure),
                }
                if batch.len() >= BATCH && !found(std::mem::replace(&mut batch, Vec::with_capacity(BATCH))) {
                    return;
                }
            }
        }
    }
    if !batch.is_empty() {
        found(batch);
    }
}

/// Scans as [`scan`] does, and returns the directories: those above first.
pub fn scan_with_directories(
    roots: &[Arc<Root>],
    progress: &Progress,
    mut found: impl FnMut(Vec<Entry>) -> bool,
) -> Vec<Entry> {
    let mut directories = Vec::new();
    scan(roots, progress, |entries| {
        let is_directory = |entry: &&Entry| entry.stamp.file_type() == FileType::Directory;
        directories.extend(entries.iter().filter(is_directory).cloned());
        found(entries)
    });
    directories
}

/// Counts what there is to copy, beside the copy itself, so that the time left can be told.
pub fn count(roots: &[Arc<Root>], progress: &Progress) {
    // Failures are told by the copy itself.
    scan(roots, &Progress::default(), |batch| {
        for entry in batch.iter().filter(|entry| entry.stamp.file_type() == FileType::RegularFile) {
            Progress::add(&progress.found_files, 1);
            Progress::add(&progress.found_bytes, entry.stamp.size);
        }
        !progress.is_stopped()
    });
    progress.is_all_found.store(true, Ordering::Relaxed);
}

/// The names in a directory, in the order of their inodes, which is about that of their data on a disk. Partial files of
/// other copies are left out.
fn names(root: &Root, path: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
    let folder = root.base.join(Path::new(OsStr::from_bytes(path)));
    let failed =
        |error: io::Error| Failure::of(folder.as_os_str().as_bytes(), "listing the directory", &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().into_vec();
        if !is_temporary(&name) {
            names.push((entry.ino(), name));
        }
    }
    names.sort_unstable();
    Ok(names.into_iter().map(|(_, name)| name).collect())
}

fn entry(root: &Arc<Root>, path: Vec<u8>) -> Result<Option<Entry>, Failure> {
    let mut entry = Entry { root: Arc::clone(root), path, stamp: Stamp::default(), is_sparse: false };
    let source = entry.source();
    // The source itself is followed when it ends in a slash.
    let flags = if entry.target().is_empty() { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
    let failed =
        |error: io::Error| Failure::of(source.as_os_str().as_bytes(), "reading the attributes", &error);
    let stat = statat(CWD, &source, flags).map_err(|errno| failed(errno.into()))?;
    entry.stamp = Stamp::of(&stat);
    entry.is_sparse = has_fewer_blocks(&stat);
    match entry.stamp.file_type() {
        FileType::RegularFile | FileType::Directory | FileType::Symlink => Ok(Some(entry)),
        kind => {
            let text = format!("a {} is not copied; leave it out, or make it in the target", named(kind));
            Err(Failure::new(source.as_os_str().as_bytes(), text))
        }
    }
}

/// Bytes of a block in `st_blocks` (stat(2)).
const SECTOR: u64 = 512;

fn has_fewer_blocks(stat: &Stat) -> bool {
    stat.st_blocks.cast_unsigned().saturating_mul(SECTOR) < stat.st_size.cast_unsigned()
}

fn named(kind: FileType) -> &'static str {
    match kind {
        FileType::Fifo => "named pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice | FileType::BlockDevice => "device",
        _ => "file of unknown type",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::os::unix::fs::symlink;

    fn targets(sources: &[PathBuf]) -> BTreeSet<Vec<u8>> {
        let (mut all, progress) = (BTreeSet::new(), Progress::default());
        let roots = roots(sources).expect("there");
        scan(&roots, &progress, |batch| {
            all.extend(batch.iter().map(Entry::target));
            true
        });
        assert_eq!(progress.take_failures(), []);
        all
    }

    #[test]
    fn a_slash_at_the_end_stands_for_what_is_in_the_directory() {
        let folder = tempfile::tempdir().expect("a folder");
        let tree = folder.path().join("tree");
        fs::create_dir_all(tree.join("below")).expect("made");
        fs::write(tree.join("below/file"), "x").expect("written");
        fs::write(tree.join(crate::temporary_name::temporary_name(b"file")), "x").expect("written");
        symlink("/etc", tree.join("away")).expect("linked");
        let set = |paths: &[&str]| paths.iter().map(|path| path.as_bytes().to_vec()).collect::<BTreeSet<_>>();
        assert_eq!(
            targets(std::slice::from_ref(&tree)),
            set(&["tree", "tree/away", "tree/below", "tree/below/file"])
        );
        assert_eq!(targets(&[tree.join("")]), set(&["", "away", "below", "below/file"]));
    }

    #[test]
    fn sources_that_are_not_there_or_have_one_name_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a", "b"] {
            fs::create_dir_all(folder.path().join(name).join("same")).expect("made");
        }
        let at = |path: &str| folder.path().join(path);
        assert!(roots(&[at("none")]).expect_err("refused").to_string().contains("none"));
        let error = roots(&[at("a/same"), at("b/same")]).expect_err("refused").to_string();
        assert!(error.contains("same name"), "{error}");
        fs::write(at("file"), "").expect("written");
        assert!(roots(&[at("file/")]).is_err());
    }

    #[test]
    fn what_is_not_copied_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).expect("bound");
        let progress = Progress::default();
        scan(&roots(&[folder.path().to_owned()]).expect("there"), &progress, |_| true);
        let failures = progress.take_failures();
        assert!(
            failures.len() == 1 && failures[0].text.starts_with("a socket is not copied"),
            "{failures:?}"
        );
    }
}
