//! The folder that all files of a trial with names are in: made with a manifest, removed at the end, recognised when it
//! was not.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, fstat, lstat, open};
use rustix::rand::{GetRandomFlags, getrandom};
use seatrial_model::Cause;
use seatrial_sys::Errno;

use crate::Error;
use crate::leftover::{self, MANIFEST, Manifest, Standing};
use crate::storage::file::outcome::refused;

/// A folder of ours; removed with what is in it when dropped.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The folder itself: its path may lead elsewhere by the time that it is removed.
    opened: OwnedFd,
}

impl Folder {
    /// Makes one in `parent` for a benchmark, with its manifest.
    ///
    /// # Errors
    /// What the system answers.
    pub fn new(parent: &Path, bench: &str) -> Result<Self, Error> {
        let mut random = [0_u8; 8];
        getrandom(&mut random, GetRandomFlags::empty())
            .map_err(|errno| Error::new(Cause::Missing, format!("no random number: {errno}")))?;
        let path = parent.join(leftover::name(bench, u64::from_ne_bytes(random)));
        fs::create_dir(&path).map_err(|error| failed("making the folder", &path, &error))?;
        let access = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = open(&path, access, Mode::empty())
            .map_err(|errno| failed("opening the folder", &path, &errno.into()))?;
        let folder = Self { path, opened };
        let file = folder.path.join(MANIFEST);
        fs::write(&file, Manifest::of_this_process(bench).text())
            .map_err(|error| failed("writing", &file, &error))?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a folder in it.
    ///
    /// # Errors
    /// What the system answers.
    pub fn inner(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        fs::create_dir(&path).map_err(|error| failed("making the folder", &path, &error))?;
        Ok(path)
    }

    /// Removes it with all that is in it: the folder that was made here, wherever it is by now, and nothing that somebody
    /// put in its place.
    ///
    /// # Errors
    /// What the system answers; what is left then has the manifest still where that was possible.
    pub fn remove(&self) -> Result<(), Error> {
        match self.removed() {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed("removing the folder", &self.path, &error))
            }
            _ => Ok(()),
        }
    }

    fn removed(&self) -> io::Result<()> {
        let ours = fstat(&self.opened)?;
        // Reached by what is open, so that it is this folder whatever its path leads to.
        let itself = PathBuf::from(format!("/proc/self/fd/{}", self.opened.as_raw_fd()));
        for entry in fs::read_dir(&itself)? {
            let entry = entry?;
            let path = itself.join(entry.file_name());
            if entry.file_type()?.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
        }
        let there = lstat(&self.path)?;
        if (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino) {
            fs::remove_dir(&self.path)?;
        }
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Where it fails, its name tells what it is.
        let _ = self.remove();
    }
}

fn failed(what: &str, path: &Path, error: &io::Error) -> Error {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
    refused(&format!("{what} {}", path.display()), errno)
}

/// Folders of a benchmark in `parent` that trials which were killed left behind.
pub fn leftovers(parent: &Path, bench: &str) -> Vec<String> {
    let prefix = leftover::prefix(bench);
    let is_left =
        |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix));
    let found = leftover::find(parent).unwrap_or_default().into_iter();
    found
        .filter(|one| one.standing == Standing::Abandoned && is_left(&one.path))
        .map(|one| one.path.display().to_string())
        .collect()
}
