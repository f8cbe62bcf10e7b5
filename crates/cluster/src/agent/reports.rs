//! Reports of an agent to its controller, shared by the threads of all workers.

use std::fs::File;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use super::event::Event;
use crate::frame::{FrameError, FrameWriter};
use crate::message::Report;

/// Sends reports to the controller. A send blocks while the controller does not read, and with it the worker that is
/// relayed: back-pressure, which bounds memory. The main loop never sends, so it never blocks.
#[derive(Clone)]
pub(super) struct Reports {
    to: Arc<Mutex<FrameWriter<File>>>,
    events: Sender<Event>,
}

impl Reports {
    pub(super) fn new(to: File, events: Sender<Event>) -> Self {
        Self { to: Arc::new(Mutex::new(FrameWriter::new(to))), events }
    }

    /// When the controller is gone, the main loop gets an event and this returns no error.
    pub(super) fn send(&self, report: &Report) -> Result<(), FrameError> {
        match self.to.lock().unwrap_or_else(PoisonError::into_inner).write(report) {
            Err(error) if error.is_hang_up() => {
                let _ = self.events.send(Event::Closed(error.to_string()));
                Ok(())
            }
            sent => sent,
        }
    }
}
