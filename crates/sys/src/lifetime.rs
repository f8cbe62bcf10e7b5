//! Ties a worker's process group to its supervisor: the whole group dies when the supervisor does.
//!
//! [`die_with_parent`](crate::process::die_with_parent) makes the kernel send SIGKILL, which ends the worker alone
//! and leaves its children to init. Here the kernel sends a signal that the worker catches, and the handler kills the
//! group.
#![expect(unsafe_code, reason = "signal dispositions, which only sigaction can set")]

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, getpgrp, getpid, getppid, kill_current_process_group, kill_process,
    set_parent_process_death_signal,
};

/// Raised by no kernel on any hardware that Seatrial runs on (signal(7)), so no other code uses it.
const ORPHANED: Signal = Signal::STKFLT;

/// Kills the calling process at once, and its process group if the process leads that group.
///
/// A worker under a wrapper shares the wrapper's group, which must survive. SIGKILL and not an exit, since the exit
/// handlers of a driver or an MPI library may hang. Async-signal-safe.
pub fn die_with_group() -> ! {
    if getpgrp() == getpid() {
        let _ = kill_current_process_group(Signal::KILL);
    }
    let _ = kill_process(getpid(), Signal::KILL);
    // SIGKILL to oneself takes effect before the system call returns.
    std::process::abort()
}

/// Makes the calling process [die with its group](die_with_group) as soon as its parent does; ESRCH if the parent is
/// gone already. The "parent" is the thread that forked, as in [`die_with_parent`](crate::process::die_with_parent).
pub fn tie_group_to_parent(parent: Pid) -> Result<(), Errno> {
    extern "C" fn orphaned(_: libc::c_int) {
        die_with_group();
    }
    dispose(ORPHANED, orphaned as *const () as libc::sighandler_t)?;
    set_parent_process_death_signal(Some(ORPHANED))?;
    // The parent may have died before the call took effect; then we have another parent by now.
    if getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH) }
}

pub fn ignore(signal: Signal) -> Result<(), Errno> {
    dispose(signal, libc::SIG_IGN)
}

fn dispose(signal: Signal, disposition: libc::sighandler_t) -> Result<(), Errno> {
    // SAFETY: all zeroes is a valid sigaction: no flags, an empty mask, the default disposition.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = disposition;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: `action` is initialised, the old one is not asked for, and the only handler given is async-signal-safe.
    let rc = unsafe { libc::sigaction(signal.as_raw(), &raw const action, std::ptr::null_mut()) };
    if rc == 0 {
        Ok(())
    } else {
        Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn an_ignored_signal_does_nothing_and_stays_ignored_in_children() {
        ignore(Signal::USR2).expect("set");
        kill_process(getpid(), Signal::USR2).expect("sent to ourselves, and survived");
        let status = Command::new("sh").args(["-c", "kill -USR2 $$; exit 7"]).status().expect("ran");
        assert_eq!(status.code(), Some(7));
    }

    #[test]
    fn notices_a_parent_that_is_gone_already() {
        assert_eq!(tie_group_to_parent(Pid::INIT), Err(Errno::SRCH));
        set_parent_process_death_signal(None).expect("taken back");
    }

    #[test]
    fn refuses_what_cannot_be_ignored() {
        assert_eq!(ignore(Signal::KILL), Err(Errno::INVAL));
    }
}
