//! The folder that holds all named files of a trial: it has a manifest, is removed at the end, and is recognised as a
//! leftover if it was not.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags, fstat, lstat, mkdirat, open, openat};
use rustix::rand::{GetRandomFlags, getrandom};
use seatrial_model::{Cause, Finding, PartRecord, Reason, Severity, Subject};
use serde_json::json;

use super::error::failed;
use crate::stale_dirs::{self, KEPT, MANIFEST, Manifest, REMOVED, Standing};
use crate::{Sink, Stop};

/// Longest time for removing leftovers of other trials; part of the time for preparing.
const REMOVING: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The open folder: by the time of removal, `path` may lead to something else.
    opened: OwnedFd,
}

impl Folder {
    pub fn new(parent: &Path, bench: &str) -> Result<Self, Reason> {
        let mut random = [0_u8; 8];
        getrandom(&mut random, GetRandomFlags::empty()).map_err(|errno| {
            Reason::new(Cause::Missing, format!("the kernel gives no random number: {errno}"))
        })?;
        let name = stale_dirs::name(bench, u64::from_ne_bytes(random));
        let path = parent.join(&name);
        let folder = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let above = open(parent, folder | OFlags::PATH, Mode::empty())
            .map_err(|errno| failed("opening", parent, &errno.into()))?;
        // Before the folder is made, so that a kill can never leave it unknown.
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

    pub fn inner(&self, name: &str) -> Result<PathBuf, Reason> {
        let path = self.path.join(name);
        fs::create_dir(&path).map_err(|error| failed("making the folder", &path, &error))?;
        Ok(path)
    }

    /// Removes the folder that was made here with its contents, wherever it is by now, and nothing that replaced it
    /// at its path.
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
        // Through the open descriptor, so that a replaced path leads nowhere else.
        let itself = PathBuf::from(format!("/proc/self/fd/{}", self.opened.as_raw_fd()));
        for entry in in_order(&itself)? {
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

/// What is in a folder, the manifest last: where the removal ends in between, it tells what is left.
fn in_order(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    let mut all = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    all.sort_by_key(|entry| entry.file_name() == MANIFEST);
    Ok(all)
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Ignored: the manifest and the name identify a leftover.
        let _ = self.remove();
    }
}

#[derive(Debug, Default)]
pub struct Leftovers {
    removed: Vec<String>,
    kept: Vec<String>,
}

impl Leftovers {
    /// Removes the folders in `parent` whose process is gone, within `REMOVING`.
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

    pub fn tell(&self, out: &mut dyn Sink) {
        for (name, folders) in [(REMOVED, &self.removed), (KEPT, &self.kept)] {
            if !folders.is_empty() {
                out.evidence(name, json!(folders));
            }
        }
    }
}

pub fn leftovers(parts: &[PartRecord]) -> Option<Finding> {
    let told = |name: &str, text: &str| {
        let told = parts.iter().filter_map(|part| part.evidence.get(name)?.as_array()).flatten();
        let folders: BTreeSet<&str> = told.filter_map(serde_json::Value::as_str).collect();
        let folders = folders.into_iter().collect::<Vec<_>>().join(" ");
        (!folders.is_empty()).then(|| format!("{text}: {folders}"))
    };
    let removed = told(REMOVED, "removed: left by a trial that was killed");
    let kept = told(KEPT, "left by a trial that was killed, and cannot be removed");
    let text: Vec<String> = removed.into_iter().chain(kept).collect();
    (!text.is_empty()).then(|| Finding::new("leftovers", Severity::Info, Subject::node(), text.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_is_the_last_to_go() {
        // File systems list in either order.
        for is_first in [true, false] {
            let folder = tempfile::tempdir().expect("a folder");
            let write = |name: &str| fs::write(folder.path().join(name), "").expect("written");
            if is_first {
                write(MANIFEST);
            }
            (0..64).for_each(|number| write(&format!("part.{number}")));
            write(MANIFEST);
            let last = in_order(folder.path()).expect("listed").pop().expect("files");
            assert_eq!(last.file_name(), MANIFEST);
        }
    }
}
