//! Turns of the ranks of a job: each size has one after the other until the time is over, and a turn holds as many calls as
//! fit. Rank 0 decides.

use seatrial_model::{Nanos, Reason};
use seatrial_sys::clock::now_ns;

use crate::Stop;

/// In place of a size: the phase is over.
const OVER: u64 = u64::MAX;

/// A turn ends when less than this part of it is left.
const REST: u64 = 8;

/// A run of calls shorter than this part of a turn is no sample: it only serves to find out how many fit.
const SHORT: u64 = 4;

/// Of a run as a multiple of the one before it in the turn, at most.
const GROWTH: u64 = 8;

/// Each size gets about eight turns in the measuring time: long against the clock, short against changes of the machine.
pub fn turn_span(measure: Nanos, sizes: usize) -> Nanos {
    let share = measure.get() / (8 * sizes.max(1) as u64);
    Nanos(share.clamp(Nanos::millis(2).get(), Nanos::millis(20).get()))
}

/// Gives each of so many sizes a turn, again and again, until rank 0 finds `stop` over; `once` gives each one turn. All
/// ranks call this, and begin the same turns at one moment. `agree` replaces the word of a rank by that of rank 0 when all
/// ranks have come. `turn` gets the number of the size and that of the turn. The first size has its turn even where a busy
/// machine let the ranks come too late.
///
/// # Errors
/// When ranks do not agree, or a turn fails.
pub fn each_turn(
    mut agree: impl FnMut(&mut [u8; 8]) -> Result<(), Reason>,
    stop: &Stop,
    sizes: usize,
    once: bool,
    mut turn: impl FnMut(usize, u64) -> Result<(), Reason>,
) -> Result<(), Reason> {
    let count = sizes as u64;
    for slice in 0.. {
        let is_over = if once { slice == count } else { slice > 0 && stop.is_over() };
        let mut size = if is_over { OVER } else { slice % count }.to_le_bytes();
        agree(&mut size)?;
        let size = u64::from_le_bytes(size);
        if size == OVER {
            break;
        }
        turn(size as usize, slice)?;
    }
    Ok(())
}

/// What the rank that decides tells another before a run of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOrder {
    /// How many calls follow; 0 ends the turn.
    pub count: u64,
    /// Whether the run before is a sample, of all ranks or of none.
    pub keep: bool,
}

impl RunOrder {
    pub fn to_bytes(self) -> [u8; 8] {
        (self.count << 1 | u64::from(self.keep)).to_le_bytes()
    }

    pub fn from_bytes(bytes: [u8; 8]) -> Self {
        let word = u64::from_le_bytes(bytes);
        Self { count: word >> 1, keep: word & 1 == 1 }
    }
}

/// A turn of the rank that decides: lets `run` make so many calls, `most` at once, and return the nanoseconds that they
/// took, until the time is over. Runs grow step by step: what a call took an earlier time says nothing on a busy machine.
/// Returned is the order that ends the turn.
///
/// # Errors
/// When a run fails.
pub fn lead(
    span: Nanos,
    most: u64,
    mut run: impl FnMut(RunOrder) -> Result<u64, Reason>,
) -> Result<RunOrder, Reason> {
    let until = now_ns() + span.get();
    let mut order = RunOrder { count: 1, keep: false };
    loop {
        let took = run(order)?;
        let keep = took >= span.get() / SHORT || order.count == most;
        let left = until.saturating_sub(now_ns());
        if left <= span.get() / REST {
            return Ok(RunOrder { count: 0, keep });
        }
        let fit = left / (took / order.count).max(1);
        order = RunOrder { count: fit.clamp(1, (order.count * GROWTH).min(most)), keep };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_turn_grow_until_it_is_full() {
        let mut orders = Vec::new();
        // Short calls: the last run is what fits, and all before it together are a part of it.
        let end = lead(Nanos::millis(40), 1000, |order| {
            orders.push(order);
            std::thread::sleep(std::time::Duration::from_micros(order.count * 50));
            Ok(order.count * 50_000)
        })
        .expect("calls");
        assert_eq!((end.count, orders[0]), (0, RunOrder { count: 1, keep: false }));
        assert!(orders.iter().all(|order| order.count <= 1000));
        assert!(orders.windows(2).all(|pair| pair[1].count <= 8 * pair[0].count), "{orders:?}");
        // A call that is longer than the turn is the only one, and a sample.
        let mut count = 0;
        let end = lead(Nanos(1), 1000, |order| {
            count += order.count;
            Ok(5_000_000)
        });
        assert_eq!((end, count), (Ok(RunOrder { count: 0, keep: true }), 1));
    }

    #[test]
    fn an_order_survives_its_bytes() {
        for order in [RunOrder { count: 0, keep: true }, RunOrder { count: 1 << 40, keep: false }] {
            assert_eq!(RunOrder::from_bytes(order.to_bytes()), order);
        }
    }

    #[test]
    fn sizes_share_the_time_within_bounds() {
        assert_eq!(turn_span(Nanos::secs(1), 19), Nanos(1_000_000_000 / 152));
        assert_eq!(turn_span(Nanos::secs(60), 1), Nanos::millis(20));
        assert_eq!(turn_span(Nanos::millis(50), 23), Nanos::millis(2));
    }
}
