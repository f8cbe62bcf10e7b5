//! Cost of reading the clock: an operation that is timed by itself includes about one clock read.

use super::{Counters, Counting};
use crate::clock::{CLOCK_SOURCE, now_ns};
use crate::root::SysRoot;

/// Level `look_ns`: nanoseconds of one clock read, rounded up; tens with a counter of the CPU, a microsecond and more
/// with a timer of the board, which takes a system call.
pub(super) struct ClockProbe;

impl Counting for ClockProbe {
    fn id(&self) -> &'static str {
        "clock"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let mut counters = Counters::default();
        // Below a test root nothing can be timed: a missing clock source is no error.
        match root.text(CLOCK_SOURCE) {
            Ok(_) => counters.level("look_ns", look_ns()),
            Err(error) => counters.unreadable(error),
        }
        counters
    }
}

/// The cheapest of a few batches, since interruptions only add time: 3 us with a good clock, below 1 ms with a slow
/// one.
fn look_ns() -> u64 {
    const BATCHES: u32 = 4;
    const LOOKS: u64 = 32;
    let batch = || {
        let start = now_ns();
        let last = (0..LOOKS).fold(start, |_, _| now_ns());
        (last - start).div_ceil(LOOKS)
    };
    (0..BATCHES).map(|_| batch()).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::probe;

    #[test]
    fn a_look_takes_some_time_where_there_is_a_clock_source() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(CLOCK_SOURCE.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, "tsc\n").expect("written");
        let seen = probe("clock").expect("there").watch(&SysRoot::at(dir.path())).end();
        assert!(seen.levels["look_ns"] > 0 && seen.unreadable.is_empty(), "{seen:?}");
    }
}
