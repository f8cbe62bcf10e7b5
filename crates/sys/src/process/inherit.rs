//! Passes an open descriptor to a child process.
#![expect(unsafe_code, reason = "a hook between fork and exec; taking over a descriptor by its number")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Mutex;

use rustix::io::{Errno, FdFlags, fcntl_getfd, fcntl_setfd};

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InheritError {
    #[error("descriptor {0} is not one that a supervisor hands over")]
    Reserved(RawFd),
    #[error("descriptor {0} is not open; was this process started by its supervisor?")]
    Closed(RawFd),
    /// The descriptor was opened here, or has been adopted already.
    #[error("descriptor {0} was not inherited")]
    NotInherited(RawFd),
    #[error("descriptor {fd}: {errno}")]
    System { fd: RawFd, errno: Errno },
}

/// Two connected stream sockets, both close-on-exec: one to keep, one to hand over.
pub fn socket_pair() -> io::Result<(UnixStream, UnixStream)> {
    UnixStream::pair()
}

/// Makes the child of `command` inherit `fd`; returns the child's descriptor number.
///
/// Close-on-exec is cleared in the child after the fork, so that no other child started meanwhile inherits the
/// connection. The supervisor's copy is closed when `command` is dropped; until then the socket does not show the
/// child's end.
pub fn inherit(command: &mut Command, fd: impl Into<OwnedFd>) -> RawFd {
    let fd: OwnedFd = fd.into();
    let number = fd.as_raw_fd();
    let keep = move || fcntl_setfd(fd.as_fd(), FdFlags::empty()).map_err(io::Error::from);
    // SAFETY: the hook makes one async-signal-safe system call and allocates nothing.
    unsafe { command.pre_exec(keep) };
    number
}

/// Takes ownership of the inherited descriptor `number`; later children do not inherit it.
///
/// Rust opens everything with close-on-exec, so a descriptor without that flag came from outside and has no owner
/// here. Adopting sets the flag, so it works once.
pub fn adopt(number: RawFd) -> Result<OwnedFd, InheritError> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    if number <= 2 {
        return Err(InheritError::Reserved(number));
    }
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // SAFETY: the borrow ends with this function; if the number is not open, the calls on it answer EBADF.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    let system = |errno| match errno {
        Errno::BADF => InheritError::Closed(number),
        errno => InheritError::System { fd: number, errno },
    };
    if fcntl_getfd(borrowed).map_err(system)?.contains(FdFlags::CLOEXEC) {
        return Err(InheritError::NotInherited(number));
    }
    fcntl_setfd(borrowed, FdFlags::CLOEXEC).map_err(system)?;
    // SAFETY: it is open, and by the reasoning above it was inherited and is owned by nobody in this process.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::process::Stdio;

    #[test]
    fn a_child_writes_to_the_descriptor_it_inherited() {
        let (mut ours, theirs) = socket_pair().expect("a pair");
        // Not `sh`: dash supports only one-digit descriptors, and other tests hold the low ones.
        let mut shell = Command::new("bash");
        let number = inherit(&mut shell, theirs);
        let status = shell.arg("-c").arg(format!("echo hello >&{number}")).status().expect("ran");
        assert!(status.success());
        drop(shell);
        let mut text = String::new();
        ours.read_to_string(&mut text).expect("read to the end");
        assert_eq!(text, "hello\n");
    }

    #[test]
    fn another_child_does_not_get_it() {
        let (_ours, theirs) = socket_pair().expect("a pair");
        let mut first = Command::new("true");
        let number = inherit(&mut first, theirs);
        let script = format!("echo >&{number}");
        let other = Command::new("bash").args(["-c", &script]).stderr(Stdio::null()).status().expect("ran");
        assert!(!other.success());
    }

    #[test]
    fn adopts_once_and_only_what_was_inherited() {
        let (ours, theirs) = socket_pair().expect("a pair");
        let number = OwnedFd::from(theirs);
        assert_eq!(adopt(number.as_raw_fd()).err(), Some(InheritError::NotInherited(number.as_raw_fd())));
        fcntl_setfd(&number, FdFlags::empty()).expect("flag taken away");
        let number = std::os::fd::IntoRawFd::into_raw_fd(number);
        let adopted = adopt(number).expect("adopted");
        assert_eq!(adopt(number).err(), Some(InheritError::NotInherited(number)));
        drop(adopted);
        let mut rest = Vec::new();
        (&ours).read_to_end(&mut rest).expect("closed on the other side");
    }

    #[test]
    fn refuses_standard_streams_and_closed_numbers() {
        assert_eq!(adopt(1).err(), Some(InheritError::Reserved(1)));
        assert_eq!(adopt(-1).err(), Some(InheritError::Reserved(-1)));
        assert_eq!(adopt(999_999).err(), Some(InheritError::Closed(999_999)));
    }
}
