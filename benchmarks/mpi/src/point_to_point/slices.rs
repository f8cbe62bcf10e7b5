//! Turns of one size: how many round trips or windows fit, and the samples that they make.

use seatrial_model::{Nanos, Params, Quantity, Reason, Sample};
use seatrial_sys::clock::now_ns;

use super::config::osu_iterations;
use super::kernel::Pair;
use super::memory::Ring;
use crate::job::refused;
use crate::turns::{RunOrder, lead};

/// The channel of samples: messages that a rank sent or received, of latency its round trips.
pub const MESSAGES: &str = "messages";

/// A size, and where its messages are.
pub struct SizeState {
    pub size: u64,
    pub ring: Ring,
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
        Self { size, ring: Ring::new(size, region) }
    }

    /// A turn of the leader: runs messages until its time is over.
    pub fn lead(&mut self, pair: &mut Pair<'_>, turn: Turn, out: &mut Vec<Sample>) -> Result<(), Reason> {
        let mut last = None;
        let end = lead(turn.span, u64::MAX >> 1, |order| {
            pair.tell(order).map_err(refused)?;
            keep(order, &mut last, out);
            let sample = self.run(pair, order.count, turn)?;
            let took = sample.span().get();
            last = Some(sample);
            Ok(took)
        })?;
        pair.tell(end).map_err(refused)?;
        keep(end, &mut last, out);
        Ok(())
    }

    /// A turn of the other end: does what the leader tells.
    pub fn follow(&mut self, pair: &mut Pair<'_>, turn: Turn, out: &mut Vec<Sample>) -> Result<(), Reason> {
        let mut last = None;
        loop {
            let order = pair.told().map_err(refused)?;
            keep(order, &mut last, out);
            if order.count == 0 {
                return Ok(());
            }
            last = Some(self.run(pair, order.count, turn)?);
        }
    }

    /// The iterations of an OSU benchmark: both ends know how many.
    pub fn like_osu(&mut self, pair: &mut Pair<'_>, turn: Turn, out: &mut Vec<Sample>) -> Result<(), Reason> {
        let (warm_up, count) = osu_iterations(pair.op, self.size);
        pair.run(warm_up, &mut self.ring).map_err(refused)?;
        out.push(self.run(pair, count, turn)?);
        Ok(())
    }

    fn run(&mut self, pair: &mut Pair<'_>, count: u64, turn: Turn) -> Result<Sample, Reason> {
        let start = now_ns();
        pair.run(count, &mut self.ring).map_err(refused)?;
        let end = now_ns();
        let at = Params::from([
            ("rank", (turn.rank as u64).into()),
            ("size", self.size.into()),
            ("slice", turn.slice.into()),
        ]);
        let messages = Quantity::count(count * pair.window as u64);
        Ok(Sample::new(MESSAGES, at, (Nanos(start), Nanos(end)), messages))
    }
}

/// Keeps the sample of the last run where `order` says so.
fn keep(order: RunOrder, last: &mut Option<Sample>, out: &mut Vec<Sample>) {
    out.extend(last.take().filter(|_| order.keep));
}
