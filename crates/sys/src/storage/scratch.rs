//! Files that nobody but their owner sees and that vanish with it, however it ends.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, unlinkat};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

/// How a file is kept from staying behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hiding {
    /// It never had a name (`O_TMPFILE`).
    Nameless,
    /// It had one for a moment, while it was empty, and lost it.
    Unlinked,
    /// It has one, in a folder that says whose it is, for others to find.
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

/// A new, empty file in the directory `at`, to read and write, without a name. With `durable` every write waits until
/// its data is on the medium (`O_DSYNC`), which cannot be switched on later.
///
/// # Errors
/// What the system answers: `EROFS`, `EACCES`, `ENOENT` when the directory was removed, and others.
pub fn scratch(at: impl AsFd, durable: bool) -> Result<(OwnedFd, Hiding), Errno> {
    // Some file systems answer EPERM for a removed directory, others EINVAL.
    if fstat(at.as_fd())?.st_nlink == 0 {
        return Err(Errno::NOENT);
    }
    let durable = if durable { OFlags::DSYNC } else { OFlags::empty() };
    let access = OFlags::RDWR | OFlags::CLOEXEC | durable;
    let mode = Mode::RUSR | Mode::WUSR;
    // With O_EXCL it can never be given a name (open(2)).
    match openat(at.as_fd(), c".", access | OFlags::TMPFILE | OFlags::EXCL, mode) {
        Ok(file) => return Ok((file, Hiding::Nameless)),
        // A file system without it; a kernel without it takes the call for one that opens a directory.
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
