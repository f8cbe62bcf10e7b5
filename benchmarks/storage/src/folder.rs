//! The folder that all files of a trial with names are in: made with a manifest, removed at the end, recognised when it
//! was not.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags, fstat, lstat, mkdirat, open, openat};
use rustix::rand::{GetRandomFlags, getrandom};
use seatrial_model::{Cause, Finding, PartRecord, Reason, Severity, Subject};
use seatrial_sys::Errno;
use serde_json::json;

use crate::io::outcome::refused;
use seatrial_bench::stale_dirs::{self, KEPT, MANIFEST, Manifest, REMOVED, Standing};
use seatrial_bench::{Sink, Stop};

/// How long a trial may take to remove what others left: a part of the time in which it must be prepared.
const REMOVING: Duration = Duration::from_secs(5);

/// A folder of ours; removed with what is in it when dropped.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The folder itself: its path may lead elsewhere by the time that it is removed.
    opened: OwnedFd,
}

impl Folder {
    /// Makes one in `parent` for a benchmark, with its manifest.
    pub fn new(parent: &Path, bench: &str) -> Result<Self, Reason> {
        let mut random = [0_u8; 8];
        getrandom(&mut random, GetRandomFlags::empty())
            .map_err(|errno| Reason::new(Cause::Missing, format!("no random number: {errno}")))?;
        let name = stale_dirs::name(bench, u64::from_ne_bytes(random));
        let path = parent.join(&name);
        let folder = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let above = open(parent, folder | OFlags::PATH, Mode::empty())
            .map_err(|errno| failed("opening", parent, &errno.into()))?;
        // First, so that there is no moment in which it could stay.
        stale_dirs::announce(above.as_fd(), &name);
        mkdirat(&above, &name, Mode::from_raw_mode(0o777))
            .map_err(|errno| failed("making the folder", &path, &errno.into()))?;
        let opened = openat(&above, &name, folder | OFlags::NOFOLLOW, Mode::empty())
            .map_err(|errno| failed("opening the folder", &path, &errno.into()))?;
        let folder = Self { path, opened };
        let file = folder.path.join(MANIFEST);
        fs::write(&file, Manifest::of_this_process(bench).text())
            .map_err(|error| failed("writing", &file, &error))?;
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a folder in it.
    pub fn inner(&self, name: &str) -> Result<PathBuf, Reason> {
        let path = self.path.join(name);
        fs::create_dir(&path).map_err(|error| failed("making the folder", &path, &error))?;
        Ok(path)
    }

    /// Removes it with all that is in it: the folder that was made here, wherever it is by now, and nothing that somebody
    /// put in its place.
    pub fn remove(&self) -> Result<(), Reason> {
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

fn failed(what: &str, path: &Path, error: &io::Error) -> Reason {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
    refused(&format!("{what} {}", path.display()), errno)
}

/// What tests that were killed had left in a directory, and what became of it.
#[derive(Debug, Default)]
pub struct Leftovers {
    removed: Vec<String>,
    kept: Vec<String>,
}

impl Leftovers {
    /// Removes the folders in `parent` whose process is gone, as far as a few seconds allow.
    pub fn remove(parent: &Path) -> Self {
        let until = Stop::after(REMOVING);
        let mut done = Self::default();
        let found = stale_dirs::find(parent).unwrap_or_default();
        for one in found.iter().filter(|one| one.standing == Standing::Abandoned) {
            let shown = one.path.display();
            match stale_dirs::remove(&one.path, Some(&until)) {
                Ok(_) => done.removed.push(shown.to_string()),
                Err(why) => done.kept.push(format!("{shown} ({why})")),
            }
        }
        done
    }

    /// Has the record say so.
    pub fn tell(&self, out: &mut dyn Sink) {
        for (name, folders) in [(REMOVED, &self.removed), (KEPT, &self.kept)] {
            if !folders.is_empty() {
                out.evidence(name, json!(folders));
            }
        }
    }
}

/// What became of folders that killed trials had left.
pub fn leftovers(parts: &[PartRecord]) -> Option<Finding> {
    let told = |name: &str, text: &str| {
        let told = parts.iter().filter_map(|part| part.evidence.get(name)?.as_array()).flatten();
        let folders: BTreeSet<&str> = told.filter_map(serde_json::Value::as_str).collect();
        let folders = folders.into_iter().collect::<Vec<_>>().join(" ");
        (!folders.is_empty()).then(|| format!("{text}: {folders}"))
    };
    let removed = told(REMOVED, "removed, for a trial that was killed had left it");
    let kept = told(KEPT, "left by a trial that was killed, and could not be removed");
    let text: Vec<String> = removed.into_iter().chain(kept).collect();
    (!text.is_empty()).then(|| Finding::new("leftovers", Severity::Info, Subject::node(), text.join("; ")))
}
