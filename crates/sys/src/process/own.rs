//! Settings of a process about itself: parent death signal, name.
#![expect(unsafe_code, reason = "a hook between fork and exec")]

use std::ffi::CString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, getppid, set_child_subreaper, set_parent_process_death_signal};

/// Makes the kernel kill the calling process when its parent ends; ESRCH if the parent is gone already.
///
/// The "parent" is the thread that forked, not the whole process (`PR_SET_PDEATHSIG`, prctl(2)): supervisors must
/// start workers from a thread that outlives them.
pub fn die_with_parent(parent: Pid) -> Result<(), Errno> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died before the call took effect; then we have another parent by now.
    if getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH) }
}

/// Makes the kernel kill the child of `command` when the calling thread ends.
pub fn tie_to_parent(command: &mut Command) -> &mut Command {
    let parent = getpid();
    // SAFETY: the hook only makes two system calls, both async-signal-safe, and allocates nothing.
    unsafe { command.pre_exec(move || die_with_parent(parent).map_err(io::Error::from)) }
}

/// Sends the child SIGTERM when the calling thread ends, for programs such as srun(1) that have children to end
/// themselves.
pub fn leave_with_parent(command: &mut Command) -> &mut Command {
    let parent = getpid();
    let tie = move || {
        set_parent_process_death_signal(Some(Signal::TERM))?;
        if getppid() == Some(parent) { Ok(()) } else { Err(io::Error::from(Errno::SRCH)) }
    };
    // SAFETY: the hook only makes two system calls, both async-signal-safe, and allocates nothing.
    unsafe { command.pre_exec(tie) }
}

/// Makes orphaned descendants children of this process instead of init, so that it can reap them.
pub fn reap_orphans() -> Result<(), Errno> {
    // Any process id switches it on; the kernel only checks for 0.
    set_child_subreaper(Some(getpid()))
}

/// Names the calling thread for `ps` and `top`. The kernel keeps 15 bytes.
pub fn name_thread(name: &str) -> Result<(), Errno> {
    let bytes: Vec<u8> = name.bytes().filter(|&byte| byte != 0).take(15).collect();
    rustix::thread::set_name(&CString::new(bytes).map_err(|_| Errno::INVAL)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;
    use std::thread;

    #[test]
    fn a_tied_child_dies_with_the_thread_that_started_it() {
        let spawn = || {
            let mut sleep = Command::new("sleep");
            tie_to_parent(sleep.arg("600").stdin(Stdio::null())).spawn().expect("started")
        };
        let mut child = thread::spawn(spawn).join().expect("joined");
        let status = child.wait().expect("waited");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(Signal::KILL.as_raw()));
    }

    #[test]
    fn notices_a_parent_that_is_gone_already() {
        let mut sleep = Command::new("true");
        // SAFETY: the hook only makes two system calls, both async-signal-safe, and allocates nothing.
        unsafe { sleep.pre_exec(|| die_with_parent(Pid::INIT).map_err(io::Error::from)) };
        let error = sleep.spawn().expect_err("our child is not init's");
        assert_eq!(error.raw_os_error(), Some(Errno::SRCH.raw_os_error()));
    }

    #[test]
    fn names_are_cut_not_refused() {
        let name = thread::spawn(|| {
            name_thread("a-name-longer-than-the-kernel-keeps").expect("named");
            rustix::thread::name().expect("read")
        });
        assert_eq!(name.join().expect("joined").to_bytes(), b"a-name-longer-t");
    }

    #[test]
    fn orphans_come_to_the_reaper() {
        reap_orphans().expect("set");
        assert!(rustix::process::child_subreaper().expect("asked").is_some());
    }
}
