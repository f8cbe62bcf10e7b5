//! Work on this machine, ours and everybody's, so that the difference tells who else was busy.

use super::{Counters, Counting};
use crate::libc_info::ticks_per_second;
use crate::net::host_time;
use crate::root::{ReadError, SysRoot};

/// Counters `busy_ns` (CPU time of everybody, all CPUs) and `own_ns` (of the process that reads, its threads and
/// the children it has reaped) and `kernel_ns` (of the kernel's own threads that can be seen; what ended meanwhile is
/// missing); levels `running` (threads that run or want to), `blocked` (threads waiting for a
/// device) and `load_1min_percent` (the load average times 100). What
/// other processes took is `busy_ns - own_ns - kernel_ns`: a thread of the kernel works for whoever asked, which with a file
/// on a loop device or an encrypted disk is us.
pub(super) struct Load;

impl Counting for Load {
    fn id(&self) -> &'static str {
        "load"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let mut counters = Counters::default();
        let mut note = |name: &str, level: bool, value: Result<u64, ReadError>| match value {
            Ok(value) if level => counters.level(name, value),
            Ok(value) => counters.count(name, value),
            Err(error) => counters.unreadable(error),
        };
        note("busy_ns", false, host_time(root).map(|times| times.busy_ns()));
        note("own_ns", false, own_ns(root));
        note("kernel_ns", false, kernel_ns(root));
        note("running", true, queue(root, "procs_running"));
        note("blocked", true, queue(root, "procs_blocked"));
        note("load_1min_percent", true, load_average(root));
        counters.unreadable.dedup();
        counters
    }
}

fn queue(root: &SysRoot, key: &str) -> Result<u64, ReadError> {
    let text = root.text("/proc/stat")?;
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok());
    value.ok_or_else(|| ReadError::garbage("/proc/stat", &text, key))
}

fn load_average(root: &SysRoot) -> Result<u64, ReadError> {
    const PATH: &str = "/proc/loadavg";
    let text = root.text(PATH)?;
    let first = text.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    let sane = first.filter(|load| load.is_finite() && *load >= 0.0);
    sane.map(|load| (load * 100.0).round() as u64)
        .ok_or_else(|| ReadError::garbage(PATH, &text, "a load average"))
}

/// User and system time of the process and of its reaped children.
fn own_ns(root: &SysRoot) -> Result<u64, ReadError> {
    const PATH: &str = "/proc/self/stat";
    let text = root.text(PATH)?;
    let stat =
        Stat::of(&text).ok_or_else(|| ReadError::garbage(PATH, &text, "the fields of proc_pid_stat(5)"))?;
    Ok(nanoseconds(stat.ticks.iter().sum()))
}

/// User and system time of all threads of the kernel. One that ends while we look is none.
fn kernel_ns(root: &SysRoot) -> Result<u64, ReadError> {
    let processes = root.numbered("/proc", "")?;
    let stats = processes.iter().filter_map(|pid| root.text(format!("/proc/{pid}/stat")).ok());
    let of_kernel = stats.filter_map(|text| Stat::of(&text)).filter(|stat| stat.flags & PF_KTHREAD != 0);
    Ok(nanoseconds(of_kernel.map(|stat| stat.ticks[0] + stat.ticks[1]).sum()))
}

/// A thread of the kernel (include/linux/sched.h).
const PF_KTHREAD: u64 = 0x0020_0000;

/// What we need of proc_pid_stat(5).
struct Stat {
    /// Field 9.
    flags: u64,
    /// Fields 14 to 17: user and system time, and those of reaped children.
    ticks: [u64; 4],
}

impl Stat {
    fn of(text: &str) -> Option<Self> {
        // The second field is a name that may hold spaces and brackets.
        let (_, fields) = text.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let number = |at: usize| fields.get(at - 3)?.parse::<u64>().ok();
        Some(Self { flags: number(9)?, ticks: [number(14)?, number(15)?, number(16)?, number(17)?] })
    }
}

fn nanoseconds(ticks: u64) -> u64 {
    ticks.saturating_mul(1_000_000_000 / ticks_per_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separates_own_time_from_everybody_s() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("proc/self")).expect("made");
        let write = |name: &str, text: &str| std::fs::write(dir.path().join("proc").join(name), text);
        write("stat", "cpu  10 20 30 4000 5 6 7 8 9 0\nprocs_running 3\nprocs_blocked 1\n").expect("written");
        write("loadavg", "1.26 0.9 0.4 3/150 999\n").expect("written");
        write("self/stat", "9 (x y) S 1 9 9 0 -1 0 1 0 0 0 11 12 13 14 20 0\n").expect("written");
        for (pid, flags) in [(2, PF_KTHREAD), (7, PF_KTHREAD | 64), (8, 64)] {
            std::fs::create_dir(dir.path().join(format!("proc/{pid}"))).expect("made");
            let stat = format!("{pid} (k/0:1) S 2 0 0 0 -1 {flags} 1 0 0 0 3 4 100 100 20 0\n");
            write(&format!("{pid}/stat"), &stat).expect("written");
        }
        let counters = Load.read(&SysRoot::at(dir.path()));
        let tick = 1_000_000_000 / ticks_per_second();
        assert_eq!(counters.counts["busy_ns"], (10 + 20 + 30 + 6 + 7) * tick);
        assert_eq!(counters.counts["own_ns"], (11 + 12 + 13 + 14) * tick);
        assert_eq!(counters.counts["kernel_ns"], 2 * (3 + 4) * tick);
        assert_eq!((counters.levels["running"], counters.levels["blocked"]), (3, 1));
        assert_eq!(counters.levels["load_1min_percent"], 126);
        assert!(counters.unreadable.is_empty());
    }
}
