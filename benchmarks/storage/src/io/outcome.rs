//! What an answer of the system means for the case.

use seatrial_model::{Cause, Reason};
use seatrial_sys::Errno;

/// When the answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// While files were made: what is refused here was never promised.
    Making,
    /// While they were used: it was promised.
    Using,
    /// While making and using are one, as where names are made and removed.
    Either,
}

/// The error of `what`, which the system answered with `errno` where making and using are one.
pub fn refused(what: &str, errno: Errno) -> Reason {
    error(When::Either, what, errno)
}

/// The error of `what`, which the system answered with `errno`.
pub fn error(when: When, what: &str, errno: Errno) -> Reason {
    let (cause, next) = match (errno, when) {
        (Errno::NOSPC, When::Either) => {
            (Cause::NoSpace, "; space or inodes are used up: free some, or make less")
        }
        (Errno::NOSPC, _) => (Cause::NoSpace, "; free some, or lower size="),
        (Errno::DQUOT, _) => (Cause::NoSpace, "; the quota is used up: lower size="),
        (Errno::FBIG, _) => (Cause::NoSpace, "; no file may be that large here: lower size="),
        (Errno::MLINK, _) => (Cause::NoSpace, "; the file system holds no more of these"),
        (Errno::NOMEM, _) => (Cause::NoSpace, "; memory is short: lower block=, depth= or threads="),
        (Errno::ACCESS | Errno::PERM, _) => (Cause::Denied, "; name a directory that may be written to"),
        // A file system that could be written a moment ago and cannot now was shut by its own errors.
        (Errno::ROFS, When::Using) => (Cause::IoError, "; the kernel has made the file system read-only"),
        (Errno::ROFS, When::Making) => (Cause::Denied, "; the file system is mounted read-only"),
        (Errno::ROFS, When::Either) => {
            (Cause::Denied, "; the file system is mounted read-only, or was made so after an error")
        }
        (Errno::NOENT | Errno::NOTDIR, When::Either) => {
            (Cause::Missing, "; the directory is not there, or was removed meanwhile")
        }
        (Errno::NOENT | Errno::NOTDIR, _) => (Cause::Missing, "; the directory is not there"),
        (Errno::LOOP | Errno::NAMETOOLONG, _) => (Cause::Missing, "; name another directory"),
        (Errno::MFILE | Errno::NFILE, _) => (Cause::Denied, "; raise the limit on open files (ulimit -n)"),
        (Errno::NOSYS | Errno::OPNOTSUPP | Errno::XDEV, _) => {
            (Cause::Missing, "; the file system cannot do this")
        }
        (Errno::INVAL, When::Making) => (Cause::Missing, "; the file system cannot do this"),
        _ => (Cause::IoError, "; see the kernel's log"),
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
