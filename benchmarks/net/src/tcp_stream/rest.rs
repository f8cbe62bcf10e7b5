//! A receiver that rests: a slow program in the place of ours, for tests of what the numbers then say.

use std::time::Duration;

use seatrial_sys::Errno;
use seatrial_sys::net::Pull;

/// Rests after each call that took something.
pub struct Resting {
    pull: Box<dyn Pull>,
    rest: Duration,
}

impl Resting {
    pub fn new(pull: Box<dyn Pull>, rest: Duration) -> Self {
        Self { pull, rest }
    }
}

impl Pull for Resting {
    fn pull(&mut self) -> Result<usize, Errno> {
        let took = self.pull.pull()?;
        std::thread::sleep(self.rest);
        Ok(took)
    }

    fn last(&self) -> &[u8] {
        self.pull.last()
    }

    fn settle(&mut self) -> Result<usize, Errno> {
        self.pull.settle()
    }

    fn mapped(&self) -> Option<u64> {
        self.pull.mapped()
    }
}
