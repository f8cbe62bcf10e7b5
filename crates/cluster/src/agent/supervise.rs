//! How a worker ends: by itself, by SIGTERM, by SIGKILL, or not at all.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use seatrial_bench::stale_dirs::{Announced, KEPT, announced};
use seatrial_model::Evidence;
use seatrial_sys::root::SysRoot;
use seatrial_sys::storage::FdStore;
use serde_json::json;

use super::group::Group;
use super::leftovers::{Removal, SOON, in_use};
use super::output::Output;
use super::signal::signal_name;
use super::vitals::vitals;
use crate::message::{EndKind, WorkerEnd};

/// From SIGTERM to SIGKILL: time for a part to restore what it changed.
pub(super) const GRACE: Duration = Duration::from_millis(500);

/// From SIGKILL to giving up. Only uninterruptible sleep survives SIGKILL.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// How long to wait for the end of the output, which a descendant outside the group may hold open.
const LAST_WORDS: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    Kill,
    KillNow,
    Reap,
}

pub(super) struct Supervised {
    pub(super) child: Child,
    pub(super) channel: UnixStream,
    pub(super) relay: JoinHandle<Option<String>>,
    pub(super) output: Output,
    pub(super) asked: Receiver<Ask>,
    /// Files that the worker announced and that would outlive it.
    pub(super) announced: FdStore,
}

/// A worker that survived SIGKILL; reaped if it dies after all.
pub(super) struct Abandoned {
    child: Child,
    asked: Receiver<Ask>,
    left: Vec<Announced>,
}

impl Supervised {
    /// Waits for the worker's end, killing it on request; starts the removal of its files; returns how it ended.
    pub(super) fn supervise(mut self) -> (WorkerEnd, Result<Removal, Abandoned>) {
        let group = Group::of(&self.child);
        let mut evidence = Evidence::new();
        let dead = match self.asked.recv() {
            Ok(Ask::Reap) => true,
            Ok(Ask::Kill) => self.terminate(group, &mut evidence),
            Ok(Ask::KillNow) | Err(_) => self.kill(group),
        };
        let (how, is_empty) = match dead {
            true => group.reap(&mut self.child).map_or_else(lost, |(status, none)| (end_of(status), none)),
            false => (EndKind::Abandoned, false),
        };
        if !dead {
            evidence.insert("when_abandoned".to_owned(), vitals(&SysRoot::live(), group.pid()));
        }
        // Data sent before is still delivered, then end of file, whichever process still holds the socket.
        let _ = self.channel.shutdown(Shutdown::Both);
        let how = match self.relay.join() {
            Ok(Some(why)) => EndKind::Garbled { why },
            Ok(None) | Err(_) => how,
        };
        let output = self.output.stderr_tail(LAST_WORDS);
        let left = announced(&self.announced);
        let (kept, after) = match (dead, is_empty) {
            (true, true) => {
                let removal = Removal::start(left);
                (removal.kept(SOON), Ok(removal))
            }
            (true, false) => (in_use(&left), Ok(Removal::default())),
            (false, _) => (in_use(&left), Err(Abandoned { child: self.child, asked: self.asked, left })),
        };
        if !kept.is_empty() {
            evidence.insert(KEPT.to_owned(), json!(kept));
        }
        (WorkerEnd { how, output, evidence }, after)
    }

    fn terminate(&self, group: Group, evidence: &mut Evidence) -> bool {
        // Evidence first, since the signal changes the state of the process.
        evidence.insert(WorkerEnd::WHEN_KILLED.to_owned(), vitals(&SysRoot::live(), group.pid()));
        group.signal(Signal::TERM);
        // A stopped process handles SIGTERM only after SIGCONT.
        group.signal(Signal::CONT);
        if self.died_within(GRACE, Some(Ask::KillNow)) {
            return true;
        }
        evidence.insert("ignored".to_owned(), json!("SIGTERM"));
        self.kill(group)
    }

    fn kill(&self, group: Group) -> bool {
        group.signal(Signal::KILL);
        self.died_within(PATIENCE, None)
    }

    /// Whether the worker dies within `limit`, which the request `hurry` cuts short.
    fn died_within(&self, limit: Duration, hurry: Option<Ask>) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            match self.asked.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Ask::Reap) => return true,
                Ok(ask) if Some(ask) == hurry => return false,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
            }
        }
    }
}

impl Abandoned {
    pub(super) fn reap(mut self) -> Removal {
        while let Ok(ask) = self.asked.recv() {
            if ask == Ask::Reap {
                let buried = Group::of(&self.child).reap(&mut self.child);
                let is_empty = buried.is_ok_and(|(_, is_empty)| is_empty);
                return if is_empty { Removal::start(self.left) } else { Removal::default() };
            }
        }
        Removal::default()
    }
}

fn end_of(status: ExitStatus) -> EndKind {
    match status.signal() {
        Some(signal) => EndKind::Signalled { signal, name: signal_name(signal) },
        // A status without a signal has an exit code (wait(2)).
        None => EndKind::Exited { code: status.code().unwrap_or(-1) },
    }
}

/// Another thread reaped the process, which no thread here does.
fn lost(error: std::io::Error) -> (EndKind, bool) {
    tracing::error!("cannot reap a worker: {error}");
    (EndKind::Exited { code: -1 }, false)
}
