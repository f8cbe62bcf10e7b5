//! Locks that die with their process: who holds one is alive.
//!
//! flock(2) is used since its locks belong to the open file and vanish with it, also after SIGKILL. Linux carries
//! them over NFS as byte-range locks; some Lustre mounts refuse them, and then nothing can be told.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Readers that look whether a run is alive hold its lock for microseconds; a writer waits them out.
const PATIENCE: Duration = Duration::from_millis(200);

/// A held lock. It ends when this is dropped, or when the process dies.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Closing would do, unless a child that was just forked still shares the open file.
    fn drop(&mut self) {
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// What came of trying to lock.
#[derive(Debug)]
pub enum Locking {
    /// Nobody else holds it.
    Held(Lock),
    Taken,
    /// The file system does not lock.
    Unsupported(io::Error),
}

/// Takes the lock at `path` for writing, making the file if missing.
pub fn take(path: &Path) -> io::Result<Locking> {
    take_within(path, PATIENCE)
}

/// As [`take`], waiting for another holder as long as `patience`.
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

/// Whether somebody holds the lock at `path`; `None` when the file system cannot tell. No file, no holder.
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
