//! Directories below the target, each opened from the one above: no symbolic link is followed, whoever made it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags, fchmod, fstat, mkdirat, openat};
use rustix::io::Errno;

/// Directories that stay open, of each thread.
const MOST_OPEN: usize = 64;

/// Directories that this thread used last, below one target.
#[derive(Debug)]
pub struct Folders {
    target: Arc<Target>,
    open: Vec<(Vec<u8>, Arc<OwnedFd>)>,
}

#[derive(Debug)]
struct Target {
    directory: File,
    /// Whether it is a copy itself, and not only the place of copies.
    is_copy: AtomicBool,
}

/// A directory and a name in it.
#[derive(Clone, Debug)]
pub struct Spot {
    /// None is the target itself.
    folder: Option<Arc<OwnedFd>>,
    target: Arc<Target>,
    pub name: Vec<u8>,
}

impl Spot {
    pub fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_ref().map_or(self.target.directory.as_fd(), |folder| folder.as_fd())
    }

    /// Changes what is in the directory. If an earlier copy has given this its final permissions, and they are too few, it
    /// gets more until this copy gives it the final ones again.
    pub fn change<T>(&self, change: impl Fn() -> Result<T, Errno>) -> Result<T, Errno> {
        match change() {
            Err(Errno::ACCESS) if self.opens_up() => change(),
            done => done,
        }
    }

    /// Gives the owner all permissions in the directory; false where that cannot be, or nothing would take them back.
    fn opens_up(&self) -> bool {
        if self.folder.is_none() && !self.target.is_copy.load(Ordering::Relaxed) {
            return false;
        }
        let Ok(stat) = fstat(self.folder()) else { return false };
        let mode = Mode::from_raw_mode(stat.st_mode);
        // Another thread may have been faster.
        mode.contains(Mode::RWXU) || fchmod(self.folder(), mode | Mode::RWXU).is_ok()
    }
}

impl Folders {
    /// The directories below `target`; `None` where it is not there in a dry run. With `is_copied` the target is a copy itself.
    pub fn open(target: &Path, is_dry: bool, is_copied: bool) -> io::Result<Option<Self>> {
        match Self::new(target) {
            Ok(mut folders) => {
                if is_copied {
                    // Before any thread stores what is in it.
                    let _ = folders.directory(b"", true);
                }
                Ok(Some(folders))
            }
            Err(error) if is_dry && error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The directories below `target`, which may be a symbolic link: whoever typed it meant where it leads.
    pub fn new(target: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY.bits().cast_signed();
        let directory = OpenOptions::new().read(true).custom_flags(flags).open(target)?;
        let target = Target { directory, is_copy: AtomicBool::new(false) };
        Ok(Self { target: Arc::new(target), open: Vec::new() })
    }

    /// The same for another thread.
    pub fn again(&self) -> Self {
        Self { target: Arc::clone(&self.target), open: Vec::new() }
    }

    /// The directory and the name of `path`; missing directories are made if `makes`.
    pub fn spot(&mut self, path: &[u8], makes: bool) -> io::Result<Spot> {
        let (above, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => (&path[..slash], &path[slash + 1..]),
            None => (&b""[..], path),
        };
        if !is_name(name) || path.starts_with(b"/") {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the path leaves the target"));
        }
        let folder = if above.is_empty() { None } else { Some(self.opened(above, makes)?) };
        Ok(Spot { folder, target: Arc::clone(&self.target), name: name.to_vec() })
    }

    /// The directory `path` of the copy, made if missing and `makes`; empty is the target.
    pub fn directory(&mut self, path: &[u8], makes: bool) -> io::Result<Arc<OwnedFd>> {
        if path.is_empty() {
            self.target.is_copy.store(true, Ordering::Relaxed);
            return Ok(Arc::new(self.target.directory.try_clone()?.into()));
        }
        self.opened(path, makes)
    }

    fn opened(&mut self, path: &[u8], makes: bool) -> io::Result<Arc<OwnedFd>> {
        if let Some(at) = self.open.iter().rposition(|(known, _)| known == path) {
            return Ok(Arc::clone(&self.open[at].1));
        }
        let spot = self.spot(path, makes)?;
        let folder = Arc::new(opened_in(&spot, makes)?);
        if self.open.len() >= MOST_OPEN {
            self.open.remove(0);
        }
        self.open.push((path.to_vec(), Arc::clone(&folder)));
        Ok(folder)
    }
}

fn opened_in(spot: &Spot, makes: bool) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || openat(spot.folder(), &spot.name, flags, Mode::empty());
    match open() {
        Err(Errno::NOENT) if makes => {
            match spot.change(|| mkdirat(spot.folder(), &spot.name, Mode::RWXU)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            Ok(open()?)
        }
        opened => Ok(opened?),
    }
}

fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name != b"." && name != b".." && !name.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn directories_are_made_as_needed_and_found_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut folders = Folders::new(folder.path()).expect("opened");
        assert!(folders.spot(b"a/b/file", false).is_err());
        for _ in 0..2 {
            let spot = folders.spot(b"a/b/file", true).expect("made");
            assert_eq!(spot.name, b"file");
        }
        assert!(folder.path().join("a/b").is_dir());
    }

    #[test]
    fn no_path_leaves_the_target() {
        let (folder, outside) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        symlink(outside.path(), folder.path().join("link")).expect("linked");
        let mut folders = Folders::new(folder.path()).expect("opened");
        for path in
            ["link/file", "link/below/file", "../file", "a/../../file", "/etc/file", "", ".", "a//b", ".."]
        {
            assert!(folders.spot(path.as_bytes(), true).is_err(), "{path}");
        }
        assert!(folders.directory(b"link", true).is_err());
        assert_eq!(std::fs::read_dir(outside.path()).expect("listed").count(), 0);
    }
}
