//! Steal time: `steal_ns` over all CPUs (proc_stat(5)), which the hypervisor gave to others while our CPUs were
//! runnable.

use super::{Counters, Counting};
use crate::net::host_time;
use crate::root::SysRoot;

pub(super) struct Steal;

impl Counting for Steal {
    fn id(&self) -> &'static str {
        "steal"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let mut counters = Counters::default();
        match host_time(root) {
            Ok(times) => counters.count("steal_ns", times.steal_ns),
            Err(error) => counters.unreadable(error),
        }
        counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libc_info::ticks_per_second;

    fn read(text: &str) -> Counters {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join("proc")).expect("made");
        std::fs::write(dir.path().join("proc/stat"), text).expect("written");
        Steal.read(&SysRoot::at(dir.path()))
    }

    #[test]
    fn turns_ticks_into_nanoseconds() {
        let counters = read("cpu  1 2 3 4 5 6 7 25 0 0\ncpu0 1 2 3 4 5 6 7 25 0 0\n");
        assert_eq!(counters.counts["steal_ns"], 25 * 1_000_000_000 / ticks_per_second());
    }

    #[test]
    fn notes_a_line_that_is_too_short_or_no_numbers() {
        for text in ["", "cpu  1 2 3\n", "cpu  1 2 3 4 5 6 7 many\n", "intr 1\n"] {
            let counters = read(text);
            assert!(counters.counts.is_empty() && counters.unreadable.len() == 1, "{text:?}");
        }
    }
}
