//! A file until it is complete: under a temporary name in the directory of its final one.

use std::fs::File;
use std::io;

use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, Stat, fchmod, flock, fstat, openat, readlinkat,
    renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::folders::Spot;
use crate::temporary_name::temporary_name;

/// A file that is not complete, locked against other copies.
#[derive(Debug)]
pub struct Temporary {
    pub file: File,
    spot: Spot,
    name: String,
    numbers: (u64, u64),
    /// Whether an interrupted copy left it.
    pub is_left_over: bool,
}

/// How often a file is opened again when another copy has just renamed it.
const ATTEMPTS: usize = 16;

impl Temporary {
    /// Makes the file, or takes over what an interrupted copy left. The name can be foretold, and others may write into the
    /// directory: what is no file of this user, or has a second name, is removed and not written into.
    ///
    /// # Errors
    /// Of the system, and [`io::ErrorKind::ResourceBusy`] when another copy writes this file.
    pub fn open(spot: Spot) -> io::Result<Self> {
        let name = temporary_name(&spot.name);
        let open = |flags| {
            let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | flags;
            openat(spot.folder(), &name, flags, Mode::RUSR | Mode::WUSR)
        };
        let look = || statat(spot.folder(), &name, AtFlags::SYMLINK_NOFOLLOW);
        let remove = || spot.change(|| unlinkat(spot.folder(), &name, AtFlags::empty()));
        for _ in 0..ATTEMPTS {
            let (file, is_left_over) = match spot.change(|| open(OFlags::CREATE | OFlags::EXCL)) {
                Ok(file) => (file, false),
                // Before it is opened: a device may do something when it is.
                Err(Errno::EXIST) => match look() {
                    Ok(stat) if !is_one_file(&stat) => {
                        remove()?;
                        continue;
                    }
                    Ok(_) => match open(OFlags::NONBLOCK) {
                        Ok(file) => (file, true),
                        Err(Errno::NOENT | Errno::LOOP) => continue,
                        // It is of another user, or has its final permissions already.
                        Err(Errno::ACCESS) => {
                            remove()?;
                            continue;
                        }
                        Err(errno) => return Err(errno.into()),
                    },
                    Err(Errno::NOENT) => continue,
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
            let opened = fstat(&file)?;
            match look() {
                Ok(named) if numbers(&named) == numbers(&opened) => {}
                // Another copy may have completed and renamed this file before it was locked.
                Ok(_) | Err(Errno::NOENT) => continue,
                Err(errno) => return Err(errno.into()),
            }
            if is_left_over && !(is_one_file(&opened) && is_own(&opened)) {
                // No copy writes it, as it was not locked, and whoever owns it could write into the copy later.
                remove()?;
                continue;
            }
            if is_left_over {
                // Whoever left it may have given it its final permissions.
                fchmod(&file, Mode::RUSR | Mode::WUSR)?;
            }
            return Ok(Self { file, spot, name, numbers: numbers(&opened), is_left_over });
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "other copies keep on writing this file; copy again"))
    }

    /// Gives the complete file its final name; removes it if that cannot be.
    ///
    /// # Errors
    /// Of the system, and [`io::ErrorKind::ResourceBusy`] when another user's copy has taken the place of the file.
    pub fn finish(self) -> io::Result<()> {
        if !self.is_in_place() {
            let text = "another copy has taken the place of the temporary file; copy again";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, text));
        }
        let spot = &self.spot;
        let named = spot.change(|| renameat(spot.folder(), &self.name, spot.folder(), &spot.name));
        if named.is_err() {
            self.remove();
        }
        Ok(named?)
    }

    /// Removes the file.
    pub fn remove(self) {
        if self.is_in_place() {
            // What stays is found by the next copy.
            let _ = self.spot.change(|| unlinkat(self.spot.folder(), &self.name, AtFlags::empty()));
        }
    }

    /// Whether the temporary name is still that of this file.
    fn is_in_place(&self) -> bool {
        let named = statat(self.spot.folder(), &self.name, AtFlags::SYMLINK_NOFOLLOW);
        named.is_ok_and(|named| numbers(&named) == self.numbers)
    }
}

/// What tells a file from all others.
fn numbers(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

/// Whether it is a regular file with one name: everything else under a temporary name is of somebody else.
fn is_one_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink == 1
}

fn is_own(stat: &Stat) -> bool {
    stat.st_uid == geteuid().as_raw()
}

/// Attempts at a link that another copy makes at the same time.
const MOST_ATTEMPTS: usize = 100;

/// Makes a symbolic link with this content, in one step.
pub fn make_link(spot: &Spot, leads_to: &[u8], set: impl Fn(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let name = temporary_name(&spot.name);
    let mut last = Ok(());
    for _ in 0..MOST_ATTEMPTS {
        last = spot
            .change(|| symlinkat(leads_to, spot.folder(), &name))
            .map_err(io::Error::from)
            .and_then(|()| set(name.as_bytes()))
            .and_then(|()| Ok(renameat(spot.folder(), &name, spot.folder(), &spot.name)?));
        // Left over, or another copy makes or has made the same link.
        let is_race = |error: &io::Error| {
            [io::ErrorKind::AlreadyExists, io::ErrorKind::NotFound].contains(&error.kind())
        };
        if last.is_ok() || (last.as_ref().is_err_and(is_race) && leads_where(spot, leads_to)) {
            return Ok(());
        }
        let _ = spot.change(|| unlinkat(spot.folder(), &name, AtFlags::empty()));
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
    use std::path::Path;

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

    /// Opens the temporary file of `file`, writes and completes it; returns whether it took over what was there.
    fn written(folder: &Path) -> bool {
        let mut folders = Folders::new(folder).expect("opened");
        let mut made = Temporary::open(folders.spot(b"file", true).expect("a spot")).expect("made");
        made.file.write_all(b"content").expect("written");
        let is_left_over = made.is_left_over;
        made.finish().expect("renamed");
        assert_eq!(std::fs::read(folder.join("file")).expect("there"), b"content");
        is_left_over
    }

    #[test]
    fn a_file_with_a_second_name_or_no_regular_one_is_not_taken_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let (victim, planted) = (folder.path().join("victim"), folder.path().join(temporary_name(b"file")));
        std::fs::write(&victim, "keep").expect("written");
        std::fs::hard_link(&victim, &planted).expect("linked");
        assert!(!written(folder.path()));
        assert_eq!(std::fs::read(&victim).expect("there"), b"keep");
        let rights = Mode::RUSR | Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &planted, rights).expect("made");
        assert!(!written(folder.path()));
        assert!(std::fs::metadata(folder.path().join("file")).expect("there").is_file());
    }

    #[test]
    fn a_file_of_another_user_is_not_taken_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let planted = folder.path().join(temporary_name(b"file"));
        std::fs::write(&planted, "planted").expect("written");
        if let Err(error) = std::os::unix::fs::chown(&planted, Some(NOBODY), None) {
            assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "needs root: {error}");
            skipped(&error);
            return;
        }
        // Whoever planted it holds it open.
        let held = File::open(&planted).expect("opened");
        assert!(!written(folder.path()));
        assert_eq!(io::read_to_string(held).expect("read"), "planted");
    }

    const NOBODY: u32 = 65_534;

    #[expect(clippy::print_stdout, reason = "`cargo xtask test` counts these lines")]
    fn skipped(why: &io::Error) {
        println!("skipped: needs root: {why}");
    }

    #[test]
    fn a_file_whose_place_another_copy_took_gets_no_name_and_removes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let taken = folder.path().join(temporary_name(b"file"));
        let mut folders = Folders::new(folder.path()).expect("opened");
        let mut open = || Temporary::open(folders.spot(b"file", true).expect("a spot")).expect("made");
        for is_finished in [true, false] {
            let made = open();
            std::fs::remove_file(&taken).expect("removed");
            std::fs::write(&taken, "of another copy").expect("written");
            if is_finished {
                let error = made.finish().expect_err("refused");
                assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
            } else {
                made.remove();
            }
            assert!(taken.exists() && !folder.path().join("file").exists());
        }
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
