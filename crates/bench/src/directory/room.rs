//! Room for the files of a trial, in a file system that gives the space of removed files back some time later: ext4 when its
//! journal commits and, mounted with `discard`, when the device has taken the blocks.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, StatVfs, fstatvfs, openat, syncfs};
use seatrial_model::{Cause, Reason};
use seatrial_sys::Errno;

use crate::space::lacking;

/// Longest wait for space of removed files; part of the time for preparing.
const LONGEST: Duration = Duration::from_secs(10);

/// A file system whose free space has not grown for so long gives nothing back.
const STILL: Duration = Duration::from_secs(1);

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Refuses `files` files of `wanted` bytes together that do not fit into the directory at `path`, before its file system is
/// filled. Space of files that were removed a moment ago is waited for.
///
/// # Errors
/// When they do not fit.
pub fn require_room(at: &OwnedFd, path: &Path, files: u64, wanted: u64) -> Result<(), Reason> {
    awaited(at, || lack(at, path, files, wanted).map_or(Ok(()), Err), |_| true)
        .map_err(|text| Reason::new(Cause::NoSpace, text))
}

/// Reserves space below `at` by `reserve`. Where no space is left, that of files removed a moment ago is waited for.
///
/// # Errors
/// As `reserve`.
pub fn reserved(at: &OwnedFd, reserve: impl FnMut() -> Result<(), Errno>) -> Result<(), Errno> {
    awaited(at, reserve, |errno| *errno == Errno::NOSPC)
}

/// Why they do not fit.
fn lack(at: &OwnedFd, path: &Path, files: u64, wanted: u64) -> Option<String> {
    let told = fstatvfs(at).ok()?;
    let place = path.display();
    // File systems without an inode count report 0 of 0.
    if told.f_files > 0 && told.f_favail < files {
        let left = told.f_favail;
        return Some(format!("{files} files do not fit into {place}: {left} inodes are free; lower files="));
    }
    let bytes = |blocks: u64| blocks.saturating_mul(told.f_frsize);
    // Some network file systems report no size, and empty files need no known amount of space.
    let is_known = wanted > 0 && told.f_blocks > 0;
    is_known.then(|| lacking(wanted, bytes(told.f_bavail), bytes(told.f_blocks), &place.to_string()))?
}

/// Attempts it again after an error of too little room, while the free space grows.
fn awaited<E>(
    at: &OwnedFd,
    mut attempt: impl FnMut() -> Result<(), E>,
    is_full: impl Fn(&E) -> bool,
) -> Result<(), E> {
    let first = attempt();
    match first {
        Err(ref why) if is_full(why) => {}
        done => return done,
    }
    let began = Instant::now();
    commit(at);
    let (mut most, mut grown) = (free(at), Instant::now());
    loop {
        match attempt() {
            Err(why) if is_full(&why) => {
                if began.elapsed() > LONGEST || grown.elapsed() > STILL {
                    return Err(why);
                }
            }
            done => return done,
        }
        thread::sleep(POLL_INTERVAL);
        let now = free(at);
        if now > most {
            (most, grown) = (now, Instant::now());
        }
    }
}

/// Free blocks and inodes.
fn free(at: &OwnedFd) -> (u64, u64) {
    fstatvfs(at).map_or((0, 0), |StatVfs { f_bavail, f_favail, .. }| (f_bavail, f_favail))
}

/// Writes what the file system holds back, with which it gives up what was removed.
fn commit(at: &OwnedFd) {
    // The directory may be open as a path only.
    if let Ok(directory) =
        openat(at, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    {
        // Ignored: what it does not give back is not waited for.
        let _ = syncfs(directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::open;

    fn here() -> OwnedFd {
        open(std::env::temp_dir(), OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap()
    }

    #[test]
    fn what_finds_room_at_the_second_attempt_is_no_error() {
        let mut left = 2;
        let reserve = || {
            left -= 1;
            if left == 0 { Ok(()) } else { Err(Errno::NOSPC) }
        };
        assert_eq!(reserved(&here(), reserve), Ok(()));
    }

    #[test]
    fn other_errors_are_not_waited_for_and_no_room_ends_within_the_time() {
        let mut attempts = 0;
        let refuse = || {
            attempts += 1;
            Err(Errno::DQUOT)
        };
        assert_eq!((reserved(&here(), refuse), attempts), (Err(Errno::DQUOT), 1));
        let began = Instant::now();
        assert_eq!(reserved(&here(), || Err(Errno::NOSPC)), Err(Errno::NOSPC));
        assert!(began.elapsed() >= STILL, "{:?}", began.elapsed());
    }

    #[test]
    fn more_files_than_inodes_and_more_bytes_than_space_are_refused() {
        let text =
            |files, bytes| require_room(&here(), Path::new("/d"), files, bytes).map_err(|why| why.text);
        assert_eq!(text(1, 0), Ok(()));
        assert!(text(1, u64::MAX).unwrap_err().contains("the files take"));
    }
}
