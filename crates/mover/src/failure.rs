//! What went wrong with one file, in words that say what to do.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::io::Errno;

/// A file that was not copied, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The path of the source, or the path below the target.
    pub path: Vec<u8>,
    /// Cause and remedy.
    pub text: String,
}

impl Failure {
    pub fn new(path: impl AsRef<[u8]>, text: impl Into<String>) -> Self {
        Self { path: path.as_ref().to_vec(), text: text.into() }
    }

    /// The failure of a system call while `doing` something.
    pub fn of(path: impl AsRef<[u8]>, doing: &str, error: &io::Error) -> Self {
        Self::new(path, explained(doing, error))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Path::new(OsStr::from_bytes(&self.path)).display(), self.text)
    }
}

/// An error of the system with what to do about it.
pub fn explained(doing: &str, error: &io::Error) -> String {
    let remedy = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOSPC) => "; free space in the target and copy again: what is complete stays",
        Some(Errno::DQUOT) => "; free space within the quota and copy again: what is complete stays",
        Some(Errno::ROFS) => "; mount the target for writing, or choose another",
        Some(Errno::ACCESS | Errno::PERM) => "; change the permissions, or copy as a user who has them",
        Some(Errno::NOTDIR | Errno::LOOP) => {
            "; a file or a symbolic link stands in the place of a directory or a file: remove it"
        }
        Some(Errno::ISDIR) => "; a directory stands in the place of the file: remove it",
        Some(Errno::NAMETOOLONG) => "; the target's file system takes no name as long as that",
        Some(Errno::NOENT) => "; it vanished while it was copied",
        _ => "",
    };
    format!("{doing}: {error}{remedy}")
}
