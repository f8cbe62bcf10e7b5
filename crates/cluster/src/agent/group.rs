//! A worker's process group: signals it as a whole, and reaps what the worker leaves.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group,
    test_kill_process_group, waitid, waitpgid, waitpid,
};
use seatrial_sys::root::SysRoot;

const EMPTYING: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug)]
pub(super) struct Group(Pid);

impl Group {
    pub(super) fn of(leader: &Child) -> Self {
        Self(Pid::from_child(leader))
    }

    pub(super) fn pid(self) -> u32 {
        self.0.as_raw_nonzero().get().unsigned_abs()
    }

    pub(super) fn signal(self, signal: Signal) {
        match kill_process_group(self.0, signal) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(errno) => {
                tracing::warn!("cannot send {signal:?} to process group {}: {errno}", self.pid());
            }
        }
    }

    /// Blocks until the group leader has exited, without reaping it: until then its pid is not reused.
    pub(super) fn wait_for_leader(self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(self.0), options), Err(Errno::INTR)) {}
    }

    /// Kills the rest of the group, reaps the leader and then its orphans (this process is their subreaper). Bounded
    /// in time, since a descendant may be in uninterruptible sleep. Also returns whether the group is empty.
    pub(super) fn reap(self, leader: &mut Child) -> io::Result<(ExitStatus, bool)> {
        self.signal(Signal::KILL);
        let status = leader.wait()?;
        let deadline = Instant::now() + EMPTYING;
        loop {
            while let Ok(Some(_)) = waitpgid(self.0, WaitOptions::NOHANG) {}
            if test_kill_process_group(self.0) == Err(Errno::SRCH) {
                return Ok((status, true));
            }
            if Instant::now() >= deadline {
                tracing::warn!(
                    "processes started by worker process {} are still running after SIGKILL",
                    self.pid()
                );
                return Ok((status, false));
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Kills and reaps children of this process other than `ours`: descendants that left the group of their worker.
pub(super) fn sweep(ours: &BTreeSet<u32>) {
    let deadline = Instant::now() + EMPTYING;
    loop {
        let strays: Vec<Pid> =
            children().into_iter().filter(|pid| !ours.contains(pid)).filter_map(process_id).collect();
        if strays.is_empty() || Instant::now() >= deadline {
            return;
        }
        for &stray in &strays {
            // ESRCH and ECHILD: another thread was faster.
            let _ = kill_process(stray, Signal::KILL);
            let _ = waitpid(Some(stray), WaitOptions::NOHANG);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// The children of all threads of this process (proc_tid_children(5)); empty where the kernel does not list them.
fn children() -> Vec<u32> {
    let root = SysRoot::live();
    let threads = root.numbered("/proc/self/task", "").unwrap_or_default();
    let lists = threads.iter().filter_map(|id| root.text(format!("/proc/self/task/{id}/children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

fn process_id(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}
