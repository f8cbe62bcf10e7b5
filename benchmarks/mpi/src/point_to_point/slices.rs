//! Turns of one size: how many round trips or windows fit, and the samples that they make.

use seatrial_model::{Nanos, Params, Quantity, Reason, Sample};
use seatrial_sys::clock::now_ns;

use super::config::osu_iterations;
use super::kernel::Pair;
use super::memory::Ring;
use crate::job::refused;

/// The channel of samples: messages that a rank sent or received, of latency its round trips.
pub const MESSAGES: &str = "messages";

/// A turn ends when less than this part of it is left.
const REST: u64 = 8;

/// A run of messages shorter than this part of a turn is no sample: it only serves to find out how many fit.
const SHORT: u64 = 4;

/// A size, and what is known of it.
pub struct SizeState {
    pub size: u64,
    pub ring: Ring,
    /// Nanoseconds of a round trip or window, as measured last.
    pace_ns: Option<u64>,
}

/// Where the samples of a turn belong.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    pub rank: usize,
    pub slice: u64,
    pub span: Nanos,
}

impl SizeState {
    pub fn new(size: u64, region: u64) -> Self {
        Self { size, ring: Ring::new(size, region), pace_ns: None }
    }

    /// A turn of the leader: runs messages until its time is over.
    pub fn lead(&mut self, pair: &mut Pair<'_>, turn: Turn, out: &mut Vec<Sample>) -> Result<(), Reason> {
        let until = now_ns() + turn.span.get();
        let mut left = turn.span.get();
        loop {
            let count = match self.pace_ns {
                None => 1,
                Some(pace) => (left / pace.max(1)).max(1),
            };
            pair.tell(count).map_err(refused)?;
            self.run(pair, count, turn, out)?;
            left = until.saturating_sub(now_ns());
            if left < turn.span.get() / REST {
                return pair.tell(0).map_err(refused);
            }
        }
    }

    /// A turn of the other end: does what the leader tells.
    pub fn follow(&mut self, pair: &mut Pair<'_>, turn: Turn, out: &mut Vec<Sample>) -> Result<(), Reason> {
        loop {
            match pair.told().map_err(refused)? {
                0 => return Ok(()),
                count => self.run(pair, count, turn, out)?,
            }
        }
    }

    /// The iterations of an OSU benchmark: both ends know how many.
    pub fn like_osu(&mut self, pair: &mut Pair<'_>, turn: Turn, out: &mut Vec<Sample>) -> Result<(), Reason> {
        let (warm_up, count) = osu_iterations(pair.op, self.size);
        pair.run(warm_up, &mut self.ring).map_err(refused)?;
        self.run(pair, count, Turn { span: Nanos(0), ..turn }, out)
    }

    fn run(
        &mut self,
        pair: &mut Pair<'_>,
        count: u64,
        turn: Turn,
        out: &mut Vec<Sample>,
    ) -> Result<(), Reason> {
        let start = now_ns();
        pair.run(count, &mut self.ring).map_err(refused)?;
        let end = now_ns();
        let took = end - start;
        self.pace_ns = Some((took / count).max(1));
        if took >= turn.span.get() / SHORT {
            let at = Params::from([
                ("rank", (turn.rank as u64).into()),
                ("size", self.size.into()),
                ("slice", turn.slice.into()),
            ]);
            let messages = Quantity::count(count * pair.window as u64);
            out.push(Sample::new(MESSAGES, at, (Nanos(start), Nanos(end)), messages));
        }
        Ok(())
    }
}
