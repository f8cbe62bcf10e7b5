//! Work on this machine, ours and everybody's, so that the difference tells who else was busy.

use super::steal::cpu_times;
use super::{Counters, Counting};
use crate::libc_info::ticks_per_second;
use crate::root::{ReadError, SysRoot};

/// Counters `busy_ns` (CPU time of everybody, all CPUs) and `own_ns` (of the process that reads, its threads and
/// the children it has reaped); levels `running` (threads that run or want to), `blocked` (threads waiting for a
/// device) and `load_1min_percent` (the load average times 100). What others took is `busy_ns - own_ns`.
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
        note("busy_ns", false, cpu_times(root).map(|times| times.busy_ns));
        note("own_ns", false, own_ns(root));
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

/// Fields 14 to 17 of proc_pid_stat(5): user and system time of the process and of its reaped children.
fn own_ns(root: &SysRoot) -> Result<u64, ReadError> {
    const PATH: &str = "/proc/self/stat";
    let text = root.text(PATH)?;
    let sum = || {
        let (_, fields) = text.rsplit_once(')')?;
        let times: Vec<u64> =
            fields.split_whitespace().skip(11).take(4).map_while(|field| field.parse().ok()).collect();
        (times.len() == 4).then(|| times.iter().sum::<u64>())
    };
    let ticks = sum().ok_or_else(|| ReadError::garbage(PATH, &text, "the fields of proc_pid_stat(5)"))?;
    Ok(ticks.saturating_mul(1_000_000_000 / ticks_per_second()))
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
        let counters = Load.read(&SysRoot::at(dir.path()));
        let tick = 1_000_000_000 / ticks_per_second();
        assert_eq!(counters.counts["busy_ns"], (10 + 20 + 30 + 6 + 7) * tick);
        assert_eq!(counters.counts["own_ns"], (11 + 12 + 13 + 14) * tick);
        assert_eq!((counters.levels["running"], counters.levels["blocked"]), (3, 1));
        assert_eq!(counters.levels["load_1min_percent"], 126);
        assert!(counters.unreadable.is_empty());
    }
}
