//! Ctrl-C and SIGTERM held back while there is something to put back first.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result, ensure};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// As long as it lives, the signals that end a program are only noted; afterwards they end it as ever. Commands that
/// this program runs get those of the terminal by themselves.
pub struct Interrupt(&'static Flags);

/// One pair a process: a handler cannot be taken back.
#[derive(Default)]
struct Flags {
    came: Arc<AtomicBool>,
    ends: Arc<AtomicBool>,
}

static FLAGS: OnceLock<Flags> = OnceLock::new();

impl Interrupt {
    /// Begins to hold them back.
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub fn hold_back() -> Result<Self> {
        let is_first = FLAGS.get().is_none();
        let flags = FLAGS.get_or_init(Flags::default);
        if is_first {
            for signal in [SIGINT, SIGTERM] {
                flag::register_conditional_default(signal, Arc::clone(&flags.ends))
                    .and_then(|_| flag::register(signal, Arc::clone(&flags.came)))
                    .context("cannot catch signals")?;
            }
        }
        flags.came.store(false, Ordering::Relaxed);
        flags.ends.store(false, Ordering::Relaxed);
        Ok(Self(flags))
    }

    pub fn came(&self) -> bool {
        self.0.came.load(Ordering::Relaxed)
    }

    /// Goes on when none came.
    ///
    /// # Errors
    /// When one came.
    pub fn check(&self) -> Result<()> {
        ensure!(!self.came(), "interrupted");
        Ok(())
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.0.ends.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_noted_and_does_not_end_us_and_the_next_hold_knows_nothing_of_it() {
        for _ in 0..2 {
            let held = Interrupt::hold_back().unwrap();
            held.check().unwrap();
            signal_hook::low_level::raise(SIGTERM).unwrap();
            assert!(held.came());
            assert_eq!(held.check().unwrap_err().to_string(), "interrupted");
        }
    }
}
