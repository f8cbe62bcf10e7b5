//! Signals and waits for a process, never a later process with the same PID.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::task;
use crate::root::{ReadError, SysRoot};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    #[error("process {pid} is gone", pid = .0.as_raw_nonzero())]
    Gone(Pid),
    #[error("{what} process {pid}: {errno}", pid = .pid.as_raw_nonzero())]
    System { what: &'static str, pid: Pid, errno: Errno },
    /// The start time, which replaces a pidfd before Linux 5.3, is unreadable.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// A process, identified by a pidfd, or by its start time where pidfds are missing (Linux before 5.3) or denied.
#[derive(Debug)]
pub struct Target {
    pid: Pid,
    identity: Identity,
}

#[derive(Debug)]
enum Identity {
    Pidfd(OwnedFd),
    StartTime(u64),
}

impl Target {
    /// The process that has this PID now. For a child that is not yet reaped, this is always the right one.
    pub fn open(pid: Pid) -> Result<Self, TargetError> {
        let identity = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(fd) => Identity::Pidfd(fd),
            Err(Errno::SRCH) => return Err(TargetError::Gone(pid)),
            Err(_) => Identity::StartTime(started(pid)?),
        };
        Ok(Self { pid, identity })
    }

    pub const fn pid(&self) -> Pid {
        self.pid
    }

    pub fn signal(&self, signal: Signal) -> Result<(), TargetError> {
        let sent = match &self.identity {
            Identity::Pidfd(fd) => pidfd_send_signal(fd, signal),
            Identity::StartTime(then) if started(self.pid)? == *then => kill_process(self.pid, signal),
            Identity::StartTime(_) => Err(Errno::SRCH),
        };
        sent.map_err(|errno| self.failed("signalling", errno))
    }

    /// Waits until the process has ended (a zombie has); false if it still runs after `limit`. Does not reap.
    pub fn wait(&self, limit: Duration) -> Result<bool, TargetError> {
        match &self.identity {
            Identity::Pidfd(fd) => {
                let timeout = Timespec::try_from(limit).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
                let mut fds = [PollFd::new(fd, PollFlags::IN)];
                match poll(&mut fds, Some(&timeout)) {
                    Ok(ready) => Ok(ready > 0),
                    Err(Errno::INTR) => Ok(false),
                    Err(errno) => Err(self.failed("waiting for", errno)),
                }
            }
            Identity::StartTime(then) => self.wait_by_looking(*then, limit),
        }
    }

    fn wait_by_looking(&self, then: u64, limit: Duration) -> Result<bool, TargetError> {
        let deadline = std::time::Instant::now() + limit;
        loop {
            match task::stat(&SysRoot::live(), &format!("/proc/{}", self.pid.as_raw_nonzero())) {
                Err(error) if error.is_missing() => return Ok(true),
                Err(error) => return Err(error.into()),
                Ok(stat) if stat.started != then || matches!(stat.state, 'Z' | 'X') => return Ok(true),
                Ok(_) if std::time::Instant::now() >= deadline => return Ok(false),
                Ok(_) => std::thread::sleep(Duration::from_millis(5).min(limit)),
            }
        }
    }

    const fn failed(&self, what: &'static str, errno: Errno) -> TargetError {
        match errno {
            Errno::SRCH => TargetError::Gone(self.pid),
            errno => TargetError::System { what, pid: self.pid, errno },
        }
    }
}

fn started(pid: Pid) -> Result<u64, TargetError> {
    match task::stat(&SysRoot::live(), &format!("/proc/{}", pid.as_raw_nonzero())) {
        Err(error) if error.is_missing() => Err(TargetError::Gone(pid)),
        stat => Ok(stat?.started),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command};

    fn sleeper() -> (Child, Pid) {
        let child = Command::new("sleep").arg("600").spawn().expect("started");
        let pid = Pid::from_child(&child);
        (child, pid)
    }

    fn both_identities(pid: Pid) -> [Target; 2] {
        let by_time = Target { pid, identity: Identity::StartTime(started(pid).expect("started")) };
        [Target::open(pid).expect("opened"), by_time]
    }

    #[test]
    fn signals_waits_and_knows_when_it_is_gone() {
        for which in 0..2 {
            let (mut child, pid) = sleeper();
            let targets = both_identities(pid);
            let target = &targets[which];
            assert_eq!(target.wait(Duration::from_millis(1)), Ok(false));
            target.signal(Signal::TERM).expect("sent");
            assert_eq!(target.wait(Duration::from_secs(60)), Ok(true));
            let status = child.wait().expect("reaped");
            assert_eq!(status.signal(), Some(Signal::TERM.as_raw()));
            assert_eq!(target.signal(Signal::TERM), Err(TargetError::Gone(pid)));
            assert_eq!(Target::open(pid).err(), Some(TargetError::Gone(pid)));
        }
    }

    #[test]
    fn a_process_of_another_start_time_is_not_signalled() {
        let (mut child, pid) = sleeper();
        let foreign = Target { pid, identity: Identity::StartTime(1) };
        assert_eq!(foreign.signal(Signal::KILL), Err(TargetError::Gone(pid)));
        assert_eq!(foreign.wait(Duration::ZERO), Ok(true));
        Target::open(pid).and_then(|target| target.signal(Signal::KILL)).expect("sent");
        assert_eq!(child.wait().expect("reaped").signal(), Some(Signal::KILL.as_raw()));
    }
}
