//! The talk of two ends in a phase: both are ready, both have ended.

use seatrial_model::Reason;
use std::time::Instant;

use super::control::{Control, Said};
use super::kernel::POLL_INTERVAL;

/// The talk with the other end in a phase.
pub struct Talk<'a> {
    control: &'a mut Control,
    number: u16,
    until: Instant,
    ready: bool,
    ended: Option<Vec<u64>>,
}

impl<'a> Talk<'a> {
    /// On this connection, in the phase of that number; `until` is how long the other end may take.
    pub fn new(control: &'a mut Control, number: u16, until: Instant) -> Self {
        Self { control, number, until, ready: false, ended: None }
    }

    /// Says that we are ready, and waits for the other end to be; whether it is.
    pub fn begin(&mut self, is_broken: &dyn Fn() -> bool) -> Result<bool, Reason> {
        self.control.say(&Said::Ready(self.number))?;
        while !self.ready && !is_broken() && Instant::now() < self.until {
            self.listen()?;
        }
        Ok(self.ready)
    }

    pub fn listen_until(&mut self, is_over: impl Fn() -> bool) -> Result<(), Reason> {
        while !is_over() {
            self.listen()?;
        }
        Ok(())
    }

    /// Says how many we sent, and waits for the other end to say it; none when it does not.
    pub fn end(&mut self, sent: Vec<u64>, is_broken: &dyn Fn() -> bool) -> Result<Option<Vec<u64>>, Reason> {
        self.control.say(&Said::Ended(self.number, sent))?;
        while self.ended.is_none() && !is_broken() && Instant::now() < self.until {
            self.listen()?;
        }
        Ok(self.ended.take())
    }

    fn listen(&mut self) -> Result<(), Reason> {
        match self.control.hear(POLL_INTERVAL)? {
            Some(Said::Ready(phase)) if phase == self.number => self.ready = true,
            Some(Said::Ended(phase, sent)) if phase == self.number => self.ended = Some(sent),
            _ => {}
        }
        Ok(())
    }
}
