//! The one way out of an agent, shared by the threads of all workers.

use std::fs::File;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use super::event::Event;
use crate::frame::{FrameError, FrameWriter};
use crate::message::Report;

/// Sends reports to the controller. A send waits while the controller does not read, and with it the thread that
/// relays a worker, and with that the worker: a flood is slowed at its source and fills nobody's memory. The
/// agent's main loop sends nothing, so it never waits.
#[derive(Clone)]
pub(super) struct Reports {
    to: Arc<Mutex<FrameWriter<File>>>,
    events: Sender<Event>,
}

impl Reports {
    pub(super) fn new(to: File, events: Sender<Event>) -> Self {
        Self { to: Arc::new(Mutex::new(FrameWriter::new(to))), events }
    }

    /// Sends one report. If the controller does not listen any more the main loop learns of it, and this is no error.
    pub(super) fn send(&self, report: &Report) -> Result<(), FrameError> {
        match self.to.lock().unwrap_or_else(PoisonError::into_inner).write(report) {
            Err(error) if error.is_hang_up() => {
                // The main loop may have ended already.
                let _ = self.events.send(Event::Closed(error.to_string()));
                Ok(())
            }
            sent => sent,
        }
    }
}
