//! A receiver that rests, as a slow program does; for tests.

use std::time::Duration;

use seatrial_sys::Errno;
use seatrial_sys::net::Pull;

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
