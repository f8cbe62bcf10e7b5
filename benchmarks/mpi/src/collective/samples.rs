//! The samples of a run of calls.

use seatrial_model::{Nanos, Params, Quantity, Sample, Unit};

use super::config::ROOT;
use super::kernel::OverlapTimes;

/// The channels of samples: how many calls a run had, the time that this rank spent in them, and, of rank 0 alone, the time
/// from the entry of the last rank to the exit of the last rank.
pub const CALLS: &str = "calls";
pub const CALL_TIME: &str = "call_time";
pub const COMPLETION_TIME: &str = "completion_time";

/// The channels of non-blocking operations: the time in as many calls with a computation between start and wait, and the time of the
/// computation.
pub const OVERALL_TIME: &str = "overall_time";
pub const COMPUTATION_TIME: &str = "computation_time";

/// A run of calls as one rank saw it.
#[derive(Clone, Copy, Debug)]
pub struct CallRun {
    pub start: Nanos,
    pub end: Nanos,
    pub count: u64,
    pub time_ns: u64,
    pub completion_ns: f64,
    /// Of non-blocking operations: as many calls with a computation between start and wait.
    pub overlap: Option<OverlapTimes>,
}

impl CallRun {
    pub fn span(&self) -> Nanos {
        self.end.since(self.start)
    }

    pub fn emit(&self, rank: usize, size: u64, slice: u64, out: &mut Vec<Sample>) {
        let at =
            Params::from([("rank", (rank as u64).into()), ("size", size.into()), ("slice", slice.into())]);
        let nanoseconds = |value: f64| {
            Quantity::new(value, Unit::Nanosecond).expect("a sum of differences of times is finite")
        };
        let mut push = |channel, amount| {
            out.push(Sample::new(channel, at.clone(), (self.start, self.end), amount));
        };
        push(CALLS, Quantity::count(self.count));
        push(CALL_TIME, nanoseconds(self.time_ns as f64));
        if let Some(OverlapTimes { overall_ns, computation_ns }) = self.overlap {
            push(OVERALL_TIME, nanoseconds(overall_ns as f64));
            push(COMPUTATION_TIME, nanoseconds(computation_ns as f64));
        }
        if rank == ROOT {
            push(COMPLETION_TIME, nanoseconds(self.completion_ns));
        }
    }
}
