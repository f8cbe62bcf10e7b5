//! Ctrl-C and SIGTERM stop a run in order: workers first, then the record, then the exit code.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// What signals have asked for.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    stop: Arc<AtomicBool>,
    number: Arc<AtomicUsize>,
}

impl Signals {
    /// Listens from now on. A second signal of the same kind ends the process at once, in case the orderly way hangs.
    ///
    /// # Errors
    /// When the system refuses the handler.
    pub fn listen() -> io::Result<Self> {
        let signals = Self::default();
        for number in [SIGINT, SIGTERM] {
            flag::register_conditional_shutdown(number, 128 + number, Arc::clone(&signals.stop))?;
            flag::register_usize(number, Arc::clone(&signals.number), number as usize)?;
            flag::register(number, Arc::clone(&signals.stop))?;
        }
        Ok(signals)
    }

    /// The flag that stops a run.
    pub fn flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// The signal that came, by number.
    pub fn number(&self) -> Option<u8> {
        u8::try_from(self.number.load(Ordering::Relaxed)).ok().filter(|number| *number > 0)
    }
}
