//! Events for the main loop of an agent, from its other threads.

use crate::message::{Command, WorkerId};

pub(super) enum Event {
    Command(Box<Command>),
    Closed(String),
    Gone { worker: WorkerId, abandoned: bool },
}
