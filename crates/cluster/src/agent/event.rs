//! What the threads of an agent tell its main thread.

use crate::message::{Command, WorkerId};

/// What the main loop reacts to.
pub(super) enum Event {
    /// The controller wants something.
    Command(Box<Command>),
    /// The controller is gone, or mad.
    Closed(String),
    /// A worker has ended or was left behind, and that was reported.
    Gone { worker: WorkerId, abandoned: bool },
}
