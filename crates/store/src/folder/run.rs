//! Creates and resumes run folders.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use seatrial_model::record::RunInfo;

use super::files::{Files, RunFile, SCHEMA};
use super::read::StoredRun;
use crate::lock::{self, Locking};
use crate::write::{replace, sync_folder};
use crate::{Home, Journal, StoreError, id};

/// Attempts to find a free name; each draws new letters.
const ATTEMPTS: u32 = 64;

/// The folder of one run: create, open, resume.
#[derive(Clone, Copy, Debug)]
pub struct RunFolder;

#[derive(Debug)]
pub struct Resumed {
    pub journal: Journal,
    pub run: StoredRun,
}

impl RunFolder {
    /// Creates the folder of a new run in `home`, and replaces `info.id` by its unique id; see [`Journal::info`].
    pub fn create(home: &Home, mut info: RunInfo) -> Result<Journal, StoreError> {
        let runs = home.runs();
        fs::create_dir_all(&runs).map_err(|source| StoreError::io("making", &runs, source))?;
        let (path, id) = make_exclusively(&runs, || {
            let newest = home.ids()?.pop();
            Ok(id::fresh(info.started, newest.as_deref()))
        })?;
        info.id = id;
        let files = Files::of(&path);
        for folder in [files.all_samples(), files.inventories()] {
            fs::create_dir(&folder).map_err(|source| StoreError::io("making", &folder, source))?;
        }
        let locking =
            lock::take(&files.lock()).map_err(|source| StoreError::io("locking", &files.lock(), source))?;
        let lock = match locking {
            Locking::Held(lock) => Some(lock),
            // Without locks, only `history` cannot tell whether the run is still running.
            Locking::Unsupported(_) => None,
            Locking::Taken => return Err(StoreError::Running { id: info.id }),
        };
        sync_folder(&runs)?;
        write_info(&files, &info)?;
        Journal::open(files, info, None, lock)
    }

    /// Reads the run at `path`, in any state. Damage is reported in [`StoredRun::damage`]; an error is
    /// [`StoreError::NotARun`] without a folder, [`StoreError::TooNew`] for files of a newer Seatrial.
    pub fn open(path: &Path) -> Result<StoredRun, StoreError> {
        StoredRun::read(Files::of(path))
    }

    /// Resumes the run at `path`: cuts torn lines, and marks `run.json` as not ended.
    ///
    /// # Errors
    /// [`StoreError::Running`] while a process writes it, [`StoreError::NoLocks`] where that is unknown,
    /// [`StoreError::NotOwn`] for another user's run, [`StoreError::Unreadable`] without a readable `run.json`, and
    /// errors of writing.
    pub fn resume(path: &Path) -> Result<Resumed, StoreError> {
        // The record contains commands, by which nodes are reached.
        if fs::metadata(path).is_ok_and(|folder| folder.uid() != geteuid().as_raw()) {
            return Err(StoreError::NotOwn { path: path.to_owned() });
        }
        let before = Self::open(path)?;
        let files = before.files().clone();
        let mut info = before.info()?.clone();
        let at = files.lock();
        let lock = match lock::take(&at).map_err(|source| StoreError::io("locking", &at, source))? {
            Locking::Held(lock) => lock,
            Locking::Taken => return Err(StoreError::Running { id: info.id }),
            Locking::Unsupported(source) => {
                return Err(StoreError::NoLocks { id: info.id, path: at, source });
            }
        };
        // Read again under the lock: another process may have resumed it meanwhile.
        let run = Self::open(path)?;
        info.clone_from(run.info()?);
        // A killed run has its last event instead of an end.
        let stopped = info.ended.as_ref().map(|end| end.at).or_else(|| Some(run.events().last()?.at));
        let paused: f64 = stopped.map_or(0.0, |at| jiff::Timestamp::now().duration_since(at).as_secs_f64());
        info.paused_seconds += paused.max(0.0);
        info.ended = None;
        let plan = run.plan.present().cloned();
        let journal = Journal::open(files, info, plan, Some(lock))?;
        Ok(Resumed { journal, run })
    }
}

pub fn write_info(files: &Files, info: &RunInfo) -> Result<(), StoreError> {
    replace(&files.run(), &RunFile { schema: SCHEMA, run: info.clone() })
}

/// Creates the folder: mkdir(2) fails when the name exists, on NFS too, so runs never share a folder.
fn make_exclusively(
    runs: &Path,
    mut fresh: impl FnMut() -> Result<String, StoreError>,
) -> Result<(PathBuf, String), StoreError> {
    let mut attempts = 0;
    loop {
        let id = fresh()?;
        let path = runs.join(&id);
        attempts += 1;
        match fs::create_dir(&path) {
            Ok(()) => return Ok((path, id)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempts < ATTEMPTS => {}
            Err(source) => return Err(StoreError::io("making", &path, source)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_is_drawn_again() {
        let runs = tempfile::tempdir().unwrap();
        fs::create_dir(runs.path().join("taken")).unwrap();
        let mut names = ["taken", "taken", "free"].into_iter();
        let (path, id) = make_exclusively(runs.path(), || Ok(names.next().unwrap().to_owned())).unwrap();
        assert_eq!((path, id.as_str()), (runs.path().join("free"), "free"));
    }

    #[test]
    fn drawing_ends_when_no_name_is_free() {
        let runs = tempfile::tempdir().unwrap();
        fs::create_dir(runs.path().join("taken")).unwrap();
        assert!(make_exclusively(runs.path(), || Ok("taken".to_owned())).is_err());
    }
}
