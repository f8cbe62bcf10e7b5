//! CPU time of a thread, and of the whole machine with its interrupts.
#![expect(unsafe_code, reason = "getrusage of the calling thread")]

use crate::libc_info::ticks_per_second;
use crate::root::{ReadError, SysRoot};

use crate::last_errno;
use rustix::io::Errno;

const NANOS: u64 = 1_000_000_000;
const SCHEDSTAT: &str = "/proc/thread-self/schedstat";
const STAT: &str = "/proc/stat";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTime {
    pub user_ns: u64,
    /// In the kernel, with interrupts that are not accounted elsewhere.
    pub system_ns: u64,
    /// Runnable, waiting for a CPU; `None` where the kernel does not count it.
    pub waited_ns: Option<u64>,
}

impl ThreadTime {
    /// Of the calling thread (getrusage(2), `RUSAGE_THREAD`, and `/proc/thread-self/schedstat`).
    pub fn now() -> Result<Self, Errno> {
        // SAFETY: an all-zero structure of plain numbers is a valid one.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel fills in the structure it is given.
        if unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) } != 0 {
            return Err(last_errno());
        }
        let nanos =
            |time: libc::timeval| time.tv_sec.unsigned_abs() * NANOS + time.tv_usec.unsigned_abs() * 1000;
        let schedstat = SysRoot::live().text(SCHEDSTAT).ok();
        Ok(Self {
            user_ns: nanos(usage.ru_utime),
            system_ns: nanos(usage.ru_stime),
            waited_ns: schedstat.and_then(|text| waited(&text)),
        })
    }

    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            waited_ns: self.waited_ns.zip(earlier.waited_ns).map(|(now, then)| now.saturating_sub(then)),
        }
    }
}

/// The second of three numbers: time on the CPU, time waiting for a CPU, time slices
/// (Documentation/scheduler/sched-stats.rst).
fn waited(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().nth(1)?.parse().ok()
}

/// CPU time of all CPUs since boot, in nanoseconds (proc_stat(5)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTime {
    pub user_ns: u64,
    pub system_ns: u64,
    pub irq_ns: u64,
    /// In softirqs: the receiving side of the protocol stack.
    pub softirq_ns: u64,
    pub idle_ns: u64,
    pub steal_ns: u64,
}

impl HostTime {
    pub fn busy_ns(&self) -> u64 {
        [self.system_ns, self.irq_ns, self.softirq_ns].into_iter().fold(self.user_ns, u64::saturating_add)
    }

    pub fn since(&self, earlier: &Self) -> Self {
        let passed = |field: fn(&Self) -> u64| field(self).saturating_sub(field(earlier));
        Self {
            user_ns: passed(|time| time.user_ns),
            system_ns: passed(|time| time.system_ns),
            irq_ns: passed(|time| time.irq_ns),
            softirq_ns: passed(|time| time.softirq_ns),
            idle_ns: passed(|time| time.idle_ns),
            steal_ns: passed(|time| time.steal_ns),
        }
    }
}

/// The kernel counts in ticks, usually 100 per second.
pub fn host_time(root: &SysRoot) -> Result<HostTime, ReadError> {
    let text = root.text(STAT)?;
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "));
    let garbage = || ReadError::garbage(STAT, line.unwrap_or(&text), "a line 'cpu' with at least 8 numbers");
    let fields: Result<Vec<u64>, _> = line.ok_or_else(garbage)?.split_whitespace().map(str::parse).collect();
    let fields = fields.map_err(|_| garbage())?;
    let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = fields[..] else {
        return Err(garbage());
    };
    let nanos = |ticks: u64| ticks.saturating_mul(NANOS / ticks_per_second());
    Ok(HostTime {
        user_ns: nanos(user.saturating_add(nice)),
        system_ns: nanos(system),
        irq_ns: nanos(irq),
        softirq_ns: nanos(softirq),
        idle_ns: nanos(idle.saturating_add(iowait)),
        steal_ns: nanos(steal),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_works_takes_time() {
        let spent = |time: &ThreadTime| time.user_ns + time.system_ns;
        let of_another =
            || spent(&std::thread::spawn(ThreadTime::now).join().expect("joined").expect("told"));
        // More than a thread takes to start, which on an emulated processor is milliseconds.
        let enough = 5_000_000 + 4 * of_another();
        let before = ThreadTime::now().expect("told");
        let mut passed = ThreadTime::default();
        let mut sum = 0_u64;
        while spent(&passed) < enough {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
            passed = ThreadTime::now().expect("told").since(&before);
        }
        let other = of_another();
        assert!(other < enough, "another thread's time is its own: {other} of {enough} ns");
    }

    #[test]
    fn the_wait_for_a_cpu_is_the_second_number() {
        assert_eq!(waited("1000 250 7\n"), Some(250));
        assert_eq!((waited(""), waited("1000 x 7")), (None, None));
    }

    #[test]
    fn the_machines_times_are_told_apart() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join("proc")).expect("made");
        let read = |text: &str| {
            std::fs::write(dir.path().join("proc/stat"), text).expect("written");
            host_time(&SysRoot::at(dir.path()))
        };
        let tick = NANOS / ticks_per_second();
        let time = read("cpu  1 2 3 40 50 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8\n").expect("read");
        assert_eq!((time.busy_ns(), time.softirq_ns), (19 * tick, 7 * tick));
        assert_eq!((time.idle_ns, time.steal_ns), (90 * tick, 8 * tick));
        assert_eq!(time.since(&time), HostTime::default());
        assert!(read("cpu  1 2 3\n").is_err() && read("").is_err());
    }
}
