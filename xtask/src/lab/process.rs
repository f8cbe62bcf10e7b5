//! Processes that are known again: a PID alone may have gone to another process since it was written down.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// A process, told from a later one of the same PID by the moment it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Process {
    /// Its PID in the namespace that the lab was made from.
    pub pid: u32,
    /// When it was started, in clock ticks since the machine was: field 22 of `/proc/PID/stat`, proc_pid_stat(5).
    pub start_ticks: u64,
}

impl Process {
    /// The process that has `pid` now; none when there is no such, or only its zombie.
    pub fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the program comes before and may hold anything, spaces and brackets too.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let is_over = matches!(*fields.first()?, "Z" | "X");
        if is_over { None } else { Some(Self { pid, start_ticks: fields.get(19)?.parse().ok()? }) }
    }

    /// Whether it still runs.
    pub fn is_alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }

    /// Sends SIGKILL, to this process and no other; nothing when it is gone.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn kill(self) -> Result<()> {
        let Some(pid) = Pid::from_raw(self.pid.cast_signed()) else { return Ok(()) };
        // A descriptor stays with the process that had the PID when it was opened. So the look at the start has to
        // come after, and then nothing can slip in between.
        let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else { return Ok(()) };
        if !self.is_alive() {
            return Ok(());
        }
        match pidfd_send_signal(&descriptor, Signal::KILL) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(error).with_context(|| format!("cannot kill process {}", self.pid)),
        }
    }

    /// The namespace of `kind` (`net`, `pid`, ...) that it is in, such as `net:[4026532000]`.
    pub fn namespace(self, kind: &str) -> Option<String> {
        let link = fs::read_link(format!("/proc/{}/ns/{kind}", self.pid)).ok()?;
        Some(link.to_string_lossy().into_owned())
    }

    /// Its PID as the processes of its own PID namespace see it.
    fn inner_pid(self) -> Option<u32> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
        line.split_whitespace().last()?.parse().ok()
    }

    /// What it is, for a message: PID, name, state and, where it sleeps in the kernel, in which function.
    pub fn describe(self) -> String {
        let read = |file: &str| fs::read_to_string(format!("/proc/{}/{file}", self.pid)).unwrap_or_default();
        let stat = read("stat");
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim().chars().next()).unwrap_or('?');
        format!("{} ({}, state {state} {})", self.pid, read("comm").trim(), read("wchan").trim())
    }
}

/// All processes in a namespace of `kind` with that `name` (see [`Process::namespace`]).
pub fn in_namespace(kind: &str, name: &str) -> BTreeSet<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| Process::of(entry.file_name().to_str()?.parse().ok()?));
    processes.filter(|process| process.namespace(kind).as_deref() == Some(name)).collect()
}

/// The process that has `inner` as its PID in the PID namespace `name`.
pub fn by_inner_pid(name: &str, inner: u32) -> Option<Process> {
    in_namespace("pid", name).into_iter().find(|process| process.inner_pid() == Some(inner))
}

/// Waits until all are gone.
///
/// # Errors
/// When some are still there after `limit`; names them.
pub fn wait_gone(processes: &[Process], limit: Duration) -> Result<()> {
    let deadline = Instant::now() + limit;
    loop {
        let left: Vec<Process> = processes.iter().copied().filter(|process| process.is_alive()).collect();
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            let left: Vec<String> = left.into_iter().map(Process::describe).collect();
            bail!("still there {} s after SIGKILL: {}", limit.as_secs(), left.join(", "));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_is_known_again_and_killed() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process::of(child.id()).unwrap();
        assert!(process.is_alive());
        process.kill().unwrap();
        wait_gone(&[process], Duration::from_secs(120)).unwrap();
        assert_eq!(Process::of(child.id()), None, "its zombie counts as gone");
        child.wait().unwrap();
        process.kill().unwrap();
    }

    #[test]
    fn a_later_process_of_the_same_pid_is_left_alone() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let now = Process::of(child.id()).unwrap();
        let earlier = Process { start_ticks: now.start_ticks - 1, ..now };
        assert!(!earlier.is_alive());
        earlier.kill().unwrap();
        assert!(now.is_alive());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn what_does_not_go_is_named() {
        let me = Process::of(std::process::id()).unwrap();
        let error = wait_gone(&[me], Duration::ZERO).unwrap_err().to_string();
        assert!(error.contains(&format!("{} (", me.pid)), "{error}");
        assert!(in_namespace("net", &me.namespace("net").unwrap()).contains(&me));
    }
}
