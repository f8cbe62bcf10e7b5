//! The control messages of a phase: both ends are ready, both have finished.

use seatrial_model::Reason;
use std::time::Instant;

use super::control::{Control, Said};
use super::kernel::POLL_INTERVAL;

pub struct Talk<'a> {
    control: &'a mut Control,
    number: u16,
    until: Instant,
    ready: bool,
    ended: Option<Vec<u64>>,
}

impl<'a> Talk<'a> {
    /// `until` is the deadline for the other end.
    pub fn new(control: &'a mut Control, number: u16, until: Instant) -> Self {
        Self { control, number, until, ready: false, ended: None }
    }

    /// Reports that this end is ready, and waits for the other end. Returns whether that is ready too.
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

    /// Reports the numbers sent, and waits for the other end's; `None` if it does not answer.
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
