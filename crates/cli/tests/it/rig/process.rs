//! Processes of Seatrial for a home, found by their environment.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Far more than anything here takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The command itself.
    Main,
    Agent,
    Worker,
}

#[derive(Clone, Copy, Debug)]
pub struct Process {
    pub pid: Pid,
    pub role: Role,
}

/// Processes with `home` as SEATRIAL_HOME, descendants included. A zombie has no environment and does not count.
pub fn of_home(home: &Path) -> Vec<Process> {
    let wanted = [b"SEATRIAL_HOME=", home.as_os_str().as_bytes()].concat();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("procfs").flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        let Some(pid) = pid else { continue };
        // Processes of others, and processes that end meanwhile, cannot be read.
        let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
        if read("environ").split(|byte| *byte == 0).any(|variable| variable == wanted) {
            let role = match read("cmdline").split(|byte| *byte == 0).nth(1) {
                Some(b"agent") => Role::Agent,
                Some(b"worker") => Role::Worker,
                _ => Role::Main,
            };
            found.push(Process { pid, role });
        }
    }
    found
}

#[track_caller]
pub fn assert_nothing_runs(home: &Path) {
    wait_until("all processes of the run to be gone", || of_home(home).is_empty());
}

/// Kills a process that may be gone already.
pub fn kill(pid: Pid) {
    let _ = kill_process(pid, Signal::KILL);
}

#[track_caller]
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "waited {PATIENCE:?} for {what}");
        sleep(Duration::from_millis(5));
    }
}
