//! What a look at the clock costs: where each operation is timed by itself, its time holds about one look.

use super::{Counters, Counting};
use crate::clock::{CLOCK_SOURCE, now_ns};
use crate::root::SysRoot;

/// Level `look_ns`: time of a look at the clock in nanoseconds, rounded up; tens of them where the processor's own counter is
/// read without a system call, a microsecond and more where the kernel must ask a timer of the board.
pub(super) struct ClockProbe;

impl Counting for ClockProbe {
    fn id(&self) -> &'static str {
        "clock"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let mut counters = Counters::default();
        // Of another host's tree nothing can be timed: what has no clock source is none.
        match root.text(CLOCK_SOURCE) {
            Ok(_) => counters.level("look_ns", look_ns()),
            Err(error) => counters.unreadable(error),
        }
        counters
    }
}

/// The cheapest of a few batches, since interruptions only ever add: 3 us in all of a good clock, below a millisecond of a
/// slow one.
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
