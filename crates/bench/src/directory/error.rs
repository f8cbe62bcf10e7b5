//! Maps errors of the system to the cause of a case's outcome.

use std::io;
use std::path::Path;

use seatrial_model::{Cause, Reason};
use seatrial_sys::Errno;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// While files were made: the system never promised to support the request.
    Making,
    /// While files were used: the system had promised to support the request.
    Using,
    /// Making and using are one step, as for creating and removing names.
    Either,
}

/// The error of `what` for [`When::Either`].
pub fn refused(what: &str, errno: Errno) -> Reason {
    error(When::Either, what, errno)
}

/// The error of `what` at `path`, for [`When::Either`].
pub fn failed(what: &str, path: &Path, error: &io::Error) -> Reason {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
    refused(&format!("{what} {}", path.display()), errno)
}

pub fn error(when: When, what: &str, errno: Errno) -> Reason {
    let (cause, next) = match (errno, when) {
        (Errno::NOSPC, When::Either) => {
            (Cause::NoSpace, "; no space or inodes are left: free some, or lower files= or size=")
        }
        (Errno::NOSPC, _) => (Cause::NoSpace, "; no space is left: free some, or lower size="),
        (Errno::DQUOT, _) => (Cause::NoSpace, "; the disk quota is used up: lower size="),
        (Errno::FBIG, _) => {
            (Cause::NoSpace, "; the file is too large for the file system or ulimit -f: lower size=")
        }
        (Errno::MLINK, _) => (Cause::NoSpace, "; the file system allows no more links"),
        (Errno::NOMEM, _) => (Cause::NoSpace, "; memory is short: lower block=, depth= or threads="),
        (Errno::ACCESS | Errno::PERM, _) => (Cause::Denied, "; name a writable directory"),
        // A file system that was writable a moment ago was set read-only by its own errors.
        (Errno::ROFS, When::Using) => (Cause::IoError, "; the kernel has made the file system read-only"),
        (Errno::ROFS, When::Making) => (Cause::Denied, "; the file system is mounted read-only"),
        (Errno::ROFS, When::Either) => {
            (Cause::Denied, "; the file system is mounted read-only, or was made so after an error")
        }
        (Errno::NOENT | Errno::NOTDIR, When::Either) => (
            Cause::Missing,
            "; the directory does not exist, was removed meanwhile, or its file system cannot create files",
        ),
        (Errno::NOENT | Errno::NOTDIR, _) => {
            (Cause::Missing, "; the directory does not exist, or its file system cannot create files")
        }
        (Errno::LOOP | Errno::NAMETOOLONG, _) => (Cause::Missing, "; name another directory"),
        (Errno::MFILE | Errno::NFILE, _) => {
            (Cause::Denied, "; raise the limit on open files (ulimit -n; fs.file-max)")
        }
        (Errno::NOSYS | Errno::OPNOTSUPP | Errno::XDEV, _) => {
            (Cause::Missing, "; the file system cannot do this")
        }
        (Errno::INVAL, When::Making) => (Cause::Missing, "; the file system cannot do this"),
        _ => (Cause::IoError, "; see the kernel log (dmesg)"),
    };
    Reason::new(cause, format!("{what}: {errno}{next}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::Outcome;

    #[test]
    fn only_what_speaks_against_the_storage_fails() {
        let outcome = |when, errno| error(when, "write", errno).cause.outcome();
        for errno in [Errno::IO, Errno::STALE, Errno::NODEV, Errno::REMOTEIO, Errno::ROFS, Errno::INVAL] {
            assert_eq!(outcome(When::Using, errno), Outcome::Failed, "{errno}");
        }
        for errno in [Errno::NOSPC, Errno::DQUOT, Errno::ACCESS, Errno::ROFS, Errno::NOENT, Errno::INVAL] {
            assert_eq!(outcome(When::Making, errno), Outcome::Unmeasured, "{errno}");
        }
        let cause = |errno| refused("making a file", errno).cause;
        for errno in [Errno::IO, Errno::STALE, Errno::NODEV, Errno::REMOTEIO] {
            assert_eq!(cause(errno).outcome(), Outcome::Failed, "{errno}");
        }
        assert_eq!((cause(Errno::NOSPC), cause(Errno::DQUOT)), (Cause::NoSpace, Cause::NoSpace));
        assert_eq!((cause(Errno::ROFS), cause(Errno::ACCESS)), (Cause::Denied, Cause::Denied));
        assert_eq!(cause(Errno::NOENT), Cause::Missing);
    }
}
