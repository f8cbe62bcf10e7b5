//! What an answer of a file system means for the case.

use seatrial_model::Cause;
use seatrial_sys::Errno;

use crate::Error;

/// The error of `what`, which the system answered with `errno`.
pub fn refused(what: &str, errno: Errno) -> Error {
    let (cause, next) = match errno {
        Errno::NOSPC => (Cause::NoSpace, "; space or inodes are used up: free some, or make less"),
        Errno::DQUOT => (Cause::NoSpace, "; the quota is used up"),
        Errno::MLINK | Errno::FBIG => (Cause::NoSpace, "; the file system holds no more of these"),
        Errno::ACCESS | Errno::PERM => (Cause::Denied, "; name a directory that may be written to"),
        Errno::ROFS => {
            (Cause::Denied, "; the file system is mounted read-only, or was made so after an error")
        }
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG => {
            (Cause::Missing, "; the directory is not there, or was removed meanwhile")
        }
        Errno::MFILE | Errno::NFILE => (Cause::Denied, "; raise the limit on open files (ulimit -n)"),
        Errno::NOSYS | Errno::OPNOTSUPP | Errno::XDEV => (Cause::Missing, "; the file system cannot do this"),
        _ => (Cause::IoError, "; see the kernel's log"),
    };
    Error::new(cause, format!("{what}: {errno}{next}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::Outcome;

    #[test]
    fn only_what_speaks_against_the_storage_fails() {
        let cause = |errno| refused("making a file", errno).cause;
        for errno in [Errno::IO, Errno::STALE, Errno::NODEV, Errno::REMOTEIO] {
            assert_eq!(cause(errno).outcome(), Outcome::Failed, "{errno}");
        }
        assert_eq!((cause(Errno::NOSPC), cause(Errno::DQUOT)), (Cause::NoSpace, Cause::NoSpace));
        assert_eq!((cause(Errno::ROFS), cause(Errno::ACCESS)), (Cause::Denied, Cause::Denied));
        assert_eq!(cause(Errno::NOENT), Cause::Missing);
    }
}
