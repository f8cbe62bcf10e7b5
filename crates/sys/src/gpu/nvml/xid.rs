//! Driver errors by Xid number, as NVML events: the same errors as in the kernel's log, without access to that log.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ptr;

use super::layout::EventData;
use super::library::{Handle, Nvml, NvmlError, ask};
use super::table::EventSet;

const CRITICAL: u64 = 8;

/// Events read at most: a GPU that falls off the bus reports without end.
const MOST: usize = 64;

#[derive(Debug)]
pub struct Xids<'a> {
    nvml: &'a Nvml,
    set: EventSet,
}

// SAFETY: as for `Handle`: the library is thread-safe, and the set is a number to us.
unsafe impl Send for Xids<'_> {}

impl<'a> Handle<'a> {
    pub fn xids(&self) -> Result<Xids<'a>, NvmlError> {
        let mut set: EventSet = ptr::null_mut();
        ask!(self.nvml, event_set(&raw mut set))?;
        // From here on, drop frees the event set.
        let xids = Xids { nvml: self.nvml, set };
        ask!(self.nvml, register_events(self.device, CRITICAL, set))?;
        Ok(xids)
    }
}

impl Xids<'_> {
    /// The Xid numbers since the last call; never waits.
    pub fn seen(&self) -> Vec<u64> {
        let mut found = Vec::new();
        while found.len() < MOST {
            let mut event = EventData::default();
            // NVML_ERROR_TIMEOUT is the end of the events; after any other error there is nothing more to read.
            if ask!(self.nvml, event_wait(self.set, &raw mut event, 0)).is_err() {
                break;
            }
            if event.kind == CRITICAL {
                found.push(event.data);
            }
        }
        found
    }
}

impl Drop for Xids<'_> {
    fn drop(&mut self) {
        let _ = ask!(self.nvml, event_set_free(self.set));
    }
}
