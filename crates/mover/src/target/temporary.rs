//! A file until it is complete: under a temporary name in the directory of its final one.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{
    AtFlags, FlockOperation, Mode, OFlags, fchmod, flock, openat, readlinkat, renameat, statat, symlinkat,
    unlinkat,
};
use rustix::io::Errno;

use super::folders::Spot;
use crate::temporary_name::temporary_name;

/// A file that is not complete, locked against other copies.
#[derive(Debug)]
pub struct Temporary {
    pub file: File,
    spot: Spot,
    name: String,
    /// Whether an interrupted copy left it.
    pub is_left_over: bool,
}

/// How often a file is opened again when another copy has just renamed it.
const ATTEMPTS: usize = 16;

impl Temporary {
    /// Makes the file, or takes over what an interrupted copy left.
    ///
    /// # Errors
    /// Of the system, and [`io::ErrorKind::ResourceBusy`] when another copy writes this file.
    pub fn open(spot: Spot) -> io::Result<Self> {
        let name = temporary_name(&spot.name);
        let open = |flags| {
            let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | flags;
            openat(spot.folder(), &name, flags, Mode::RUSR | Mode::WUSR)
        };
        for _ in 0..ATTEMPTS {
            let (file, is_left_over) = match open(OFlags::CREATE | OFlags::EXCL) {
                Ok(file) => (file, false),
                Err(Errno::EXIST) => match open(OFlags::NONBLOCK) {
                    Ok(file) => (file, true),
                    Err(Errno::NOENT) => continue,
                    // A link that an interrupted copy left, or that somebody else made.
                    Err(Errno::LOOP) => {
                        unlinkat(spot.folder(), &name, AtFlags::empty())?;
                        continue;
                    }
                    Err(errno) => return Err(errno.into()),
                },
                Err(errno) => return Err(errno.into()),
            };
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => {
                    let text = "another copy is writing this file; wait for its end, and copy again";
                    return Err(io::Error::new(io::ErrorKind::ResourceBusy, text));
                }
                // File systems without locks, such as Lustre with `noflock`.
                Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK) => {}
                Err(errno) => return Err(errno.into()),
            }
            let file = File::from(file);
            // Another copy may have completed and renamed this file before it was locked.
            let about = file.metadata()?;
            match statat(spot.folder(), &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if (stat.st_ino, stat.st_dev) == (about.ino(), about.dev()) => {}
                Ok(_) | Err(Errno::NOENT) => continue,
                Err(errno) => return Err(errno.into()),
            }
            if is_left_over {
                // Whoever left it may have given it its final permissions.
                fchmod(&file, Mode::RUSR | Mode::WUSR)?;
            }
            return Ok(Self { file, spot, name, is_left_over });
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "other copies keep on writing this file; copy again"))
    }

    /// Gives the complete file its final name; removes it if that cannot be.
    pub fn finish(self) -> io::Result<()> {
        let named = renameat(self.spot.folder(), &self.name, self.spot.folder(), &self.spot.name);
        if named.is_err() {
            self.remove();
        }
        Ok(named?)
    }

    /// Removes the file.
    pub fn remove(self) {
        // What stays is found by the next copy.
        let _ = unlinkat(self.spot.folder(), &self.name, AtFlags::empty());
    }
}

/// Attempts at a link that another copy makes at the same time.
const MOST_ATTEMPTS: usize = 100;

/// Makes a symbolic link with this content, in one step.
pub fn make_link(spot: &Spot, leads_to: &[u8], set: impl Fn(&str) -> io::Result<()>) -> io::Result<()> {
    let name = temporary_name(&spot.name);
    let mut last = Ok(());
    for _ in 0..MOST_ATTEMPTS {
        last = symlinkat(leads_to, spot.folder(), &name)
            .map_err(io::Error::from)
            .and_then(|()| set(&name))
            .and_then(|()| Ok(renameat(spot.folder(), &name, spot.folder(), &spot.name)?));
        // Left over, or another copy makes or has made the same link.
        let is_race = |error: &io::Error| {
            [io::ErrorKind::AlreadyExists, io::ErrorKind::NotFound].contains(&error.kind())
        };
        if last.is_ok() || (last.as_ref().is_err_and(is_race) && leads_where(spot, leads_to)) {
            return Ok(());
        }
        let _ = unlinkat(spot.folder(), &name, AtFlags::empty());
        if !last.as_ref().is_err_and(is_race) {
            break;
        }
    }
    last
}

/// Whether there is a symbolic link with this content.
pub fn leads_where(spot: &Spot, leads_to: &[u8]) -> bool {
    readlinkat(spot.folder(), &spot.name, Vec::new()).is_ok_and(|there| there.as_bytes() == leads_to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Folders;
    use std::io::Write;

    #[test]
    fn a_file_gets_its_name_when_it_is_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut folders = Folders::new(folder.path()).expect("opened");
        let mut made = Temporary::open(folders.spot(b"file", true).expect("a spot")).expect("made");
        made.file.write_all(b"half").expect("written");
        assert!(!made.is_left_over && !folder.path().join("file").exists());
        let busy = Temporary::open(folders.spot(b"file", true).expect("a spot")).expect_err("locked");
        assert_eq!(busy.kind(), io::ErrorKind::ResourceBusy);
        // As after a kill: the lock goes with the process, the file stays.
        drop(made);
        let again = Temporary::open(folders.spot(b"file", true).expect("a spot")).expect("found");
        assert!(again.is_left_over && again.file.metadata().expect("there").len() == 4);
        again.finish().expect("renamed");
        assert_eq!(std::fs::read(folder.path().join("file")).expect("there"), b"half");
        assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 1);
    }

    #[test]
    fn a_link_in_the_place_of_the_temporary_file_is_not_written_through() {
        let folder = tempfile::tempdir().expect("a folder");
        let victim = folder.path().join("victim");
        std::fs::write(&victim, "keep").expect("written");
        let name = temporary_name(b"file");
        std::os::unix::fs::symlink(&victim, folder.path().join(&name)).expect("linked");
        let mut folders = Folders::new(folder.path()).expect("opened");
        let mut made = Temporary::open(folders.spot(b"file", true).expect("a spot")).expect("made");
        made.file.write_all(b"content").expect("written");
        made.finish().expect("renamed");
        assert_eq!(std::fs::read(&victim).expect("there"), b"keep");
        assert_eq!(std::fs::read(folder.path().join("file")).expect("there"), b"content");
    }
}
