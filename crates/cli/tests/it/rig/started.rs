//! A running command, ended with its test.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::process::wait_until;
use super::{Ended, Home};

pub struct Started {
    child: Child,
    home: Home,
    out: PathBuf,
    err: PathBuf,
}

impl Started {
    pub(super) fn new(child: Child, home: Home, out: PathBuf, err: PathBuf) -> Self {
        Self { child, home, out, err }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Sends a signal to the process only.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("sent");
    }

    /// Sends a signal to the process group, as a terminal does on Ctrl-C.
    pub fn signal_group(&self, signal: Signal) {
        kill_process_group(self.pid(), signal).expect("sent");
    }

    pub fn err(&self) -> String {
        fs::read_to_string(&self.err).unwrap_or_default()
    }

    /// Waits until the journal of the newest run holds an event for which `wanted` is true.
    #[track_caller]
    pub fn wait_for_event(&mut self, what: &str, wanted: impl Fn(&serde_json::Value) -> bool) {
        wait_until(what, || {
            // Not reaped, so that its process id is not reused.
            let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
            let over = !stat.contains(") ") || stat.contains(") Z ");
            let there = self.home.events().iter().any(&wanted);
            assert!(there || !over, "it ended without {what}: {}", self.err());
            there
        });
    }

    #[track_caller]
    pub fn ended(mut self) -> Ended {
        let mut status = None;
        wait_until("the command to end", || {
            status = self.child.try_wait().expect("looked");
            status.is_some()
        });
        let status = status.expect("it ended");
        // Output of an agent is frames.
        let text = |path| String::from_utf8_lossy(&fs::read(path).expect("printed")).into_owned();
        Ended { code: status.code(), signal: status.signal(), out: text(&self.out), err: self.err() }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
