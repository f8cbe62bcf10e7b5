//! Datagrams too short to carry their number.

use seatrial_model::{Cause, Reason};

use super::message::{NUMBERED, WINDOW};

/// A short message of none of the numbers that it may have: wrong data, or the first behind more lost ones than can be
/// told apart. The message after it decides.
#[derive(Debug)]
pub struct Unclear {
    /// The parameter of its length.
    param: &'static str,
    is_possible: bool,
    wrong: Option<Reason>,
}

impl Unclear {
    /// For messages of `len` bytes, as the parameter `param` says.
    pub fn new(param: &'static str, len: usize, is_udp: bool) -> Self {
        Self { param, is_possible: is_udp && len < NUMBERED, wrong: None }
    }

    /// A message of no known number, which is this wrong data if it is not behind lost ones.
    pub fn unknown(&mut self, wrong: Reason) -> Result<(), Reason> {
        if !self.is_possible {
            return Err(wrong);
        }
        self.undecided()?;
        self.wrong = Some(wrong);
        Ok(())
    }

    /// A message of a number that was expected: nothing was lost before it, so what came before was wrong.
    pub fn expected(&mut self) -> Result<(), Reason> {
        self.wrong.take().map_or(Ok(()), Err)
    }

    /// An old message, or none any more: nothing decides what came before.
    pub fn undecided(&self) -> Result<(), Reason> {
        if self.wrong.is_none() {
            return Ok(());
        }
        let text = format!(
            "more than {WINDOW} datagrams in a row were lost or late, which messages of less than {NUMBERED} B cannot \
             tell from wrong data: raise -p {}= to {NUMBERED}B",
            self.param
        );
        Err(Reason::new(Cause::Contradiction, text))
    }
}
