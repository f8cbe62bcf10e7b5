//! The binary on its way to a node, as the one who sends it and the one who waits for the agent both see it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How far the copy of the binary is on its way to one node.
///
/// Copying has no limit of its own length: links differ a thousandfold. What is limited is how long nothing moves, and
/// an agent's time to say hello begins when its binary is there.
#[derive(Debug, Default)]
pub(super) struct Copying(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Whether the node had a copy, which may be spoilt.
    was_there: bool,
    /// When something moved last; none when nothing was sent.
    moved: Option<Instant>,
    /// Bytes that were taken, and how many there are, while they are sent.
    under_way: Option<(u64, u64)>,
}

impl Copying {
    /// The node has a copy.
    pub(super) fn found(&self) {
        self.state().was_there = true;
    }

    /// Whether the node had a copy.
    pub(super) fn was_there(&self) -> bool {
        self.state().was_there
    }

    /// So many of all the bytes were taken.
    pub(super) fn sent(&self, bytes: u64, of: u64) {
        let mut state = self.state();
        (state.moved, state.under_way) = (Some(Instant::now()), Some((bytes, of)));
    }

    /// Something moved, of which no more is known.
    pub(super) fn went_on(&self) {
        self.state().moved = Some(Instant::now());
    }

    /// The node has all of it.
    pub(super) fn arrived(&self) {
        let mut state = self.state();
        (state.moved, state.under_way) = (Some(Instant::now()), None);
    }

    /// When something moved last; none when nothing was sent.
    pub(super) fn moved(&self) -> Option<Instant> {
        self.state().moved
    }

    /// What is to be said when nothing has moved for so long, as a fragment; none unless it is under way.
    pub(super) fn complaint(&self, quiet: Duration) -> Option<String> {
        let (sent, all) = self.state().under_way?;
        let quiet = quiet.as_secs_f64();
        Some(format!(
            "the binary is on its way, {sent} of {all} B were taken, and nothing moved for {quiet} s"
        ))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
