//! Turns of one size: how many exchanges of a pair fit, and the samples that they make.

use seatrial_bench::turns::{RunOrder, lead};
use seatrial_model::{Nanos, Params, Quantity, Reason, Sample};
use seatrial_mpi_job::between_nodes::MESSAGES;
use seatrial_mpi_job::refused;
use seatrial_sys::clock::now_ns;
use seatrial_sys::mpi::{Communicator, MpiError};

use crate::memory::Ring;

/// Tag of the number of exchanges that follow.
const COUNT: u16 = 102;

/// One end of a pair of ranks.
pub trait PairEnd {
    /// The communicator of both ends, and the rank of the other one.
    fn peer(&self) -> (&Communicator<'_>, usize);

    /// Messages or operations of one exchange.
    fn messages(&self) -> u64;

    /// Whether this end sees how long exchanges take.
    fn has_times(&self) -> bool {
        true
    }

    /// Before and after the exchanges of a run; no clock runs.
    fn begin(&mut self) -> Result<(), MpiError> {
        Ok(())
    }
    fn end(&mut self) -> Result<(), MpiError> {
        Ok(())
    }

    /// Whether OSU's benchmark of the same work has all ranks meet twice before each exchange, outside its clock (osu_mbw_mr).
    fn meets_like_osu(&self) -> bool {
        false
    }

    /// Exchanges `count` times, from and to the next places of `ring`.
    fn run(&mut self, count: u64, ring: &mut Ring) -> Result<(), MpiError>;
}

/// Tells the other end how many exchanges follow.
fn tell(end: &impl PairEnd, order: RunOrder) -> Result<(), Reason> {
    let (ranks, peer) = end.peer();
    ranks.send(&order.to_bytes(), peer, COUNT).map_err(refused)
}

/// What the leader tells.
fn receive_order(end: &impl PairEnd) -> Result<RunOrder, Reason> {
    let (mut bytes, (ranks, peer)) = ([0; 8], end.peer());
    ranks.receive(&mut bytes, peer, COUNT).map_err(refused)?;
    Ok(RunOrder::from_bytes(bytes))
}

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
    pub fn lead(&mut self, pair: &mut impl PairEnd, turn: Turn, out: &mut Vec<Sample>) -> Result<(), Reason> {
        let mut last = None;
        let end = lead(turn.span, u64::MAX >> 1, |order| {
            tell(pair, order)?;
            keep(order, &mut last, out);
            let sample = self.run(pair, order.count, turn)?;
            let took = sample.span().get();
            last = Some(sample);
            Ok(took)
        })?;
        tell(pair, end)?;
        keep(end, &mut last, out);
        Ok(())
    }

    /// A turn of the other end: does what the leader tells.
    pub fn follow(
        &mut self,
        pair: &mut impl PairEnd,
        turn: Turn,
        out: &mut Vec<Sample>,
    ) -> Result<(), Reason> {
        let mut last = None;
        loop {
            let order = receive_order(pair)?;
            keep(order, &mut last, out);
            if order.count == 0 {
                return Ok(());
            }
            last = Some(self.run(pair, order.count, turn)?).filter(|_| pair.has_times());
        }
    }

    /// The iterations of an OSU benchmark, warm-up and measured: both ends know how many.
    pub fn like_osu(
        &mut self,
        pair: &mut impl PairEnd,
        (warm_up, count): (u64, u64),
        turn: Turn,
        out: &mut Vec<Sample>,
    ) -> Result<(), Reason> {
        self.run_like_osu(pair, warm_up, turn)?;
        let sample = self.run_like_osu(pair, count, turn)?;
        out.extend(Some(sample).filter(|_| pair.has_times()));
        Ok(())
    }

    fn run_like_osu(&mut self, pair: &mut impl PairEnd, count: u64, turn: Turn) -> Result<Sample, Reason> {
        if !pair.meets_like_osu() {
            return self.run(pair, count, turn);
        }
        let (start, mut took) = (now_ns(), 0);
        for _ in 0..count {
            // The first is before OSU writes what it will check, the second before its clock starts.
            pair.peer().0.barrier().map_err(refused)?;
            pair.peer().0.barrier().map_err(refused)?;
            let before = now_ns();
            pair.run(1, &mut self.ring).map_err(refused)?;
            took += now_ns() - before;
        }
        Ok(self.sample(pair, count, (start, start + took), turn))
    }

    fn run(&mut self, pair: &mut impl PairEnd, count: u64, turn: Turn) -> Result<Sample, Reason> {
        pair.begin().map_err(refused)?;
        let start = now_ns();
        pair.run(count, &mut self.ring).map_err(refused)?;
        let end = now_ns();
        pair.end().map_err(refused)?;
        Ok(self.sample(pair, count, (start, end), turn))
    }

    fn sample(&self, pair: &impl PairEnd, count: u64, (start, end): (u64, u64), turn: Turn) -> Sample {
        let at = Params::from([
            ("rank", (turn.rank as u64).into()),
            ("size", self.size.into()),
            ("slice", turn.slice.into()),
        ]);
        let messages = Quantity::count(count * pair.messages());
        Sample::new(MESSAGES, at, (Nanos(start), Nanos(end)), messages)
    }
}

/// Keeps the sample of the last run where `order` says so.
fn keep(order: RunOrder, last: &mut Option<Sample>, out: &mut Vec<Sample>) {
    out.extend(last.take().filter(|_| order.keep));
}
