//! Scratch files that vanish with their owner, however the owner ends.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, unlinkat};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hiding {
    /// The file never had a name (`O_TMPFILE`).
    Nameless,
    Unlinked,
    /// The file has a name, in a directory that names its owner for later cleanup.
    Named,
}

impl Hiding {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nameless => "nameless",
            Self::Unlinked => "unlinked",
            Self::Named => "named",
        }
    }
}

/// A new, empty, unnamed file in the directory `at`, to read and write. With `durable` every write waits until its
/// data is on the medium (`O_DSYNC`), which cannot be switched on later.
pub fn scratch(at: impl AsFd, durable: bool) -> Result<(OwnedFd, Hiding), Errno> {
    // Some file systems answer EPERM for a removed directory, others EINVAL.
    if fstat(at.as_fd())?.st_nlink == 0 {
        return Err(Errno::NOENT);
    }
    let durable = if durable { OFlags::DSYNC } else { OFlags::empty() };
    let access = OFlags::RDWR | OFlags::CLOEXEC | durable;
    let mode = Mode::RUSR | Mode::WUSR;
    // With O_EXCL the file can never get a name (open(2)).
    match openat(at.as_fd(), c".", access | OFlags::TMPFILE | OFlags::EXCL, mode) {
        Ok(file) => return Ok((file, Hiding::Nameless)),
        // The file system lacks O_TMPFILE; a kernel without it opens the directory.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => {}
        Err(errno) => return Err(errno),
    }
    let mut random = [0_u8; 8];
    let _ = getrandom(&mut random, GetRandomFlags::empty())?;
    let name = format!(".seatrial-{:016x}", u64::from_ne_bytes(random));
    let file = openat(at.as_fd(), name.as_str(), access | OFlags::CREATE | OFlags::EXCL, mode)?;
    unlinkat(at.as_fd(), name.as_str(), AtFlags::empty())?;
    Ok((file, Hiding::Unlinked))
}
