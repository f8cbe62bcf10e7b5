//! Progress of copying the binary to a node, shared by sender and waiting thread.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Progress of the copy to one node.
///
/// Only a standstill is limited, since link speeds differ a thousandfold. The agent's time for its hello starts after
/// the copy.
#[derive(Debug, Default)]
pub(super) struct Copying(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Whether the node had a copy, which may be corrupt.
    was_there: bool,
    /// Time of the last progress; `None` before the first byte.
    moved: Option<Instant>,
    /// Bytes sent and total, while sending.
    under_way: Option<(u64, u64)>,
}

impl Copying {
    pub(super) fn found(&self) {
        self.state().was_there = true;
    }

    pub(super) fn was_there(&self) -> bool {
        self.state().was_there
    }

    pub(super) fn sent(&self, bytes: u64, of: u64) {
        let mut state = self.state();
        (state.moved, state.under_way) = (Some(Instant::now()), Some((bytes, of)));
    }

    /// Progress of unknown amount.
    pub(super) fn went_on(&self) {
        self.state().moved = Some(Instant::now());
    }

    pub(super) fn arrived(&self) {
        let mut state = self.state();
        (state.moved, state.under_way) = (Some(Instant::now()), None);
    }

    pub(super) fn moved(&self) -> Option<Instant> {
        self.state().moved
    }

    /// The message when nothing has moved for `quiet`, as a fragment; `None` unless sending.
    pub(super) fn complaint(&self, quiet: Duration) -> Option<String> {
        let (sent, all) = self.state().under_way?;
        let quiet = quiet.as_secs_f64();
        Some(format!(
            "copying the binary stalled for {quiet} s, after {sent} of {all} B: the login worked, so large packets may be \
             lost on the way (compare the MTU of the ports), or the node has no room"
        ))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
