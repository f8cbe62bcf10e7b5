//! Ctrl-C and SIGTERM stop a run in order: workers, record, exit code.

use std::io::{self, Read};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use seatrial_cluster::Nudge;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::{pipe, unregister};
use signal_hook::{SigId, flag};

#[derive(Clone, Debug, Default)]
pub struct Signals {
    stop: Arc<AtomicBool>,
    number: Arc<AtomicUsize>,
}

impl Signals {
    /// Installs the handlers. A second signal of a kind ends the process at once, in case the orderly end hangs.
    pub fn listen() -> io::Result<Self> {
        let signals = Self::default();
        for number in [SIGINT, SIGTERM] {
            flag::register_conditional_shutdown(number, 128 + number, Arc::clone(&signals.stop))?;
            flag::register_usize(number, Arc::clone(&signals.number), number as usize)?;
            flag::register(number, Arc::clone(&signals.stop))?;
        }
        Ok(signals)
    }

    /// Calls `nudge` after each signal until the result is dropped, so that a sleeping thread checks the flag.
    pub fn nudging(&self, nudge: Nudge) -> io::Result<Nudging> {
        let (mut read, write) = UnixStream::pair()?;
        let end = read.try_clone()?;
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            // Ends when either half is closed.
            while read.read(&mut [0]).is_ok_and(|bytes| bytes > 0) {
                nudge();
            }
        })?;
        let mut nudging = Nudging { end, handlers: Vec::new(), thread: Some(thread) };
        for number in [SIGINT, SIGTERM] {
            // After the handlers that set the flag: handlers run in order of registration.
            nudging.handlers.push(pipe::register(number, write.try_clone()?)?);
        }
        Ok(nudging)
    }

    pub fn flag(&self) -> &AtomicBool {
        &self.stop
    }

    pub fn number(&self) -> Option<u8> {
        u8::try_from(self.number.load(Ordering::Relaxed)).ok().filter(|number| *number > 0)
    }
}

/// A thread that passes signals on; stopped on drop.
#[derive(Debug)]
pub struct Nudging {
    end: UnixStream,
    handlers: Vec<SigId>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Nudging {
    fn drop(&mut self) {
        for handler in self.handlers.drain(..) {
            unregister(handler);
        }
        let _ = self.end.shutdown(Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_signal_raises_the_flag_and_then_nudges() {
        let signals = Signals::listen().expect("handlers");
        let (tell, told) = mpsc::channel();
        let seen = Arc::clone(&signals.stop);
        let nudge: Nudge = Arc::new(move || tell.send(seen.load(Ordering::Relaxed)).expect("somebody waits"));
        let nudging = signals.nudging(nudge).expect("a thread");
        signal_hook::low_level::raise(SIGTERM).expect("raised");
        assert_eq!(told.recv(), Ok(true));
        assert_eq!(signals.number(), Some(SIGTERM as u8));
        drop(nudging);
        assert!(told.recv().is_err(), "nobody passes anything on any more");
    }
}
