//! Time that the hypervisor gave to somebody else while our CPUs wanted to run.

use super::{Counters, Counting};
use crate::libc_info::ticks_per_second;
use crate::root::{ReadError, SysRoot};

const STAT: &str = "/proc/stat";
const NANOS: u64 = 1_000_000_000;

/// Steal time, summed over all CPUs: `steal_ns` (proc_stat(5)).
pub(super) struct Steal;

impl Counting for Steal {
    fn id(&self) -> &'static str {
        "steal"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let mut counters = Counters::default();
        match cpu_times(root) {
            Ok(times) => counters.count("steal_ns", times.steal_ns),
            Err(error) => counters.unreadable(error),
        }
        counters
    }
}

/// The sum over all CPUs since boot.
pub(super) struct CpuTimes {
    /// Time in processes, the kernel and interrupts; guests are part of the processes that run them.
    pub busy_ns: u64,
    pub steal_ns: u64,
}

pub(super) fn cpu_times(root: &SysRoot) -> Result<CpuTimes, ReadError> {
    let text = root.text(STAT)?;
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "));
    let garbage = || ReadError::garbage(STAT, line.unwrap_or(&text), "a line 'cpu' with at least 8 numbers");
    let fields: Result<Vec<u64>, _> = line.ok_or_else(garbage)?.split_whitespace().map(str::parse).collect();
    let fields = fields.map_err(|_| garbage())?;
    let [user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = fields[..] else {
        return Err(garbage());
    };
    let nanos = |ticks: u64| ticks.saturating_mul(NANOS / ticks_per_second());
    Ok(CpuTimes { busy_ns: nanos(user + nice + system + irq + softirq), steal_ns: nanos(steal) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Counters {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join("proc")).expect("made");
        std::fs::write(dir.path().join("proc/stat"), text).expect("written");
        Steal.read(&SysRoot::at(dir.path()))
    }

    #[test]
    fn turns_ticks_into_nanoseconds() {
        let counters = read("cpu  1 2 3 4 5 6 7 25 0 0\ncpu0 1 2 3 4 5 6 7 25 0 0\n");
        assert_eq!(counters.counts["steal_ns"], 25 * NANOS / ticks_per_second());
    }

    #[test]
    fn notes_a_line_that_is_too_short_or_no_numbers() {
        for text in ["", "cpu  1 2 3\n", "cpu  1 2 3 4 5 6 7 many\n", "intr 1\n"] {
            let counters = read(text);
            assert!(counters.counts.is_empty() && counters.unreadable.len() == 1, "{text:?}");
        }
    }
}
