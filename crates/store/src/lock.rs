//! Locks that end with their process, to tell whether a run is active.
//!
//! flock(2) locks belong to the open file and vanish with it, also after SIGKILL. Linux maps them to byte-range locks
//! on NFS; some Lustre mounts refuse them.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Readers hold the lock for microseconds; a writer waits for them this long.
const PATIENCE: Duration = Duration::from_millis(200);

/// A held lock, released on drop or when the process ends.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Unlocks explicitly, since a child that was just forked may share the open file.
    fn drop(&mut self) {
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

#[derive(Debug)]
pub enum Locking {
    Held(Lock),
    Taken,
    /// The file system has no locks.
    Unsupported(io::Error),
}

/// Locks the file at `path` exclusively; creates it if missing.
pub fn take(path: &Path) -> io::Result<Locking> {
    take_within(path, PATIENCE)
}

/// As [`take`], waiting at most `patience` for another holder.
fn take_within(path: &Path, patience: Duration) -> io::Result<Locking> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    let start = Instant::now();
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Locking::Held(Lock { file })),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) if start.elapsed() < patience => sleep(Duration::from_millis(5)),
            Err(Errno::WOULDBLOCK) => return Ok(Locking::Taken),
            Err(errno) => return Ok(Locking::Unsupported(errno.into())),
        }
    }
}

/// Whether the file at `path` is locked; `None` when the file system cannot tell. A missing file is not locked.
pub fn is_held(path: &Path) -> Option<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return (error.kind() == io::ErrorKind::NotFound).then_some(false),
    };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Some(false),
        Err(Errno::WOULDBLOCK) => Some(true),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert_eq!(is_held(&path), Some(false), "no file");
        let Locking::Held(lock) = take(&path).unwrap() else { panic!("nobody else is there") };
        assert_eq!(is_held(&path), Some(true));
        assert!(matches!(take_within(&path, Duration::ZERO).unwrap(), Locking::Taken));
        drop(lock);
        assert_eq!(is_held(&path), Some(false));
    }
}
